"""Who was where, and with whom, as facts of the relation graph that episodes state."""

import io
from typing import Any

import pytest
from django.core.management import call_command

from episodes.erasure import erase_episode
from episodes.ingest import ingest_episode, restore_episode, retract_episode
from episodes.models import Episode
from episodes.schemas import EpisodeIn
from knowledge.fact_check.schemas import Assertion
from knowledge.fact_check.tool import lore_assert
from knowledge.graph.adjacency import neighbors_of_slug
from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.fact_store import retract_facts
from knowledge.graph.models import GraphEdge
from knowledge.graph.protocol import View
from knowledge.graph.schemas import EdgeFact, GraphFact
from knowledge.graph.upsert import upsert_facts
from knowledge.schemas import LoreIn
from knowledge.upsert import upsert_lore
from npcs.schemas import NPCIn
from npcs.upsert import upsert_npc
from worlds.audiences import GM, PUBLIC, Audience
from worlds.callers import Caller
from worlds.models import Party, World
from worlds.reveals import reveal, undo_reveal

pytestmark = pytest.mark.django_db
PARTY, OTHERS = Audience("party", "lanternbearers"), Audience("party", "gilded-oath")
MET = ("Mira Voss", "first met", "Jory Fenn", 10.0)
MIRA_THERE = ("Mira Voss", "was first seen at", "Salt Gate", 10.0)
JORY_THERE = ("Jory Fenn", "was first seen at", "Salt Gate", 10.0)


@pytest.fixture
def cast(world: World, lanternbearers: Party) -> World:
    gate = {"title": "Salt Gate", "kind": "place", "status": "published", "visibility": "public"}
    upsert_lore(world, LoreIn.model_validate(gate))
    for slug, name in (("mira-voss", "Mira Voss"), ("jory-fenn", "Jory Fenn")):
        upsert_npc(world, NPCIn(npc_id=slug, name=name, visibility="public"))
    return world


def tell(world: World, number: int = 1, *, day: float | None = 10.0, **fields: Any) -> Episode:
    body = {
        "summary_id": f"ep-{number}",
        "party_id": "lanternbearers",
        "what": "Mira Voss paid Jory Fenn at the gate.",
        "who": {"npcs": ["Mira Voss", "Jory Fenn"]},
        "where": "Salt Gate",
        "when": {"in_world_at": day},
        "visibility": "revealed",
    }
    ingest_episode(world, EpisodeIn.model_validate({**body, **fields}))
    return Episode.objects.get(external_id=f"ep-{number}")


def facts(world: World, audience: Audience = GM) -> list[tuple[str, str, str, float]]:
    """The ends of *met* are stored in any order: here Mira stands first."""
    rows = View(world, audience).facts().values_list("src__name", "label", "dst__name", "since")
    return sorted(
        (dst, label, src, day)
        if (src, label) == ("Jory Fenn", "first met")
        else (src, label, dst, day)
        for src, label, dst, day in rows
    )


def test_an_episode_states_who_met_whom_and_where(cast: World) -> None:
    tell(cast)
    assert facts(cast) == facts(cast, PARTY) == [JORY_THERE, MET, MIRA_THERE]
    assert facts(cast, OTHERS) == facts(cast, PUBLIC) == []
    sources = GraphEdge.objects.values_list("source_kind", "source_ref", "source_note").distinct()
    assert set(sources) == {("episode", "ep-1#scene", "Salt Gate: Jory Fenn, Mira Voss")}


def test_the_hundredth_evening_writes_nothing(cast: World) -> None:
    tell(cast)
    before = set(GraphEdge.objects.values_list("pk", flat=True))
    for number in range(2, 6):
        tell(cast, number, day=10.0 + number)
    assert set(GraphEdge.objects.values_list("pk", flat=True)) == before


def test_they_take_no_part_in_the_present(cast: World) -> None:
    elsewhere = upsert_lore(cast, LoreIn(title="Hall", kind="place", visibility="public"))[0]
    upsert_facts(
        cast, [GraphFact(edge=EdgeFact(src="mira-voss", relation="LOCATED_IN", dst=elsewhere.slug))]
    )
    tell(cast)
    assert not open_contradictions(cast)
    near = neighbors_of_slug("mira-voss", View(cast, GM)).nearest
    assert [each.node.name for each in near] == ["Hall"]
    then = View(cast, GM, at=10.0).facts().valid_on(10.0)
    assert then.filter(label="first met").count() == 1


def test_an_earlier_evening_that_is_told_later_is_the_first(cast: World) -> None:
    tell(cast)
    tell(cast, 2, day=4.0)
    assert {day for *_words, day in facts(cast)} == {4.0}
    retract_episode(cast, "ep-2")
    assert facts(cast) == [JORY_THERE, MET, MIRA_THERE]
    restore_episode(cast, "ep-2")
    assert {day for *_words, day in facts(cast)} == {4.0}


def test_a_correction_and_a_deletion_are_followed(cast: World) -> None:
    tell(cast)
    tell(cast, version=2, who={"npcs": ["Mira Voss"]})
    assert facts(cast) == [MIRA_THERE]
    tell(cast, version=3, day=None)
    assert facts(cast) == []
    tell(cast, version=4)
    assert facts(cast) == [JORY_THERE, MET, MIRA_THERE]
    tell(cast, 2, day=20.0)
    erase_episode(cast, "ep-1")
    assert {day for *_words, day in facts(cast)} == {20.0}
    assert not GraphEdge.objects.filter(source_ref="ep-1#scene").exists(), "history, too"


def test_players_learn_only_of_people_whom_the_open_text_names(cast: World) -> None:
    tell(cast, what="Mira Voss paid.\n\n:::secret\nJory Fenn watched.\n:::")
    assert facts(cast) == [JORY_THERE, MET, MIRA_THERE]
    assert facts(cast, PARTY) == [MIRA_THERE]


def test_each_party_knows_its_own_first_meeting(cast: World, gilded_oath: Party) -> None:
    tell(cast, visibility="gm")
    tell(cast, 2, day=15.0)
    tell(cast, 3, day=12.0, party_id="gilded-oath")
    assert {day for *_words, day in facts(cast, PARTY)} == {15.0}
    assert {day for *_words, day in facts(cast, OTHERS)} == {12.0}
    assert {day for *_words, day in facts(cast)} == {10.0, 12.0, 15.0}


def test_reveals_of_the_episode_open_and_close_them(cast: World, gilded_oath: Party) -> None:
    episode = tell(cast)
    entry = reveal(episode, OTHERS)
    assert facts(cast, OTHERS) == [JORY_THERE, MET, MIRA_THERE]
    undo_reveal(entry)
    assert facts(cast, OTHERS) == []
    assert facts(cast, PARTY) == [JORY_THERE, MET, MIRA_THERE]


def test_what_a_person_retracted_stays_so(cast: World) -> None:
    episode = tell(cast)
    retract_facts(list(GraphEdge.objects.filter(label="first met")), because="a disguise")
    tell(cast, version=2, what="Mira Voss paid Jory Fenn twice.")
    reveal(episode, OTHERS)
    assert facts(cast) == [JORY_THERE, MIRA_THERE]


def test_of_a_crowd_nobody_met_everybody(cast: World) -> None:
    names = [f"Guest {number}" for number in range(13)]
    for number, name in enumerate(names):
        upsert_npc(cast, NPCIn(npc_id=f"guest-{number}", name=name))
    tell(cast, who={"npcs": names})
    assert {label for _src, label, _dst, _day in facts(cast)} == {"was first seen at"}


def test_they_say_nothing_about_where_somebody_is_now(cast: World) -> None:
    tell(cast)
    caller = Caller.gm(cast)
    for statement in ("Mira Voss is in the Salt Gate", "Mira Voss knows Jory Fenn"):
        assert lore_assert(Assertion(fact=statement), caller).result == "unknown"


def test_a_world_from_before_is_filled(cast: World) -> None:
    tell(cast)
    tell(cast, 2, day=4.0)
    GraphEdge.objects.all().delete()
    for expected in (3, 0):
        out = io.StringIO()
        call_command("fill_graph", stdout=out, world=cast.slug)
        assert f"{expected} facts" in out.getvalue()
    assert {day for *_words, day in facts(cast)} == {4.0}


def join(world: World, relation: str, dst: str, **fields: Any) -> None:
    edge = {"src": "mira-voss", "relation": relation, "dst": dst, "visibility": "public", **fields}
    upsert_facts(world, [GraphFact(edge=EdgeFact.model_validate(edge))])


@pytest.mark.parametrize("relation", ["ENEMY_OF", "ALLY_WITH", "KNOWS"])
def test_who_is_joined_by_a_fact_did_not_meet_for_the_first_time(
    cast: World, relation: str
) -> None:
    join(cast, relation, "jory-fenn")
    tell(cast)
    assert MET not in facts(cast)
    assert MIRA_THERE in facts(cast)


def test_relatives_and_members_of_one_faction_have_met_before(cast: World) -> None:
    wardens = {"title": "Tide Wardens", "kind": "faction", "status": "published"}
    upsert_lore(cast, LoreIn.model_validate({**wardens, "visibility": "public"}))
    of_wardens: dict[str, Any] = {"faction": "Tide Wardens", "visibility": "public"}
    upsert_npc(cast, NPCIn(npc_id="jory-fenn", name="Jory Fenn", **of_wardens))
    son_of_mira = [{"relation": "mother", "npc": "mira-voss"}]
    upsert_npc(cast, NPCIn(npc_id="tam", name="Tam", family=son_of_mira, **of_wardens))
    names = ["Mira Voss", "Jory Fenn", "Tam"]
    tell(cast, who={"npcs": names}, what="Mira Voss, Jory Fenn and Tam.")
    assert [each for each in facts(cast) if each[1] == "first met"] == [MET]


def test_what_the_episode_begins_does_not_hide_that_they_met(cast: World) -> None:
    join(cast, "ENEMY_OF", "jory-fenn", since=10.0)
    tell(cast)
    assert MET in facts(cast)


def test_a_hidden_tie_does_not_show_by_a_meeting_that_is_missing(cast: World) -> None:
    join(cast, "ENEMY_OF", "jory-fenn", visibility="gm")
    tell(cast)
    assert MET in facts(cast, PARTY)
