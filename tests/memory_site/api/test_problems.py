"""What goes wrong is told in one shape, with the right status and code, and an advice that a model
can follow.
"""

import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test import Client

from knowledge.models import Lore
from memories.ingest.add import add, site_models
from memories.models import Namespace, Observation
from worlds import idempotency, keys
from worlds.models import ApiKey, AuditedCall, GameSystem, IdempotentWrite, Reveal, World

Asking = Callable[[str], Client]
Keys = Callable[..., str]
REVEALS = "/api/v1/world/reveals"


def problem(response: Any) -> dict[str, Any]:
    assert response["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert body.keys() == {
        "type",
        "title",
        "status",
        "detail",
        "instance",
        "code",
        "errors",
        "candidates",
    }
    assert body["status"] == response.status_code
    assert body["instance"] == response["X-Request-ID"]
    return body


def reveal(mill: Lore, audience: str = "party:lanternbearers", **more: Any) -> dict[str, Any]:
    return {"kind": "lore", "id": str(mill.pk), "audience": audience, **more}


def post(client: Client, path: str, body: Any, **headers: str) -> Any:
    return client.post(path, json.dumps(body), content_type="application/json", headers=headers)


@pytest.mark.parametrize(
    "header", [{}, {"Authorization": "Bearer m37_x_y"}, {"Authorization": "Basic eA=="}]
)
def test_without_a_good_key_nothing_opens(db: None, header: dict[str, str]) -> None:
    response = Client(headers=header).get(REVEALS)
    assert problem(response)["code"] == "unauthorized"
    assert (response.status_code, response["WWW-Authenticate"][:6]) == (401, "Bearer")


def test_the_key_may_stand_in_either_header(make_key: Keys, asking: Asking) -> None:
    key = make_key()
    assert asking(key).get(REVEALS).status_code == 200
    assert Client(headers={"X-API-Key": key}).get(REVEALS).status_code == 200


def test_a_revoked_key_ends_at_once(make_key: Keys, asking: Asking) -> None:
    client = asking(make_key())
    assert client.get(REVEALS).status_code == 200
    keys.revoke(ApiKey.objects.get())
    assert problem(client.get(REVEALS))["code"] == "unauthorized"


def test_a_reading_key_does_not_write(make_key: Keys, asking: Asking, mill: Lore) -> None:
    response = post(asking(make_key(scopes=("tools:read",))), REVEALS, reveal(mill))
    assert (problem(response)["code"], response.status_code) == ("wrong_scope", 403)
    assert "manage.py make_key --world ferrymark --scope world:write" in problem(response)["detail"]
    assert not Reveal.objects.exists()


def test_a_players_key_does_not_keep_the_reveal_log(
    make_key: Keys, asking: Asking, mill: Lore
) -> None:
    response = post(asking(make_key(audience="party:lanternbearers")), REVEALS, reveal(mill))
    assert (problem(response)["code"], response.status_code) == ("audience_above_cap", 403)
    assert "call the tools" in problem(response)["detail"]
    reader = make_key(audience="party:lanternbearers", scopes=("tools:read",))
    refused = problem(asking(reader).get("/api/v1/world/lore/drowned-mill"))
    assert (refused["code"], refused["status"]) == ("wrong_scope", 403)
    assert "call the tools" in refused["detail"]


def test_a_key_of_another_world_finds_nothing(mill: Lore, asking: Asking) -> None:
    other = World.objects.create(
        slug="elsewhere", name="Elsewhere", system=GameSystem.objects.first()
    )
    _key, text = keys.create_key(other, name="foreign", audience="gm", scopes=["world:write"])
    response = post(asking(text), REVEALS, reveal(mill, audience="npc:mira-voss"))
    assert (problem(response)["code"], response.status_code) == ("not_found", 404)


def test_wrong_arguments_are_named(make_key: Keys, asking: Asking) -> None:
    body = problem(post(asking(make_key()), REVEALS, {"kind": 7, "colour": "red"}))
    assert (body["status"], body["code"]) == (422, "invalid")
    assert {error["loc"][-1] for error in body["errors"]} == {"kind", "id", "audience", "colour"}
    assert "colour" in body["detail"]


@pytest.mark.parametrize(
    "text", ["{", "[1", "nonsense", '"\ud800"'.encode("utf-8", "surrogatepass")]
)
def test_a_body_that_is_no_json_is_a_400(make_key: Keys, asking: Asking, text: Any) -> None:
    response = asking(make_key()).post(REVEALS, text, content_type="application/json")
    assert (problem(response)["code"], response.status_code) == ("unreadable", 400)


def test_ten_megabytes_are_too_much(make_key: Keys, asking: Asking) -> None:
    response = asking(make_key()).post(
        REVEALS, b"[" + b" " * 11_000_000, content_type="application/json"
    )
    assert (problem(response)["code"], response.status_code) == ("too_large", 413)


def test_an_unknown_address_and_a_wrong_method_are_problems_too(
    make_key: Keys, asking: Asking
) -> None:
    client = asking(make_key())
    assert problem(client.get("/api/v1/nowhere"))["code"] == "not_found"
    response = client.patch(REVEALS)
    assert (problem(response)["code"], "POST" in response["Allow"]) == ("method_not_allowed", True)


@pytest.mark.parametrize(
    ("sent", "kept"), [("my-id:7", True), ("x" * 65, False), ("bad\tid", False), ("", False)]
)
def test_the_callers_request_id_is_echoed_when_it_is_one(
    make_key: Keys, asking: Asking, sent: str, kept: bool
) -> None:
    response = asking(make_key()).get(REVEALS, headers={"X-Request-ID": sent})
    assert (response["X-Request-ID"] == sent) is kept
    assert AuditedCall.objects.get().request_id == response["X-Request-ID"]


@pytest.mark.usefixtures("one_minute")
def test_what_is_left_of_the_minute_is_told_until_nothing_is(
    make_key: Keys, asking: Asking
) -> None:
    client = asking(make_key(calls_per_minute=2))
    assert [client.get(REVEALS)["RateLimit-Remaining"] for _ in range(2)] == ["1", "0"]
    response = client.get(REVEALS)
    assert (problem(response)["code"], response.status_code) == ("rate_limited", 429)
    assert 1 <= int(response["Retry-After"]) <= 60


# --- Idempotency
def test_the_same_write_again_replays_the_first_answer(
    make_key: Keys, asking: Asking, mill: Lore
) -> None:
    client = asking(make_key())
    body = reveal(mill, "npc:mira-voss")
    first, again = (post(client, REVEALS, body, **{"Idempotency-Key": "once"}) for _ in range(2))
    assert (first.status_code, again.status_code, again["Idempotent-Replayed"]) == (
        201,
        201,
        "true",
    )
    assert first.json() == again.json()
    assert Reveal.objects.count() == 1


def test_the_same_idempotency_key_with_another_body_is_refused(
    make_key: Keys, asking: Asking, mill: Lore
) -> None:
    client = asking(make_key())
    post(client, REVEALS, reveal(mill, "npc:mira-voss"), **{"Idempotency-Key": "once"})
    response = post(client, REVEALS, reveal(mill, "npc:odo"), **{"Idempotency-Key": "once"})
    assert (problem(response)["code"], response.status_code) == ("idempotency_key_reused", 422)
    assert Reveal.objects.count() == 1


def test_a_write_under_way_elsewhere_is_a_conflict(
    make_key: Keys, asking: Asking, mill: Lore
) -> None:
    client = asking(make_key())
    body = reveal(mill, "npc:mira-voss")
    post(client, REVEALS, body, **{"Idempotency-Key": "once"})
    IdempotentWrite.objects.update(status=None)
    response = post(client, REVEALS, body, **{"Idempotency-Key": "once"})
    assert (problem(response)["code"], response.status_code) == ("idempotency_in_flight", 409)


def test_what_a_killed_process_did_not_write_may_be_tried_again_at_once(
    make_key: Keys, asking: Asking, mill: Lore
) -> None:
    client = asking(make_key())
    body = reveal(mill, "npc:mira-voss")
    number = idempotency.lock_number(ApiKey.objects.get(), "once")
    # The lock of another process, which ends with its connection.
    with psycopg.connect(**{**connection.get_connection_params(), "autocommit": True}) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [number])
        response = post(client, REVEALS, body, **{"Idempotency-Key": "once"})
        assert (problem(response)["code"], response.status_code) == ("idempotency_in_flight", 409)
    assert post(client, REVEALS, body, **{"Idempotency-Key": "once"}).status_code == 201


def test_what_a_killed_process_wrote_with_a_model_is_not_written_again(
    make_key: Keys, world: World
) -> None:
    make_key()
    key, namespace = ApiKey.objects.get(), Namespace.objects.create(world=world, name="mira")

    class Killed(BaseException):
        pass

    def write() -> idempotency.StoredResponse:
        add(namespace, ["The ferry sank."], models=site_models(namespace))
        raise Killed

    with pytest.raises(Killed):
        idempotency.once(key, "once", b"", write, atomic=False)
    with pytest.raises(idempotency.AnswerLost):
        idempotency.once(key, "once", b"", write, atomic=False)
    assert Observation.objects.count() == 1


def test_a_write_that_failed_may_be_tried_again_with_the_same_key(
    make_key: Keys, asking: Asking, mill: Lore
) -> None:
    client = asking(make_key())
    assert (
        post(client, REVEALS, reveal(mill, "gm"), **{"Idempotency-Key": "once"}).status_code == 422
    )
    assert (
        post(client, REVEALS, reveal(mill, "npc:odo"), **{"Idempotency-Key": "once"}).status_code
        == 201
    )


# --- The reveal log
def test_a_reveal_opens_the_row_and_its_undoing_closes_it(
    make_key: Keys, asking: Asking, mill: Lore, lanternbearers: Any
) -> None:
    client = asking(make_key())
    made = post(client, REVEALS, reveal(mill, episode_ref="s1-e2", in_world_at=12.5)).json()
    mill.refresh_from_db()
    assert (mill.visibility, mill.known_to) == ("revealed", ["party:lanternbearers"])
    undone = client.delete(f"{REVEALS}/{made['id']}").json()
    mill.refresh_from_db()
    assert (mill.visibility, mill.known_to) == ("gm", [])
    assert undone["undone_at"]
    assert client.delete(f"{REVEALS}/{made['id']}").status_code == 409
    listed = client.get(REVEALS, {"audience": "party:lanternbearers"}).json()["reveals"]
    assert [(entry["episode_ref"], entry["in_world_at"]) for entry in listed] == [("s1-e2", 12.5)]


def test_the_log_is_read_in_pages(make_key: Keys, asking: Asking, mill: Lore) -> None:
    client = asking(make_key())
    for number in range(5):
        post(client, REVEALS, reveal(mill, f"npc:n{number}"))
    page = client.get(REVEALS, {"limit": 3}).json()
    rest = client.get(REVEALS, {"limit": 3, "cursor": page["next_cursor"]}).json()
    assert [len(page["reveals"]), len(rest["reveals"]), rest["next_cursor"]] == [3, 2, None]


def test_every_call_has_its_audit_row(make_key: Keys, asking: Asking, mill: Lore) -> None:
    client = asking(make_key())
    post(client, REVEALS, reveal(mill, "npc:odo"))
    post(client, REVEALS, {})
    client.get(REVEALS)
    rows = AuditedCall.objects.order_by("id").values_list("tool", "door", "status", "code")
    assert list(rows) == [
        ("reveal_create", "rest", 201, ""),
        ("reveal_create", "rest", 422, "invalid"),
        ("reveal_list", "rest", 200, ""),
    ]
    assert ApiKey.objects.get().last_used_at is not None
