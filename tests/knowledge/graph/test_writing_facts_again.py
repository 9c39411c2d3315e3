"""A fact that is written again: what is not sent stays, above all its end."""

from typing import Any

import pytest

from knowledge.graph.fact_store import end_fact
from knowledge.graph.models import GraphEdge, NodeKind
from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from tests.conftest import ApiClient
from worlds.models import Party, World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def cast(world: World) -> None:
    names = ("Mira", NodeKind.CHARACTER), ("Guild", NodeKind.FACTION), ("Wardens", NodeKind.FACTION)
    upsert_facts(world, [GraphFact(node=NodeFact(kind=kind, name=name)) for name, kind in names])


def write(world: World, **fields: Any) -> str:
    values = {"src": "Mira", "relation": "PART_OF", "dst": "Guild", "since": 1.0, **fields}
    result = upsert_facts(world, [GraphFact(edge=EdgeFact.model_validate(values))])
    return result.edges[0].outcome


def stored(name: str = "Guild") -> GraphEdge:
    fact: GraphEdge = GraphEdge.objects.believed_now().get(dst__name=name)
    return fact


def test_a_fact_that_is_repeated_stays_ended(world: World) -> None:
    write(world, until=9.0)
    assert write(world) == "unchanged"
    assert write(world, confidence=0.7) == "changed"
    assert (stored().until, stored().confidence) == (9.0, 0.7)


def test_it_is_opened_again_only_by_saying_so(world: World) -> None:
    write(world, until=9.0)
    assert write(world, until=None) == "changed"
    assert stored().until is None


def test_the_successor_of_a_free_relation_ends_those_of_its_label(world: World) -> None:
    write(world, relation="RELATES_TO", label="debt to", dst="Guild")
    write(world, relation="RELATES_TO", label="works for", dst="Guild")
    write(world, relation="RELATES_TO", label="works for", dst="Wardens", since=5.0, succeeds=True)
    ends = GraphEdge.objects.believed_now().values_list("label", "dst__name", "until")
    assert set(ends) == {
        ("debt to", "Guild", None),
        ("works for", "Guild", 5.0),
        ("works for", "Wardens", None),
    }


def test_an_end_that_follows_from_another_fact_stays_and_goes_with_it(world: World) -> None:
    write(world)
    write(world, dst="Wardens", since=5.0, succeeds=True)
    assert write(world, confidence=0.9) == "changed"
    fact, later = stored(), stored("Wardens")
    assert (fact.until, fact.was_ended, fact.ended_by) == (5.0, True, later)
    assert write(world, until=None) == "changed"
    assert (stored().until, stored().was_ended) == (None, False)


def test_who_may_know_it_stays(world: World) -> None:
    write(world, visibility="public")
    assert write(world, source_note="Read out at the gate.") == "changed"
    assert stored().visibility == "public"
    write(world, visibility="gm")
    assert stored().visibility == "gm"


def tell(engine: ApiClient, version: int, **fact: Any) -> None:
    edge = {"src": "Mira", "relation": "PART_OF", "dst": "Guild", "since": 1, **fact}
    body = {"summary_id": "ep-1", "party_id": "lanternbearers", "what": f"Told {version} times."}
    status, answer = engine.post(
        "world/episodes", {**body, "version": version, "facts": [{"edge": edge}]}
    )
    assert status == 200, answer


def test_a_version_of_an_episode_takes_back_its_own_end_and_no_other(
    engine: ApiClient, lanternbearers: Party
) -> None:
    tell(engine, 1, until=9, visibility="public")
    tell(engine, 2)
    assert (stored().until, stored().visibility) == (None, "gm"), "a version replaces the other"
    end_fact(stored(), 7.0)
    tell(engine, 3, confidence=0.9)
    assert (stored().until, stored().confidence) == (7.0, 0.9)
