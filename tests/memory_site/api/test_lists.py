"""Lists: pages by cursor, sorted, filtered, and only of the caller's world."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.conftest import ApiClient
from worlds.models import World

pytestmark = pytest.mark.django_db
TITLES = ["Eel", "Anchor", "Dock", "Buoy", "Capstan"]


@pytest.fixture
def entries(engine: ApiClient) -> ApiClient:
    for title in TITLES:
        engine.put("world/lore", {"title": title, "body": "Text.", "tags": [title[0]]})
    return engine


def titles(answer: Any) -> list[str]:
    return [each["title"] for each in answer["lore"]]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("created", TITLES),
        ("-created", TITLES[::-1]),
        ("name", sorted(TITLES)),
        ("-name", sorted(TITLES)[::-1]),
        ("updated", TITLES),
    ],
)
def test_pages_follow_each_other_without_gap_or_repetition(
    entries: ApiClient, sort: str, expected: list[str]
) -> None:
    seen, cursor = [], ""
    while True:
        _status, answer = entries.get(f"world/lore?sort={sort}&limit=2{cursor}")
        seen += titles(answer)
        if answer["next_cursor"] is None:
            break
        cursor = f"&cursor={answer['next_cursor']}"
    assert seen == expected


def test_the_link_header_leads_to_the_next_page(entries: ApiClient) -> None:
    answer = entries.client.get("/api/v1/world/lore?sort=name&limit=3&status=draft")
    address = answer["Link"].removeprefix("<").partition(">")[0]
    asked = parse_qs(urlsplit(address).query)
    assert (asked["sort"], asked["status"]) == (["name"], ["draft"])
    assert titles(entries.client.get(address).json()) == ["Dock", "Eel"]
    assert "Link" not in entries.client.get(address)


def test_rows_that_come_and_go_do_not_shift_the_pages(entries: ApiClient) -> None:
    _status, first = entries.get("world/lore?sort=name&limit=2")
    entries.send("DELETE", "world/lore/anchor")
    entries.put("world/lore", {"title": "Aft", "body": "Text."})
    _status, rest = entries.get(f"world/lore?sort=name&cursor={first['next_cursor']}")
    assert titles(first) + titles(rest) == sorted(TITLES)


def test_since_lists_what_changed(entries: ApiClient) -> None:
    _status, before = entries.get("world/lore?sort=-updated&limit=1")
    moment = before["lore"][0]["updated_at"]
    entries.put("world/lore", {"title": "Anchor", "body": "Heavier."})
    asked = moment.replace("+", "%2B")
    _status, changed = entries.get(f"world/lore?since={asked}&sort=updated")
    assert titles(changed) == ["Capstan", "Anchor"]


@pytest.mark.parametrize("since", ["1700000000", "-7.9e-201", "1e9", "nan", " 12.5 "])
def test_a_number_is_no_moment(entries: ApiClient, since: str) -> None:
    status, problem = entries.get(f"world/lore?since={since.replace(' ', '%20')}")
    assert (status, problem["errors"][0]["loc"]) == (422, ["since"])


@pytest.mark.parametrize("cursor", ["x", "W10:1tq:abc", "%00", "eyJ9"])
def test_a_cursor_that_is_none_is_refused(entries: ApiClient, cursor: str) -> None:
    status, problem = entries.get(f"world/lore?cursor={cursor}")
    assert (status, problem["errors"][0]["loc"]) == (422, ["cursor"])


def test_a_cursor_of_another_world_list_or_sort_is_refused(entries: ApiClient) -> None:
    cursor = entries.get("world/lore?limit=2")[1]["next_cursor"]
    other = ApiClient(World.objects.create(slug="other", name="Other"))
    for asking, path in (
        (other, "world/lore?"),
        (entries, "world/npcs?"),
        (entries, "world/lore?sort=name&"),
    ):
        assert asking.get(f"{path}cursor={cursor}")[0] == 422
    assert entries.get(f"world/lore?cursor={cursor}")[0] == 200


def test_filters_narrow_the_list(entries: ApiClient) -> None:
    assert titles(entries.get("world/lore?tag=D")[1]) == ["Dock"]
    assert titles(entries.get("world/lore?status=published")[1]) == []
    assert entries.get("world/lore?status=lost")[0] == 422


def test_another_world_is_not_listed(entries: ApiClient) -> None:
    other = ApiClient(World.objects.create(slug="other", name="Other"))
    for path, name in (
        ("lore", "lore"),
        ("npcs", "npcs"),
        ("rules", "rules"),
        ("sessions", "sessions"),
        ("scenes", "scenes"),
        ("art", "cards"),
        ("graph/facts", "facts"),
        ("campaigns", "campaigns"),
        ("parties", "parties"),
        ("proposals", "proposals"),
    ):
        assert other.get(f"world/{path}") == (200, {name: [], "next_cursor": None})


@pytest.mark.parametrize("audience", ["public", "party:lanternbearers", "npc:mira-voss"])
def test_lists_are_for_game_masters(world: World, entries: ApiClient, audience: str) -> None:
    player = ApiClient(world, audience=audience)
    for path in ("lore", "npcs", "rules", "sessions", "scenes", "art", "graph/facts", "parties"):
        assert player.get(f"world/{path}")[0] == 403


def test_an_error_is_told_in_the_words_of_what_was_sent(engine: ApiClient) -> None:
    _status, problem = engine.post("world/episodes", {"summary_id": "e", "party_id": "p", "x": 1})
    found = {(tuple(each["loc"]), each["msg"]) for each in problem["errors"]}
    assert found == {(("what",), "required"), (("x",), "unknown field")}
    assert "what: required" in problem["detail"]
