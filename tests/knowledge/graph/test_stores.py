"""One suite, two stores: PostgreSQL and a live Neo4j answer alike."""

import random
from datetime import timedelta
from uuid import uuid4

import networkx
import pytest
from django.utils import timezone
from pydantic import ValidationError

from knowledge.graph.models import GraphEdge, GraphNode
from retrieval.errors import Invalid, NotFound
from tests.knowledge.graph.conftest import Graph, edge, node
from worlds.audiences import PUBLIC, Audience
from worlds.models import World

pytestmark = pytest.mark.django_db
LANTERNBEARERS, OATH = Audience.parse("party:lanternbearers"), Audience.parse("party:gilded-oath")


@pytest.fixture
def cast(graph):
    result = graph.upsert(
        node("Mira Voss"),
        node("Joss Vale"),
        node("Ferrymen's Guild", "Faction"),
        node("Ferrymark", "Location"),
        node("Harrow", "Location"),
        node("Salt Key", "Item"),
        edge(
            "Mira Voss",
            "ALLY_WITH",
            "Ferrymen's Guild",
            label="sworn",
            source_kind="lore",
            source_ref="guild#1",
        ),
        edge("Ferrymen's Guild", "LOCATED_IN", "Ferrymark"),
        edge("Joss Vale", "OWNS", "Salt Key"),
        edge("Joss Vale", "ENEMY_OF", "Ferrymen's Guild"),
    )
    return dict(
        zip(
            ["mira", "joss", "guild", "ferrymark", "harrow", "key"],
            (n.id for n in result.nodes),
            strict=True,
        )
    )


def names(neighborhood):
    return {n.name: n.depth for n in neighborhood.nodes}


def test_neighbors_come_with_their_distance(graph, cast):
    assert names(graph.neighbors(cast["mira"], 2)) == {
        "Mira Voss": 0,
        "Ferrymen's Guild": 1,
        "Ferrymark": 2,
        "Joss Vale": 2,
    }


def test_an_edge_has_its_source_and_label(graph, cast):
    (fact,) = graph.neighbors(cast["mira"]).edges
    assert (fact.relation, fact.label, fact.source.kind, fact.source.ref) == (
        "ALLY_WITH",
        "sworn",
        "lore",
        "guild#1",
    )


def test_others_are_not_shown_what_the_source_says(graph, cast):
    (fact,) = graph.neighbors(cast["mira"], audience=PUBLIC).edges
    assert (fact.source.kind, fact.source.ref) == ("lore", "")


def test_inverse_and_symmetric_relations_are_stored_once(graph, cast):
    again = graph.upsert(
        edge("Salt Key", "OWNED_BY", "Joss Vale"), edge("Ferrymen's Guild", "ENEMY_OF", "Joss Vale")
    )
    assert [fact.outcome for fact in again.edges] == ["unchanged", "unchanged"]
    assert [e.relation for e in graph.neighbors(cast["key"]).edges] == ["OWNED_BY"]


def test_the_shortest_path_has_its_nodes_and_edges_in_order(graph, cast):
    path = graph.path(cast["key"], cast["ferrymark"])
    assert [n.name for n in path.nodes] == [
        "Salt Key",
        "Joss Vale",
        "Ferrymen's Guild",
        "Ferrymark",
    ]
    assert [e.relation for e in path.edges] == ["OWNED_BY", "ENEMY_OF", "LOCATED_IN"]


def test_a_path_longer_than_max_depth_is_no_path(graph, cast):
    assert graph.path_length(cast["key"], cast["ferrymark"], max_depth=2) is None


def test_a_path_to_itself_is_empty(graph, cast):
    assert graph.path_length(cast["mira"], cast["mira"]) == 0


def test_no_path_where_nothing_leads(graph, cast):
    assert graph.path_length(cast["mira"], cast["harrow"]) is None


def test_writing_twice_changes_nothing(graph, cast):
    before = GraphEdge.objects.count()
    result = graph.upsert(node("Mira Voss"), edge("Ferrymen's Guild", "LOCATED_IN", "Ferrymark"))
    assert [fact.outcome for fact in (*result.nodes, *result.edges)] == ["unchanged", "unchanged"]
    assert GraphEdge.objects.count() == before


def test_time_in_the_world(graph, cast):
    graph.upsert(
        edge("Mira Voss", "LOCATED_IN", "Harrow", since=1, until=10),
        edge("Mira Voss", "LOCATED_IN", "Ferrymark", since=10),
    )
    assert "Harrow" in names(graph.neighbors(cast["mira"], at=5))
    assert "Harrow" not in names(graph.neighbors(cast["mira"], at=10))
    assert "Ferrymark" in names(graph.neighbors(cast["mira"], at=10))
    assert {"Harrow", "Ferrymark"} & names(graph.neighbors(cast["mira"])).keys() == {"Ferrymark"}


def test_what_was_believed_then(graph, cast):
    graph.upsert(edge("Mira Voss", "KNOWS", "Joss Vale", label="by sight"))
    then = timezone.now()
    graph.upsert(edge("Mira Voss", "KNOWS", "Joss Vale", label="by sight", confidence=0.5))
    now = graph.neighbors(cast["mira"]).edges
    before = graph.neighbors(cast["mira"], believed_at=then).edges
    assert {e.confidence for e in now if e.relation == "KNOWS"} == {0.5}
    assert {e.confidence for e in before if e.relation == "KNOWS"} == {1.0}
    with pytest.raises(NotFound):
        graph.neighbors(cast["mira"], believed_at=then - timedelta(days=1))


def test_a_hidden_node_is_no_step_on_the_way(graph, cast):
    GraphNode.objects.filter(pk=cast["guild"]).update(visibility="gm")
    graph.sync_mirror()
    assert names(graph.neighbors(cast["mira"], 2, audience=PUBLIC)) == {"Mira Voss": 0}
    assert graph.path_length(cast["mira"], cast["ferrymark"], audience=PUBLIC) is None
    with pytest.raises(NotFound):
        graph.neighbors(cast["guild"], audience=PUBLIC)
    with pytest.raises(NotFound):
        graph.path(cast["mira"], cast["guild"], audience=PUBLIC)


def test_a_fact_revealed_to_one_party_is_hidden_from_the_other(graph, cast):
    graph.upsert(
        edge(
            "Mira Voss",
            "KNOWS",
            "Joss Vale",
            visibility="revealed",
            known_to=["party:lanternbearers"],
        )
    )
    assert "Joss Vale" in names(graph.neighbors(cast["mira"], audience=LANTERNBEARERS))
    assert "Joss Vale" not in names(graph.neighbors(cast["mira"], audience=OATH))
    assert "Joss Vale" not in names(graph.neighbors(cast["mira"], audience=PUBLIC))


def test_another_world_is_not_there(graph, cast):
    elsewhere = Graph(World.objects.create(slug="elsewhere", name="Elsewhere"), graph.neo)
    stranger = elsewhere.upsert(node("Mira Voss")).nodes[0].id
    for ask in (lambda: graph.neighbors(stranger), lambda: graph.path(cast["mira"], stranger)):
        with pytest.raises(NotFound):
            ask()
    with pytest.raises(NotFound):
        graph.upsert(edge("Joss Vale", "KNOWS", stranger))


@pytest.mark.parametrize("depth", [0, -1, 50])
def test_an_unusable_depth_is_refused(graph, cast, depth):
    with pytest.raises(Invalid, match="depth"):
        graph.neighbors(cast["mira"], depth)
    with pytest.raises(Invalid, match="depth"):
        graph.path(cast["mira"], cast["joss"], depth)


def test_an_unknown_node_is_not_found(graph, cast):
    with pytest.raises(NotFound):
        graph.neighbors(uuid4())


def test_kinds_that_may_not_be_joined_are_named(graph, cast):
    with pytest.raises(
        Invalid,
        match=r"LOCATED_IN may not join Location to Character.*Character–LOCATED_IN→Location",
    ):
        graph.upsert(edge("Ferrymark", "LOCATED_IN", "Mira Voss"))


def test_an_unknown_relation_is_named_with_the_known_ones(graph, cast):
    with pytest.raises(Invalid, match=r"ENEMY_OF"):
        graph.upsert(edge("Mira Voss", "HATES", "Joss Vale"))


def test_a_loop_is_refused(graph, cast):
    with pytest.raises(Invalid, match="itself"):
        graph.upsert(edge("Mira Voss", "KNOWS", "Mira Voss"))


def test_a_cycle_of_parts_is_refused(graph, cast):
    graph.upsert(
        node("Docks", "Location"),
        edge("Docks", "PART_OF", "Harrow"),
        edge("Harrow", "PART_OF", "Ferrymark"),
    )
    with pytest.raises(Invalid, match="cycle"):
        graph.upsert(edge("Ferrymark", "PART_OF", "Docks"))


def test_an_end_before_the_beginning_is_refused():
    with pytest.raises(ValidationError, match="after since"):
        edge("Mira Voss", "KNOWS", "Joss Vale", since=10, until=3)


def test_a_name_that_fits_two_is_not_guessed(graph, cast):
    graph.upsert(node("Mira Vale"))
    with pytest.raises(NotFound) as problem:
        graph.upsert(edge("Mira", "KNOWS", "Joss Vale"))
    assert set(problem.value.candidates) == {"Mira Vale", "Mira Voss"}


def test_one_bad_fact_leaves_nothing_of_its_batch(graph, cast):
    with pytest.raises(NotFound):
        graph.upsert(node("Nobody Yet"), edge("Mira Voss", "KNOWS", "Zzyzx"))
    assert not GraphNode.objects.filter(name="Nobody Yet").exists()


EVIL = [
    "'; DROP TABLE knowledge_graphnode; --",
    "x'}) DETACH DELETE n //",
    "`) MATCH (n) DETACH DELETE n //",
    "{name: $x}",
]


@pytest.mark.parametrize("name", EVIL)
def test_code_in_a_name_is_stored_as_text(graph, cast, name):
    result = graph.upsert(node(name), edge(name, "KNOWS", "Mira Voss", label=name[:80]))
    assert names(graph.neighbors(result.nodes[0].id, 1)) == {name: 0, "Mira Voss": 1}
    assert len(graph.neighbors(cast["mira"], 2).nodes) == 5


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs_agree_with_networkx(graph, seed):
    rng = random.Random(seed)
    result = graph.upsert(*(node(f"Person {n}", slug=f"p{n}") for n in range(30)))
    ids = [fact.id for fact in result.nodes]
    pairs = {tuple(rng.sample(range(30), 2)) for _ in range(rng.choice([20, 35, 60]))}
    graph.upsert(*(edge(ids[a], "KNOWS", ids[b]) for a, b in pairs))
    truth = networkx.Graph([(ids[a], ids[b]) for a, b in pairs])
    truth.add_nodes_from(ids)
    for start in rng.sample(ids, 5):
        depth = rng.randint(1, 4)
        expected = networkx.single_source_shortest_path_length(truth, start, cutoff=depth)
        neighborhood = graph.neighbors(start, depth)
        assert {n.id: n.depth for n in neighborhood.nodes} == expected
        edges = {frozenset((e.src, e.dst)) for e in neighborhood.edges}
        assert edges == {
            frozenset(p) for p in truth.edges if min(expected.get(x, 9) for x in p) < depth
        }
    for src, dst in [rng.sample(ids, 2) for _ in range(12)]:
        length = (
            networkx.shortest_path_length(truth, src, dst)
            if networkx.has_path(truth, src, dst)
            else 99
        )
        assert graph.path_length(src, dst, 4) == (length if length <= 4 else None)
