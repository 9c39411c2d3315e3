"""A fact that somebody does not know ends nothing for them: who owned the ring yesterday owns it
still, for all they know."""

import pytest

from knowledge.fact_check.schemas import Assertion
from knowledge.fact_check.tool import lore_assert
from knowledge.graph.adjacency import neighbors_of_slug
from knowledge.graph.contradiction_models import Contradiction
from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.decisions import resolve_contradiction, undo_decision
from knowledge.graph.fact_store import retract_facts
from knowledge.graph.graph_page import day_range
from knowledge.graph.manual_facts import save_manual_fact
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.protocol import View
from knowledge.graph.store_selection import MirroredGraph
from tests.knowledge.graph.conftest import Graph, edge, node
from worlds.audiences import GM, PUBLIC, Audience
from worlds.callers import Caller
from worlds.reveals import reveal

pytestmark = pytest.mark.django_db
PARTY = Audience.parse("party:lanternbearers")
HIDDEN = {"visibility": "gm"}


@pytest.fixture
def graph(world):
    return Graph(world)


def write_owners(graph, **theft):
    """The ring is Ada's; on day 100 Bo took it, of which only `theft` says who knows."""
    graph.upsert(
        node("Ring", "Item"), node("Ada"), node("Bo"), node("Cy", **HIDDEN),
        edge("Ring", "OWNED_BY", "Ada", since=10),
    )  # fmt: skip
    sent = {"since": 100, "succeeds": True, **HIDDEN, **theft}
    return graph.upsert(edge("Ring", "OWNED_BY", sent.pop("dst", "Bo"), **sent))


def owners(graph, audience, at=None):
    ring = GraphNode.objects.get(world=graph.world, slug="ring")
    near = graph.neighbors(ring.pk, audience=audience, at=at)
    names = {each.id: each.name for each in near.nodes}
    return sorted((names[fact.dst], fact.until) for fact in near.edges)


def assert_ring_is(graph, name, audience, at=None):
    caller = Caller(world=graph.world, audience=audience)
    return lore_assert(Assertion(fact=f"{name} owns the Ring", at=at), caller).result


@pytest.mark.neo4j
def test_neo4j_is_not_asked_for_what_has_secret_ends(world, neo):
    """It has no ends that only some may know."""
    mirrored = Graph(world, neo)
    mirrored.store = lambda audience=GM, at=None, **_more: MirroredGraph(
        View(world, audience, at), neo
    )
    write_owners(mirrored)
    mirrored.sync_mirror()
    assert owners(mirrored, PUBLIC) == [("Ada", None)]
    assert owners(mirrored, GM) == [("Bo", None)]


@pytest.mark.parametrize("at", [None, 150])
def test_a_hidden_successor_ends_nothing_for_who_must_not_know(graph, at):
    write_owners(graph)
    assert owners(graph, PUBLIC, at) == [("Ada", None)]
    assert owners(graph, GM, at) == [("Bo", None)]
    assert assert_ring_is(graph, "Ada", PUBLIC, at) == "true"
    assert assert_ring_is(graph, "Bo", PUBLIC, at) == "false"
    assert assert_ring_is(graph, "Ada", GM, at) == "false"
    near = neighbors_of_slug("ring", View(graph.world, PUBLIC)).nearest
    assert [each.node.name for each in near] == ["Ada"]


def test_the_row_that_players_know_is_the_one_from_before(graph):
    graph.upsert(
        node("Ring", "Item"), node("Ada"), node("Bo"), edge("Ring", "OWNED_BY", "Ada", since=10)
    )
    ring = GraphNode.objects.get(slug="ring").pk
    before = graph.neighbors(ring, audience=PUBLIC)
    graph.upsert(edge("Ring", "OWNED_BY", "Bo", since=100, succeeds=True, **HIDDEN))
    assert graph.neighbors(ring, audience=PUBLIC) == before
    assert day_range(View(graph.world, PUBLIC)) is None


def test_a_successor_who_is_hidden_ends_nothing_either(graph):
    write_owners(graph, dst="Cy", visibility="public")
    assert owners(graph, PUBLIC) == [("Ada", None)]
    assert owners(graph, GM) == [("Cy", None)]


def test_an_open_successor_ends_it_for_all(graph):
    write_owners(graph, visibility="public")
    assert owners(graph, PUBLIC) == owners(graph, GM) == [("Bo", None)]
    assert owners(graph, PUBLIC, at=50) == [("Ada", 100)]


def test_who_learns_of_the_successor_learns_of_the_end(graph):
    theft = write_owners(graph)
    reveal(GraphEdge.objects.get(pk=theft.edges[0].id), PARTY)
    assert owners(graph, PARTY) == [("Bo", None)]
    assert owners(graph, PUBLIC) == [("Ada", None)]


def test_a_correction_of_the_ended_fact_reaches_players_without_its_end(graph):
    write_owners(graph)
    row = GraphEdge.objects.believed_now().get(dst__slug="ada")
    row.label = "wears"
    save_manual_fact(row, by="kay")
    told = View(graph.world, PUBLIC).facts()
    assert [(each.label, each.until) for each in told] == [("wears", None)]
    assert [each.until for each in View(graph.world, GM).facts().filter(label="wears")] == [100]


def test_a_corrected_successor_is_still_hidden(graph):
    theft = write_owners(graph)
    row = GraphEdge.objects.get(pk=theft.edges[0].id)
    row.label = "stole"
    save_manual_fact(row, by="kay")
    assert owners(graph, PUBLIC) == [("Ada", None)]


def test_a_retracted_fact_goes_for_all(graph):
    write_owners(graph)
    retract_facts([GraphEdge.objects.believed_now().get(dst__slug="ada")], because="never true")
    assert owners(graph, PUBLIC) == []


def test_a_successor_that_is_deleted_for_good_takes_its_end_along_for_players(graph):
    theft = write_owners(graph)
    GraphEdge.objects.filter(pk=theft.edges[0].id).delete()
    assert owners(graph, PUBLIC) == [("Ada", None)]


def test_a_later_open_successor_ends_it_for_players_too(graph):
    write_owners(graph)
    graph.upsert(node("Dee"), edge("Ring", "OWNED_BY", "Dee", since=200, succeeds=True))
    assert owners(graph, PUBLIC) == owners(graph, GM) == [("Dee", None)]
    assert owners(graph, PUBLIC, at=150) == [("Ada", 200)]
    assert owners(graph, GM, at=150) == [("Bo", 200)]


def test_a_decision_for_a_hidden_fact_ends_the_open_one_in_secret(graph):
    write_owners(graph, succeeds=False)
    clash = Contradiction.objects.get()
    resolve_contradiction(clash, how="keep_second", reason="He stole it.", by="kay")
    assert owners(graph, PUBLIC) == [("Ada", None)]
    assert owners(graph, GM) == [("Bo", None)]
    undo_decision(clash)
    assert owners(graph, PUBLIC) == [("Ada", None)]
    assert owners(graph, GM) == [("Ada", None), ("Bo", None)]
    assert not open_contradictions(graph.world, PUBLIC).exists()
