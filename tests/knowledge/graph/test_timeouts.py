"""A query that takes too long ends in a clear problem, in both stores, over REST and on the
page.
"""

import time
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from knowledge.graph import cypher, mirror, store_selection
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.protocol import TooBroad, View
from retrieval.models import uuid7
from tests.cast import create_world
from tests.conftest import ApiClient
from tests.knowledge.graph.conftest import Graph
from tests.saved_rows import SavedRows
from worlds.models import World

CLIQUE = 180
FAST = 0.02
"""Seconds: the query below takes ten times as long, a read of one entity a tenth."""
CANCELLED = 6.0
"""Seconds for Neo4j, which runs `HOURS` then: it is busy when it is asked whether it is up."""
HOURS = """
UNWIND range(1, 10000000) AS a UNWIND range(1, 10000000) AS b
WITH sum(a * b % 7) AS n
MATCH (c:Entity {id: $start}) WHERE n < 0 RETURN properties(c) AS node, 0 AS depth LIMIT $limit
"""
"""A neighborhood that no planner makes fast. How long Neo4j takes for the clique depends on the
statistics that it planned the query with."""


@pytest.fixture(scope="module")
def clique(django_db_setup: None, django_db_blocker: Any) -> SavedRows:
    """The rows of a world in which everybody knows everybody: 16,110 facts among 180 people."""
    with django_db_blocker.unblock(), transaction.atomic():
        write_clique(create_world())
        rows = SavedRows.read()
        transaction.set_rollback(True)
    return rows


@pytest.fixture
def dense(clique: SavedRows, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> GraphNode:
    """One of the people of that world, which `graph` then holds. Its neighbors six steps away take
    too long."""
    near = cypher.neighborhood
    monkeypatch.setattr(cypher, "neighborhood", lambda depth: HOURS if depth == 6 else near(depth))
    clique.write()
    graph.world = World.objects.get()
    if graph.neo:
        mirror.rebuild_mirror(graph.neo)
    return GraphNode.objects.get(slug="p0")


def write_clique(world: World) -> None:
    people = [
        GraphNode(
            id=uuid7(),
            world=world,
            kind="Character",
            slug=f"p{n}",
            name=f"P {n}",
            visibility="public",
        )
        for n in range(CLIQUE)
    ]
    GraphNode.objects.bulk_create(people)
    pairs = ((a, b) for n, a in enumerate(people) for b in people[:n])
    GraphEdge.objects.bulk_create(
        GraphEdge(
            id=uuid7(),
            world=world,
            src=a,
            dst=b,
            relation_id="KNOWS",
            src_kind="Character",
            dst_kind="Character",
            visibility="public",
        )
        for a, b in pairs
    )


@pytest.mark.django_db
def test_a_query_that_takes_too_long_is_too_broad_and_the_next_one_is_answered(
    graph, dense, settings
):
    settings.GRAPH_TIMEOUT, settings.NEO4J_TIMEOUT = FAST, CANCELLED
    started = time.monotonic()
    with pytest.raises(TooBroad):
        graph.neighbors(dense.pk, 6)
    assert time.monotonic() - started < CANCELLED + 1
    settings.GRAPH_TIMEOUT = settings.NEO4J_TIMEOUT = 60
    assert len(graph.neighbors(dense.pk, 1).nodes) == CLIQUE
    assert graph.neo is None or not graph.neo.is_backing_off


@pytest.mark.django_db
def test_over_rest_it_is_a_problem_that_says_what_to_do(graph, dense, settings):
    if graph.neo:
        settings.NEO4J_URL, (settings.NEO4J_USER, settings.NEO4J_PASSWORD) = (
            graph.neo.url,
            graph.neo.auth,
        )
    client = ApiClient(graph.world, audience="public", scopes=["tools:read"])
    settings.GRAPH_TIMEOUT, settings.NEO4J_TIMEOUT = FAST, CANCELLED
    status, problem = client.get("world/graph/neighbors?entity=p0&depth=6")
    assert (status, problem["code"]) == (422, "too_broad")
    assert "smaller depth" in problem["detail"]
    settings.GRAPH_TIMEOUT = settings.NEO4J_TIMEOUT = 60
    status, near = client.get("world/graph/neighbors?entity=p0&depth=1")
    assert (status, len(near["nodes"]), near["degraded"]) == (200, CLIQUE, [])


@pytest.mark.django_db
@pytest.mark.neo4j
@pytest.mark.parametrize("graph", ["neo4j"], indirect=True)
def test_one_step_that_takes_neo4j_too_long_is_answered_by_postgresql(
    graph, dense, settings, monkeypatch
):
    """A busy Neo4j, or one that was stopped for a moment: nobody can ask for less than one step."""
    monkeypatch.setattr(cypher, "neighborhood", lambda _depth: HOURS)
    settings.NEO4J_TIMEOUT = CANCELLED
    store = store_selection.MirroredGraph(View(graph.world), graph.neo)
    near = async_to_sync(store.neighbors)(dense.pk, 1)
    assert (len(near.nodes), near.degraded) == (CLIQUE, ["graph"])


@pytest.mark.django_db
@pytest.mark.parametrize("graph", ["postgres"], indirect=True)
def test_the_page_says_so_too(graph, dense, settings, admin_user):
    client = Client()
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    settings.GRAPH_TIMEOUT = 0.001
    page = client.get(reverse("graph", args=[graph.world.slug]) + "?around=p0&depth=3")
    assert page.status_code == 200
    assert "Choose fewer steps" in page.content.decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("graph", ["postgres"], indirect=True)
def test_the_timeout_does_not_outlive_the_query(graph, dense, settings):
    settings.GRAPH_TIMEOUT = FAST
    with pytest.raises(TooBroad):
        async_to_sync(store_selection.graph_store_for(View(graph.world)).neighbors)(dense.pk, 6)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM generate_series(1, 2000000)")
        assert cursor.fetchone() == (2000000,)
