"""`known_to` names who there is, and only where it counts: what is misspelt would be hidden from
those who know it."""

from typing import Any

import pytest

from knowledge.models import Lore
from npcs.models import NPC
from tests.conftest import ApiClient
from worlds.models import Party

pytestmark = pytest.mark.django_db
REVEALED: dict[str, Any] = {"visibility": "revealed", "known_to": ["party:lantern-bearers"]}
ADA: dict[str, Any] = {"npc_id": "ada", "name": "Ada"}
RULE: dict[str, Any] = {"rule_id": "house/rope", "title": "Rope", "body": "Pull."}
SECRET = {"secrets": [{"text": "She sold the charts.", "known_to": REVEALED["known_to"]}]}
NODE = {"node": {"kind": "Location", "name": "Pier", **REVEALED}}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "lore", {"title": "Row Four", **REVEALED}),
        ("PUT", "rules", {**RULE, **REVEALED}),
        ("PUT", "npcs", {**ADA, **REVEALED}),
        ("PUT", "npcs", {**ADA, **SECRET}),
        ("POST", "graph/facts", {"facts": [NODE]}),
    ],
)
def test_an_audience_that_nobody_has_is_refused(
    engine: ApiClient, lanternbearers: Party, method: str, path: str, body: dict[str, Any]
) -> None:
    status, problem = engine.send(method, f"world/{path}", body)
    assert (status, problem["code"]) == (422, "invalid"), problem
    assert problem["candidates"] == ["party:lanternbearers"]
    assert problem["errors"][0]["loc"] == ["known_to"]


@pytest.mark.parametrize(
    ("path", "rows", "entry"),
    [
        ("lore", "entries", {"title": "Row Four", **REVEALED}),
        ("rules", "entries", {**RULE, **REVEALED}),
        ("npcs", "npcs", {**ADA, **REVEALED}),
    ],
)
def test_it_is_refused_in_bulk(
    engine: ApiClient, lanternbearers: Party, path: str, rows: str, entry: dict[str, Any]
) -> None:
    report = engine.post(f"world/{path}/bulk", {rows: [entry]})[1]
    assert (report["stored"], report["failed"]) == (0, 1)
    assert report["items"][0]["candidates"] == ["party:lanternbearers"]


def test_npcs_of_one_bulk_may_name_each_other(engine: ApiClient) -> None:
    npcs = [
        {**ADA, "secrets": [{"text": "She sold the charts.", "known_to": ["npc:bo"]}]},
        {"npc_id": "bo", "name": "Bo", "visibility": "revealed", "known_to": ["npc:ada"]},
    ]
    assert engine.post("world/npcs/bulk", {"npcs": npcs})[1]["failed"] == 0


@pytest.mark.parametrize("visibility", ["gm", "public"])
def test_an_entry_that_is_not_revealed_takes_no_audiences(
    engine: ApiClient, lanternbearers: Party, visibility: str
) -> None:
    audiences = {"visibility": visibility, "known_to": ["party:lanternbearers"]}
    for path, entry in (("lore", {"title": "Row Four"}), ("rules", RULE)):
        status, problem = engine.put(f"world/{path}", {**entry, **audiences})
        assert status == 422
        assert "visibility revealed" in problem["detail"]
    assert not Lore.objects.exists()


def test_what_was_read_is_written_again_after_an_audience_is_gone(engine: ApiClient) -> None:
    engine.put("world/npcs", ADA)
    entry = {"title": "Row Four", "visibility": "revealed", "known_to": ["npc:ada"]}
    assert engine.put("world/lore", entry)[0] == 200
    NPC.objects.all().delete()
    assert engine.put("world/lore", entry)[1]["outcome"] == "unchanged"
    assert engine.put("world/lore", {**entry, "visibility": "gm"})[0] == 200
    assert engine.put("world/lore", {**entry, "visibility": "gm"})[0] == 200
