"""`lore_assert` of a day: what begins later says nothing about it."""

from typing import Any

import pytest

from knowledge.fact_check.schemas import Assertion
from knowledge.fact_check.tool import lore_assert
from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.models import NodeKind
from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from worlds.callers import Caller
from worlds.models import World

pytestmark = pytest.mark.django_db
PEOPLE = {"dorrin-vale": "Dorrin Vale", "maren-holt": "Maren Holt", "orrin-ash": "Orrin Ash"}
PLACES = {"cinder-bay": "Cinder Bay", "hollow-forge": "Hollow Forge", "coast": "Ash Coast"}


@pytest.fixture(autouse=True)
def moves(world: World) -> None:
    """Dorrin is in the bay since 81000 and in the forge since 81010, both on the coast; the lantern
    is Maren's since 81000 and Dorrin's since 81010. Dorrin's enemy became a friend, and nobody said
    that either ended."""
    for names, kind in (
        (PEOPLE, NodeKind.CHARACTER),
        (PLACES, NodeKind.LOCATION),
        ({"lantern": "Glass Lantern"}, NodeKind.ITEM),
    ):
        nodes = [NodeFact(kind=kind, slug=slug, name=name) for slug, name in names.items()]
        upsert_facts(world, [GraphFact(node=node) for node in nodes])
    state("cinder-bay", "PART_OF", "coast", 80000, world=world)
    state("hollow-forge", "PART_OF", "coast", 80000, world=world)
    state("dorrin-vale", "LOCATED_IN", "cinder-bay", 81000, world=world)
    state("dorrin-vale", "LOCATED_IN", "hollow-forge", 81010, world=world)
    state("lantern", "OWNED_BY", "maren-holt", 81000, world=world)
    state("lantern", "OWNED_BY", "dorrin-vale", 81010, world=world)
    state("dorrin-vale", "ENEMY_OF", "maren-holt", 81000, world=world)
    state("dorrin-vale", "ALLY_WITH", "maren-holt", 81010, world=world)
    state("dorrin-vale", "RELATES_TO", "orrin-ash", 81010, world=world, label="husband of")


def state(
    src: str, relation: str, dst: str, since: float, *, world: World, label: str = ""
) -> None:
    edge = EdgeFact(src=src, relation=relation, dst=dst, since=since, label=label)
    upsert_facts(world, [GraphFact(edge=edge)])


def check(world: World, fact: str, at: float | None) -> tuple[str, bool, int]:
    answer: Any = lore_assert(Assertion(fact=fact, at=at), Caller.gm(world))
    return answer.result, answer.contested, len(answer.opposing)


@pytest.mark.parametrize(
    ("fact", "result"),
    [
        ("Dorrin Vale is in Cinder Bay", "true"),
        ("Dorrin Vale is in Hollow Forge", "false"),
        ("Maren Holt owns the Glass Lantern", "true"),
        ("Dorrin Vale owns the Glass Lantern", "false"),
        ("Dorrin Vale is an enemy of Maren Holt", "true"),
        ("Dorrin Vale is an ally of Maren Holt", "false"),
        ("Dorrin Vale is married to Orrin Ash", "unknown"),
        ("Dorrin Vale was in Cinder Bay", "true"),
        ("Dorrin Vale was in Hollow Forge", "unknown"),
        ("Dorrin Vale was never in Hollow Forge", "unknown"),
        ("Dorrin Vale was never in Cinder Bay", "false"),
    ],
)
def test_facts_that_begin_later_are_not_counted(world: World, fact: str, result: str) -> None:
    assert open_contradictions(world)
    assert check(world, fact, 81005) == (result, False, 0)


def test_from_the_beginning_on_they_are_counted(world: World) -> None:
    assert check(world, "Dorrin Vale is in Cinder Bay", 81010)[:2] == ("unknown", True)
    assert check(world, "Dorrin Vale is in Cinder Bay", None)[:2] == ("unknown", True)
    assert check(world, "Dorrin Vale was in Hollow Forge", 81020)[0] == "true"
    assert check(world, "Dorrin Vale is married to Orrin Ash", 81010)[0] == "true"
