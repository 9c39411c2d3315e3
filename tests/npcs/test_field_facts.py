"""The faction and the home on the page of an NPC are facts of the relation graph."""

from typing import Any

import pytest

from knowledge.fact_check.schemas import Assertion
from knowledge.fact_check.tool import lore_assert
from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.manual_facts import save_manual_fact
from knowledge.graph.models import GraphEdge
from knowledge.graph.protocol import View
from knowledge.graph.schemas import EdgeFact, GraphFact
from knowledge.graph.upsert import upsert_facts
from knowledge.schemas import LoreIn
from knowledge.upsert import upsert_lore
from npcs.models import NPC
from npcs.schemas import NPCIn
from npcs.trash import restore_npcs, trash_npcs
from npcs.upsert import upsert_npc
from worlds.audiences import GM, PUBLIC, Audience
from worlds.callers import Caller
from worlds.models import World
from worlds.reveals import reveal, undo_reveal

pytestmark = pytest.mark.django_db
PARTY = Audience("party", "lanternbearers")
BOTH = [
    ("Mira Voss", "PART_OF", "", "Ferrymen's Guild"),
    ("Mira Voss", "RELATES_TO", "lives in", "The Stumps"),
]


@pytest.fixture
def places(world: World) -> World:
    for title, kind in (
        ("Ferrymen's Guild", "faction"),
        ("Salt Wardens", "faction"),
        ("The Stumps", "place"),
        ("Hall of Oars", "place"),
    ):
        fields = {"title": title, "kind": kind, "status": "published", "visibility": "public"}
        upsert_lore(world, LoreIn.model_validate(fields))
    return world


def write_mira(world: World, **fields: Any) -> NPC:
    values = {"npc_id": "mira-voss", "name": "Mira Voss", **fields}
    return upsert_npc(world, NPCIn.model_validate(values))[0]


def at_home(world: World, **fields: Any) -> NPC:
    values = {"faction": "Ferrymen's Guild", "home": "The Stumps", "visibility": "public"}
    return write_mira(world, **{**values, **fields})


def facts(world: World, audience: Audience = GM) -> list[tuple[str, str, str, str]]:
    rows = View(world, audience).facts()
    return sorted(rows.values_list("src__name", "relation", "label", "dst__name"))


def test_faction_and_home_are_facts_that_name_their_source(places: World) -> None:
    at_home(places)
    assert facts(places) == BOTH
    sources = GraphEdge.objects.values_list("source_kind", "source_ref", "source_note")
    assert sorted(sources) == [
        ("editor", "npc:mira-voss", "Faction: Ferrymen's Guild"),
        ("editor", "npc:mira-voss", "Home: The Stumps"),
    ]


def test_they_change_and_go_with_the_fields(places: World) -> None:
    at_home(places)
    write_mira(places, faction="Salt Wardens")
    assert facts(places) == [("Mira Voss", "PART_OF", "", "Salt Wardens"), BOTH[1]]
    write_mira(places, faction="", home="")
    assert facts(places) == []
    write_mira(places, home="somewhere by the water")
    assert facts(places) == [], "words that name no entry"


def test_a_home_does_not_contradict_whereabouts(places: World) -> None:
    at_home(places)
    away = EdgeFact(src="mira-voss", relation="LOCATED_IN", dst="hall-of-oars")
    assert upsert_facts(places, [GraphFact(edge=away)]).conflicts == []
    assert not open_contradictions(places)


@pytest.mark.parametrize(
    "statement",
    [
        "Mira Voss lives in the Stumps",
        "Мира Восс живёт в The Stumps",
        "미라 보스는 The Stumps에 산다",
    ],
)
def test_lore_assert_knows_where_somebody_lives(places: World, statement: str) -> None:
    at_home(places, aliases=["Мира Восс", "미라 보스"])
    away = EdgeFact(src="mira-voss", relation="LOCATED_IN", dst="hall-of-oars")
    upsert_facts(places, [GraphFact(edge=away)])
    caller = Caller.gm(places)
    assert lore_assert(Assertion(fact=statement), caller).result == "true"
    elsewhere = Assertion(fact="Mira Voss is in the Stumps")
    assert lore_assert(elsewhere, caller).result == "false"


def test_a_secret_faction_is_for_game_masters(places: World) -> None:
    at_home(places, faction_visibility="gm")
    assert facts(places, PUBLIC) == [BOTH[1]]
    assert facts(places) == BOTH
    write_mira(places, faction_visibility="public")
    assert facts(places, PUBLIC) == BOTH
    write_mira(places, faction_visibility="gm")
    assert facts(places, PUBLIC) == [BOTH[1]]


def test_facts_of_a_hidden_npc_open_and_close_with_a_reveal(places: World) -> None:
    npc = at_home(places, visibility="gm", faction_visibility="gm")
    assert facts(places, PARTY) == []
    entry = reveal(npc, PARTY)
    assert facts(places, PARTY) == [BOTH[1]]
    assert facts(places, PUBLIC) == []
    undo_reveal(entry)
    assert facts(places, PARTY) == []


def test_a_hidden_home_gives_no_fact_to_players(places: World) -> None:
    at_home(places)
    upsert_lore(places, LoreIn(title="The Stumps", kind="place", visibility="gm"))
    assert facts(places, PUBLIC) == [BOTH[0]]


def test_they_go_to_the_trash_and_come_back(places: World) -> None:
    npc = at_home(places)
    trash_npcs([npc], by="gm")
    assert facts(places) == []
    restore_npcs([npc], by="gm")
    assert facts(places) == BOTH


def test_what_a_person_changed_or_retracted_stays_so(places: World) -> None:
    at_home(places)
    fact = GraphEdge.objects.get(relation="PART_OF")
    fact.label = "leads"
    save_manual_fact(fact, by="gm")
    home = GraphEdge.objects.get(relation="RELATES_TO")
    GraphEdge.objects.filter(pk=home.pk).update(believed_until=home.believed_from)
    write_mira(places, role="harbour master")
    assert facts(places) == [("Mira Voss", "PART_OF", "leads", "Ferrymen's Guild")]


def test_saving_the_same_again_writes_nothing(places: World) -> None:
    at_home(places)
    before = set(GraphEdge.objects.values_list("pk", flat=True))
    at_home(places)
    assert set(GraphEdge.objects.values_list("pk", flat=True)) == before
