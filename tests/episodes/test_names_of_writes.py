"""A write takes whole names, aliases and inflected forms. What resembles one is refused with
candidates, and nothing is written."""

from typing import Any

import pytest

from episodes.models import Episode, Thread
from knowledge.entry_store import save_entry
from knowledge.graph.models import GraphEdge
from knowledge.models import Lore
from npcs.models import NPC, DispositionChange
from tests.conftest import ApiClient
from worlds.models import Character, Party, World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mira", "jory")]

SUMMARY = {
    "party_id": "lanternbearers",
    "when": {"in_world_at": 1.0},
    "what": "They met on the quay.",
    "version": 1,
}


def record(engine: ApiClient, **fields: Any) -> tuple[int, Any]:
    return engine.post("world/episodes", {"summary_id": "ep-1", **SUMMARY, **fields})


@pytest.mark.parametrize("name", ["Mara Voss", "Nira Voss", "Rory Fenn", "Mira", "Voss"])
def test_a_disposition_moves_for_no_other_npc(
    engine: ApiClient, lanternbearers: Party, name: str
) -> None:
    status, problem = record(engine, relations_delta={name: -5})
    assert (status, problem["code"]) == (422, "unknown_npc")
    assert {"Mira Voss", "Jory Fenn"} & set(problem["candidates"])
    assert not Episode.objects.exists()
    assert not DispositionChange.objects.exists()


@pytest.mark.parametrize("name", ["mira voss", "Mira Voss", "Миру Восс", "미라 보스를"])
def test_an_alias_in_any_inflection_is_taken(
    engine: ApiClient, lanternbearers: Party, mira: NPC, name: str
) -> None:
    mira.aliases = ["Мира Восс", "미라 보스"]
    mira.save()
    assert record(engine, relations_delta={name: -5})[0] == 200
    assert DispositionChange.objects.get().npc == mira


def test_a_misspelt_party_is_refused(engine: ApiClient, lanternbearers: Party) -> None:
    status, problem = record(engine, party_id="lanternbarers")
    assert (status, problem["candidates"]) == (422, ["Lanternbearers"])
    steps = {"steps": [{"text": "Hello."}], "party_id": "lanternbarers"}
    assert engine.post("world/threads/t-1/steps", steps)[0] == 404
    assert not Thread.objects.exists()
    assert engine.post("world/characters", {"name": "Tobin", "party_id": "lanternbarers"})[0] == 404
    assert not Character.objects.exists()


def test_a_relation_joins_no_entity_of_a_resembling_name(engine: ApiClient) -> None:
    nodes = [{"node": {"kind": "Character", "name": name}} for name in ("Orla Wat", "Bran Oake")]
    assert engine.post("world/graph/facts", {"facts": nodes})[0] == 200
    edge = {"src": "Orla Watt", "relation": "KNOWS", "dst": "Bran Oake"}
    status, problem = engine.post("world/graph/facts", {"facts": [{"edge": edge}]})
    assert (status, problem["candidates"]) == (404, ["Orla Wat"])
    assert not GraphEdge.objects.exists()


@pytest.mark.parametrize("name", ["Mara Voss", "Mira"])
def test_an_npc_of_a_resembling_name_is_read_and_not_changed(
    engine: ApiClient, lanternbearers: Party, mira: NPC, name: str
) -> None:
    scene = {"scene_id": "quay", "title": "Quay", "party_id": "lanternbearers"}
    assert engine.put("world/scenes", scene)[0] == 200
    change = {"party_id": "lanternbearers", "delta": 5, "reason": "They sang."}
    assert engine.get(f"world/npcs/{name}")[0] == 200
    assert engine.post(f"world/npcs/{name}/changes", change)[0] == 404
    assert engine.put(f"world/scenes/quay/cast/{name}")[0] == 404
    assert engine.send("DELETE", f"world/npcs/{name}")[0] == 404
    status, answer = engine.post("world/bulk/delete", {"kind": "npc", "ids": [name]})
    assert "Mira Voss" in str(answer), (status, answer)
    assert NPC.objects.filter(pk=mira.pk).exists()
    assert not DispositionChange.objects.exists()


def create_faction(world: World, slug: str) -> None:
    save_entry(Lore(world=world, slug=slug, title="Lamp Guild", kind="faction", status="published"))


@pytest.mark.parametrize("name", ["Lamp Gild", "the lamp guild of old", "lamp-gild"])
def test_a_reveal_of_a_misspelt_entry_is_refused_with_candidates(
    engine: ApiClient, lanternbearers: Party, name: str
) -> None:
    create_faction(lanternbearers.world, "lamp-guild")
    status, problem = record(engine, reveals=[{"lore": name}])
    assert (status, problem["code"]) == (422, "unknown_lore")
    assert problem["candidates"] in (["lamp-guild"], ["Lamp Guild"])
    assert not Episode.objects.exists()


def test_entries_of_one_title_are_offered_by_their_ids(
    engine: ApiClient, lanternbearers: Party
) -> None:
    for slug in ("lamp-guild", "lamp-guild-of-old"):
        create_faction(lanternbearers.world, slug)
    status, problem = record(engine, reveals=[{"lore": "Lamp Guild"}])
    assert (status, sorted(problem["candidates"])) == (422, ["lamp-guild", "lamp-guild-of-old"])
