"""Two writers of one row through the API: the one who has read an old version is refused."""

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, transaction

from knowledge.graph.upsert import lock_graph
from knowledge.models import Lore
from knowledge.schemas import LoreIn
from knowledge.upsert import upsert_lore
from retrieval.errors import StaleVersion
from tests.conftest import ApiClient
from worlds.models import Campaign, World

ROWS: dict[str, tuple[dict[str, Any], str]] = {
    "world/lore": ({"title": "The Quay", "slug": "quay", "body": "Wet."}, "body"),
    "world/rules": ({"rule_id": "house/rope", "title": "Rope", "body": "Pull."}, "body"),
    "world/npcs": ({"npc_id": "orrin", "name": "Orrin Tace"}, "role"),
    "world/art": (
        {"image_id": "img-1", "prompt_text": "A quay.", "cdn_url": "https://a.example/1.png"},
        "prompt_text",
    ),
}
"""Body that creates the row at each address, and a field to change."""
WRITERS = 6


def put(engine: ApiClient, path: str, **headers: str) -> Any:
    body, field = ROWS[path]
    text = headers.pop("text", "")
    version = headers.pop("version", None)
    sent = {**body, **({field: text} if text else {}), **({"version": version} if version else {})}
    return engine.client.put(
        f"/api/v1/{path}", json.dumps(sent), content_type="application/json", headers=headers
    )


@pytest.mark.django_db
@pytest.mark.parametrize("path", ROWS)
def test_an_old_entity_tag_is_412_and_an_old_version_409(engine: ApiClient, path: str) -> None:
    assert put(engine, path)["ETag"] == '"1"'
    assert put(engine, path, text="Second.", **{"If-Match": '"1"'})["ETag"] == '"2"'
    old = put(engine, path, text="Third.", **{"If-Match": '"1"'})
    assert (old.status_code, old.json()["code"]) == (412, "stale")
    old = put(engine, path, text="Third.", version=1)  # type: ignore[arg-type]
    assert (old.status_code, old.json()["code"]) == (409, "stale_version")
    assert old.json()["errors"][0]["ctx"] == {"stored": 2}
    assert put(engine, path, text="Third.", version=2)["ETag"] == '"3"'  # type: ignore[arg-type]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "field"), [("world/lore", "entries"), ("world/npcs", "npcs"), ("world/art", "cards")]
)
def test_in_bulk_the_row_with_an_old_version_is_named(
    engine: ApiClient, path: str, field: str
) -> None:
    put(engine, path)
    put(engine, path, text="Second.")
    status, report = engine.post(f"{path}/bulk", {field: [{**ROWS[path][0], "version": 1}]})
    assert (status, report["items"][0]["code"]) == (200, "stale_version")


@pytest.mark.django_db
def test_a_version_of_a_row_that_is_not_there_is_refused(engine: ApiClient) -> None:
    assert put(engine, "world/lore", version=4).status_code == 409  # type: ignore[arg-type]
    assert not Lore.objects.exists()


@pytest.mark.django_db
def test_sessions_scenes_and_episodes_have_tags(
    engine: ApiClient, campaign: Campaign, lanternbearers: object
) -> None:
    party = {"party_id": "lanternbearers"}
    bodies = {
        "sessions": {"session_id": "s-1", "title": "One", **party},
        "scenes": {"scene_id": "sc-1", "title": "One", **party},
    }
    for name, body in bodies.items():
        first = send_json(engine, "put", name, body)
        again = send_json(engine, "put", name, body)
        assert first["ETag"] == again["ETag"]
        other = send_json(engine, "put", name, {**body, "title": "Two"})
        assert other["ETag"] != first["ETag"]
        late = send_json(engine, "put", name, body, **{"If-Match": first["ETag"]})
        assert late.status_code == 412
    summary = {"summary_id": "e-1", "version": 1, "what": "They met.", **party}
    assert send_json(engine, "post", "episodes", summary)["ETag"] == '"1"'
    second = {**summary, "version": 2, "what": "They met and parted."}
    assert send_json(engine, "post", "episodes", second, **{"If-Match": '"1"'})["ETag"] == '"2"'
    third = {**summary, "version": 3, "what": "They fought."}
    assert send_json(engine, "post", "episodes", third, **{"If-Match": '"1"'}).status_code == 412


def send_json(engine: ApiClient, method: str, name: str, body: Any, **headers: str) -> Any:
    answer = getattr(engine.client, method)(
        f"/api/v1/world/{name}", json.dumps(body), content_type="application/json", headers=headers
    )
    assert answer.status_code in (200, 412), answer.content
    return answer


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["world/lore", "world/npcs"])
def test_of_writers_with_one_entity_tag_exactly_one_wins(engine: ApiClient, path: str) -> None:
    put(engine, path)
    start = Barrier(WRITERS)

    def write(number: int) -> int:
        start.wait(timeout=60)
        answer = put(engine, path, text=f"Writer {number}.", **{"If-Match": '"1"'})
        connection.close()
        return int(answer.status_code)

    with ThreadPoolExecutor(WRITERS) as pool:
        statuses = sorted(pool.map(write, range(WRITERS)))
    assert statuses == [200, *[412] * (WRITERS - 1)]
    assert put(engine, path, text="Last.", **{"If-Match": '"2"'}).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_writer_who_waited_for_the_lock_is_refused(world: World) -> None:
    upsert_lore(world, LoreIn(title="The Quay", slug="quay", body="Wet."))

    def write() -> bool:
        try:
            upsert_lore(
                world, LoreIn(title="The Quay", slug="quay", body="Late."), expected_version=1
            )
        except StaleVersion as problem:
            return problem.version == 2
        finally:
            connection.close()
        return False

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock_graph(world)
            waiting = pool.submit(write)
            upsert_lore(world, LoreIn(title="The Quay", slug="quay", body="First."))
        assert waiting.result(timeout=60)
    assert Lore.objects.get().body == "First."
