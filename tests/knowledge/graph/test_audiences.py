"""What is hidden changes nothing: an audience gets the answers of a world in which the hidden
things do not exist."""

import random

import pytest

from knowledge.fact_check.schemas import Assertion
from knowledge.fact_check.tool import lore_assert
from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.graph_page import best_connected
from knowledge.graph.protocol import View
from retrieval.errors import NotFound
from tests.knowledge.graph.conftest import Graph, edge, node
from worlds.audiences import PUBLIC, Audience
from worlds.callers import Caller
from worlds.models import World

pytestmark = pytest.mark.django_db
PARTY = Audience.parse("party:lanternbearers")
KINDS = ["Character"] * 8 + ["Faction"] * 3 + ["Location"] * 4 + ["Item"] * 3
RELATIONS = {
    ("Character", "Character"): ["KNOWS", "ALLY_WITH", "ENEMY_OF"],
    ("Character", "Faction"): ["ALLY_WITH", "ENEMY_OF", "PART_OF"],
    ("Character", "Location"): ["LOCATED_IN"],
    ("Item", "Character"): ["OWNED_BY"],
    ("Item", "Location"): ["LOCATED_IN"],
}
HIDDEN = {"visibility": "gm"}
SHOWN = [{"visibility": "public"}, {"visibility": "revealed", "known_to": ["party:lanternbearers"]}]
OTHERS = {"visibility": "revealed", "known_to": ["party:gilded-oath"]}


def random_world(rng):
    """Return (nodes, edges) as (facts, whether the party may know it)."""
    nodes = [(f"{kind} {n}", kind, rng.random() < 0.7) for n, kind in enumerate(KINDS)]
    edges = []
    for _ in range(70):
        (a, kind_a, shown_a), (b, kind_b, shown_b) = rng.sample(nodes, 2)
        if relations := RELATIONS.get((kind_a, kind_b)):
            since = rng.choice([None, rng.randint(0, 50)])
            edges.append(
                (a, rng.choice(relations), b, since, shown_a and shown_b and rng.random() < 0.7)
            )
    return nodes, edges


def write_world(graph, nodes, edges, rng, *, only_shown):
    def visibility_of(shown):
        return rng.choice(SHOWN) if shown else rng.choice([HIDDEN, OTHERS])

    facts = [
        node(name, kind, slug=name.lower().replace(" ", "-"), **visibility_of(shown))
        for name, kind, shown in nodes
        if shown or not only_shown
    ]
    facts += [
        edge(a, relation, b, since=since, **visibility_of(shown))
        for a, relation, b, since, shown in edges
        if shown or not only_shown
    ]
    return graph.upsert(*facts)


def answers(graph, slugs, at):
    """Everything the party can ask, in terms that do not depend on ids."""
    nodes, edges = best_connected(View(graph.world, PARTY, at))
    ids = {n.slug: n.id for n in nodes}
    answers_by_query = {"page": (sorted(ids), len(edges))}
    for slug in slugs:
        if slug in ids:
            near = graph.neighbors(ids[slug], 2, audience=PARTY, at=at)
            answers_by_query[slug] = sorted((n.slug, n.depth) for n in near.nodes), len(near.edges)
            answers_by_query[slug, "paths"] = [
                graph.path_length(ids[slug], ids[other], audience=PARTY, at=at)
                for other in sorted(ids)
            ]
    caller = Caller(world=graph.world, audience=PARTY)
    for a in slugs[:6]:
        for b, relation in (
            (slugs[9], "ALLY_WITH"),
            (slugs[12], "LOCATED_IN"),
            (slugs[3], "ENEMY_OF"),
        ):
            triple = {"subject": a, "relation": relation, "object": b}
            said = lore_assert(Assertion(fact=triple, at=at), caller)
            answers_by_query[a, relation] = (
                said.result,
                said.reason,
                said.contested,
                len(said.sources),
                said.candidates,
            )
    answers_by_query["contradictions"] = open_contradictions(graph.world, PARTY).count()
    return answers_by_query


@pytest.mark.parametrize("seed", range(3))
def test_hidden_entities_and_facts_change_no_answer(graph, seed):
    rng = random.Random(seed)
    nodes, edges = random_world(rng)
    bare = Graph(World.objects.create(slug="bare", name="Bare"), graph.neo)
    write_world(graph, nodes, edges, rng, only_shown=False)
    write_world(bare, nodes, edges, rng, only_shown=True)
    slugs = [name.lower().replace(" ", "-") for name, _kind, _shown in nodes]
    for at in (None, 25):
        assert answers(graph, slugs, at) == answers(bare, slugs, at)


def test_a_hidden_name_and_an_unknown_one_get_the_same_answer(graph):
    graph.upsert(node("Quiet Water", "Faction", visibility="gm"), node("Mira Voss"))
    hidden, unknown = (
        lore_assert(
            Assertion(fact=f"Mira Voss is allied with {name}"),
            Caller(world=graph.world, audience=PUBLIC),
        )
        for name in ("Quiet Water", "Bright Stone")
    )
    assert hidden == unknown


def test_a_path_through_a_hidden_fact_is_not_found_by_its_ends(graph):
    result = graph.upsert(
        node("A Person"), node("B Person"), edge("A Person", "KNOWS", "B Person", visibility="gm")
    )
    a, b = (fact.id for fact in result.nodes)
    assert graph.path_length(a, b) == 1
    assert graph.path_length(a, b, audience=PUBLIC) is None
    with pytest.raises(NotFound):
        graph.neighbors(result.edges[0].id, audience=PUBLIC)
