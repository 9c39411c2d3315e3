"""Tools that read a misspelt name say what they took it for."""

import pytest

from knowledge.graph.schemas import GraphFact
from knowledge.graph.upsert import upsert_facts
from npcs.models import NPC
from tests.conftest import ApiClient
from worlds.models import Party, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def allies(world: World) -> None:
    people = {"mira": "Mira Voss", "jory": "Jory Fenn"}
    nodes = [{"slug": s, "kind": "Character", "name": n} for s, n in people.items()]
    edge = {"src": "mira", "relation": "ALLY_WITH", "dst": "jory"}
    facts = [*({"node": node} for node in nodes), {"edge": edge}]
    upsert_facts(world, [GraphFact.model_validate(fact) for fact in facts])


def test_a_profile_names_who_was_read(engine: ApiClient, mira: NPC, lanternbearers: Party) -> None:
    ask = {"npc_id": "Mara Voss", "party_id": "lanternbarers"}
    answer = engine.tool("npc_profile", **ask)[1]
    assert answer["read_as"] == {
        "Mara Voss": "Mira Voss",
        "lanternbarers": lanternbearers.name,
    }
    for name in ("mira-voss", "Mira Voss", "Mira", "Миру Восс"):
        assert engine.tool("npc_profile", npc_id=name)[1]["read_as"] == {}


@pytest.mark.parametrize("query", ["", "the lamp"])
def test_the_episodes_of_a_misspelt_party_say_whose_they_are(
    engine: ApiClient, lanternbearers: Party, query: str
) -> None:
    ask = {"query": query} if query else {}
    answer = engine.tool("session_fetch", party_id="lanternbarers", **ask)[1]
    assert answer["party_id"] == "lanternbearers"
    assert answer["read_as"] == {"lanternbarers": lanternbearers.name}
    assert engine.tool("session_fetch", party_id="lanternbearers", **ask)[1]["read_as"] == {}


def test_a_statement_names_who_was_read(engine: ApiClient, allies: None) -> None:
    answer = engine.tool("lore_assert", fact="Mara Voss is allied with Jory Fenn.")[1]
    assert (answer["result"], answer["read_as"]) == ("true", {"Mara Voss": "Mira Voss"})
    triple = {"subject": "Mira Voss", "relation": "ALLY_WITH", "object": "Jory Fen"}
    answer = engine.tool("lore_assert", fact=triple)[1]
    assert (answer["result"], answer["read_as"]) == ("true", {"Jory Fen": "Jory Fenn"})
    answer = engine.tool("lore_assert", fact="Mira Voss is allied with Jory.")[1]
    assert (answer["result"], answer["read_as"]) == ("true", {})
