"""The faction and the home on the page of an NPC are facts of the relation graph."""

from typing import Any

import pytest

from knowledge.entry_store import save_entry
from knowledge.fact_check.schemas import Assertion
from knowledge.fact_check.tool import lore_assert
from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.manual_facts import save_manual_fact
from knowledge.graph.models import GraphEdge
from knowledge.graph.protocol import View
from knowledge.graph.schemas import EdgeFact, GraphFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore
from knowledge.schemas import LoreIn
from knowledge.trash import restore_lore, trash_lore
from knowledge.upsert import upsert_lore
from npcs.models import NPC
from npcs.schemas import NPCIn
from npcs.trash import restore_npcs, trash_npcs
from npcs.upsert import upsert_npc
from tests.cast import create_campaign
from tests.conftest import ApiClient
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
    # Nobody says that the two places are apart: one may lie within the other.
    assert lore_assert(elsewhere, caller).result == "unknown"


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


def entry(world: World, title: str, kind: str, **fields: Any) -> Lore:
    values = {"title": title, "kind": kind, "status": "published", "visibility": "public"}
    return upsert_lore(world, LoreIn.model_validate({**values, **fields}))[0]


def test_entries_that_are_written_later_complete_the_fields(world: World) -> None:
    npc = at_home(world)
    assert facts(world) == []
    entry(world, "Ferrymen's Guild", "faction")
    entry(world, "The Stumps", "place", aliases=["Stumps"])
    assert facts(world) == BOTH
    npc.refresh_from_db()
    assert (npc.faction_lore.slug, npc.home_lore.slug) == ("ferrymens-guild", "the-stumps")


@pytest.mark.parametrize("home", ["the stumps", "the-stumps", "Old Quay"])
def test_a_field_is_completed_by_any_name_of_the_entry(world: World, home: str) -> None:
    npc = at_home(world, faction="", home=home)
    entry(world, "The Stumps", "place")
    entry(world, "The Stumps", "place", aliases=["Old Quay"])
    assert facts(world) == [BOTH[1]]
    npc.refresh_from_db()
    assert npc.home == "The Stumps"
    assert upsert_npc(world, NPCIn(npc_id="mira-voss", name="Mira Voss", home=npc.home))[1] == (
        "unchanged"
    )


def test_entries_of_another_kind_or_of_a_campaign_complete_nothing(world: World) -> None:
    at_home(world)
    create_campaign(world, slug="ash", name="Ash")
    entry(world, "Ferrymen's Guild", "faction", campaign="ash")
    stumps = entry(world, "The Stumps", "item")
    assert facts(world) == []
    stumps.kind = "place"
    save_entry(stumps)
    assert facts(world) == [BOTH[1]]


def test_two_entries_of_the_name_complete_nothing(world: World) -> None:
    entry(world, "North Quay", "place", aliases=["The Stumps"])
    entry(world, "South Quay", "place", aliases=["The Stumps"])
    npc = at_home(world, faction="")
    assert (npc.home_lore, facts(world)) == (None, [])


def test_a_completed_fact_is_as_secret_as_its_ends(world: World) -> None:
    at_home(world, faction_visibility="gm")
    entry(world, "Ferrymen's Guild", "faction")
    stumps = entry(world, "The Stumps", "place", visibility="gm")
    assert (facts(world), facts(world, PARTY)) == (BOTH, [])
    reveal(stumps, PARTY)
    assert facts(world, PARTY) == [BOTH[1]]


def test_the_trash_of_either_side_loses_no_completion(world: World) -> None:
    npc = at_home(world, faction="")
    trash_npcs([npc], by="gm")
    stumps = entry(world, "The Stumps", "place")
    restore_npcs([NPC.with_trash.get(pk=npc.pk)], by="gm")
    assert facts(world) == [BOTH[1]]
    trash_lore([stumps], by="gm")
    write_mira(world, home="")
    write_mira(world, home="The Stumps")
    assert facts(world) == []
    restore_lore([Lore.with_trash.get(pk=stumps.pk)], by="gm")
    assert facts(world) == [BOTH[1]]


def test_a_name_that_fits_nothing_is_a_warning(places: World) -> None:
    engine = ApiClient(places)
    entry(places, "Iron Ladle", "item")
    body: dict[str, Any] = {
        "npc_id": "mira-voss",
        "name": "Mira Voss",
        "faction": "Ferrymen's Guild",
        "home": "no-such-place",
        "biography": "no-such-life",
        "family": [{"relation": "mother", "npc": "Selka"}],
    }
    warnings = engine.put("world/npcs", body)[1]["warnings"]
    assert [text.partition(":")[0] for text in warnings] == ["biography", "home", "family"]
    assert "no-such-place" in warnings[1]
    body = {"npc_id": "mira-voss", "name": "Mira Voss", "home": "Iron Ladle"}
    (text,) = engine.put("world/npcs", body)[1]["warnings"]
    assert "of another kind" in text
    body = {"npc_id": "mira-voss", "name": "Mira Voss"}
    assert engine.put("world/npcs", body)[1]["warnings"] == []


def test_a_bulk_warns_of_names_when_all_are_written(places: World) -> None:
    npcs = [
        {
            "npc_id": "mira-voss",
            "name": "Mira Voss",
            "family": [{"relation": "mother", "npc": "Selka"}],
        },
        {"npc_id": "selka", "name": "Selka", "home": "no-such-place"},
        {"npc_id": "", "name": "Nobody", "home": "no-such-place"},
    ]
    items = ApiClient(places).post("world/npcs/bulk", {"npcs": npcs})[1]["items"]
    assert [each["status"] for each in items] == ["ok", "ok", "failed"]
    assert items[0]["warnings"] == []
    (text,) = items[1]["warnings"]
    assert text.startswith("home: ")
    assert "no-such-place" in text
    assert items[2]["warnings"] == []
