"""`lore_search` with `expand`: lore one step along the graph from what is named, as a leg with its
own rank.
"""

from collections.abc import Callable
from dataclasses import asdict

import pytest

from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore
from knowledge.presenters import HitOut, SearchAnswer
from knowledge.schemas import LoreQuestion
from knowledge.tools import lore_search
from worlds.audiences import GM, PUBLIC, Audience, Visibility
from worlds.callers import Caller
from worlds.models import World

Write = Callable[..., Lore]


@pytest.fixture(autouse=True)
def ferry(world: World, write: Write) -> None:
    """Mira's guild has an entry that shares no word with a question about her."""
    write("Mira Voss", "She keeps the ledger.", kind="biography")
    write("Hall of Oars", "A long roof over wet benches.", kind="place")
    write(
        "Silent Bell",
        "It hangs in a tower.",
        kind="item",
        visibility=Visibility.REVEALED,
        known_to=["party:x"],
    )
    for kind, name in (
        ("Character", "Mira Voss"),
        ("Location", "Hall of Oars"),
        ("Item", "Silent Bell"),
    ):
        lore = Lore.objects.get(title=name)
        node = NodeFact(kind=kind, name=name, lore_id=lore.pk, visibility="public")
        upsert_facts(world, [GraphFact(node=node)])
    tie(world, "Mira Voss", "LOCATED_IN", "Hall of Oars")
    tie(world, "Silent Bell", "OWNED_BY", "Mira Voss", source_ref="one")
    tie(world, "Silent Bell", "OWNED_BY", "Mira Voss", source_ref="another")


def tie(world: World, src: str, relation: str, dst: str, **more: object) -> None:
    upsert_facts(
        world,
        [
            GraphFact(
                edge=EdgeFact(
                    src=src, relation=relation, dst=dst, **{"visibility": "public", **more}
                )
            )
        ],
    )


def ask(world: World, audience: Audience = GM, **question: object) -> SearchAnswer:
    return lore_search(
        LoreQuestion(query="Where does Mira Voss keep it?", **question), Caller(world, audience)
    )


def by_id(answer: SearchAnswer) -> dict[str, HitOut]:
    return {hit.id: hit for hit in answer.hits}


def test_a_neighbour_is_found_and_says_which_leg_brought_it(world: World) -> None:
    hits = by_id(ask(world, expand=True))
    assert hits["silent-bell"].legs["graph"].rank == 1  # two facts lead there, one to the hall
    assert hits["hall-of-oars"].legs["graph"].rank == 2
    assert "graph" not in hits["mira-voss"].legs
    assert next(iter(hits)) == "mira-voss"


def test_it_is_off_unless_asked_for(world: World) -> None:
    assert all("graph" not in hit.legs for hit in ask(world).hits)


def test_a_neighbour_that_only_the_graph_brings_is_a_hit_of_the_graph(
    world: World, write: Write
) -> None:
    for number in range(30):  # the words and the vectors bring these
        write(
            f"Ledger {number}", "Where does Mira keep it? Mira Voss keeps the ledger of the ferry."
        )
    hits = by_id(ask(world, k=40, expand=True))
    assert "hall-of-oars" not in by_id(ask(world, k=20))
    assert (hits["hall-of-oars"].match, set(hits["hall-of-oars"].legs)) == ("graph", {"graph"})
    assert list(hits)[-2:] == ["silent-bell", "hall-of-oars"]


def test_a_hidden_entry_takes_no_rank_from_another(world: World) -> None:
    hits = by_id(ask(world, PUBLIC, expand=True))
    assert "silent-bell" not in hits
    assert hits["hall-of-oars"].legs["graph"].rank == 1
    assert (
        by_id(ask(world, Audience.parse("party:x"), expand=True))["silent-bell"].legs["graph"].rank
        == 1
    )


def test_a_hidden_fact_or_entity_adds_no_hit(world: World, write: Write) -> None:
    bare = [asdict(hit) for hit in ask(world, PUBLIC, expand=True).hits]
    write("Salt Cellar", "White and dry.", visibility=Visibility.GM)
    cellar = NodeFact(
        kind="Location",
        name="Salt Cellar",
        lore_id=Lore.objects.get(title="Salt Cellar").pk,
        visibility="gm",
    )
    upsert_facts(world, [GraphFact(node=cellar)])
    tie(world, "Mira Voss", "LOCATED_IN", "Salt Cellar")
    tie(world, "Silent Bell", "LOCATED_IN", "Hall of Oars")
    tie(world, "Mira Voss", "RELATES_TO", "Hall of Oars", visibility="gm")
    assert [asdict(hit) for hit in ask(world, PUBLIC, expand=True).hits] == bare
    assert by_id(ask(world, expand=True))["salt-cellar"].legs["graph"].rank


def test_filters_hold_for_neighbours_too(world: World) -> None:
    assert set(by_id(ask(world, expand=True, filters={"kind": "place"}))) == {"hall-of-oars"}


def test_a_question_that_names_nobody_is_answered_as_without(world: World) -> None:
    plain, expanded = (
        lore_search(LoreQuestion(query="wet benches", expand=on), Caller(world, PUBLIC))
        for on in (False, True)
    )
    assert plain == expanded
