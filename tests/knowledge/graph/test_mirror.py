"""The projection follows the authority through crashes; while it is behind or down, PostgreSQL
answers."""

import os
import random
from io import StringIO

import pytest
from asgiref.sync import async_to_sync
from django.core.management import CommandError, call_command

from knowledge.graph import mirror
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.neo4j_driver import NEO4J_DOWN, Neo4j
from knowledge.graph.postgres_store import PostgresGraph
from knowledge.graph.projection_models import GraphOutbox
from knowledge.graph.protocol import View
from knowledge.graph.store_selection import MirroredGraph, graph_store_for
from knowledge.graph.upsert import upsert_facts
from knowledge.tasks import mirror_graph
from tests.knowledge.graph.conftest import edge, node
from tests.knowledge.graph.neo4j_server import free_port
from worlds.audiences import GM, PUBLIC

pytestmark = [pytest.mark.django_db, pytest.mark.neo4j]
WRITES = int(os.environ.get("MIRROR_WRITES", "1500"))
"""`MIRROR_WRITES=10000` writes that many."""


def write_cast(world):
    return upsert_facts(
        world, [node("Mira Voss"), node("Joss Vale"), edge("Mira Voss", "KNOWS", "Joss Vale")]
    )


def test_every_way_of_writing_fills_the_outbox(world, neo):
    mira, joss = (fact.id for fact in write_cast(world).nodes)
    mirror.copy_pending(neo)
    GraphNode.objects.filter(pk=mira).update(name="Mira of the Landing")
    GraphEdge.objects.filter(src__in=[mira, joss]).delete()
    assert not mirror.is_up_to_date(world)
    mirror.copy_pending(neo)
    assert mirror.is_up_to_date(world)
    assert mirror.find_differences(neo) == []


def test_a_difference_is_found(world, neo):
    write_cast(world)
    mirror.copy_pending(neo)
    neo.run("MATCH (n:Entity {name: 'Joss Vale'}) SET n.visibility = 'gm'")
    neo.run("MATCH ()-[r:KNOWS]->() DELETE r")
    assert sorted(difference.split()[0] for difference in mirror.find_differences(neo)) == [
        "edge",
        "node",
    ]


def test_a_rebuild_removes_the_differences(world, neo):
    write_cast(world)
    neo.run("CREATE (:Entity {id: 'stray', world: 'nowhere', known_to: []})")
    assert mirror.rebuild_mirror(neo) == (2, 1)
    assert mirror.find_differences(neo) == []


def test_while_neo4j_is_behind_the_authority_answers(world, neo):
    joss = write_cast(world).nodes[1].id
    store = MirroredGraph(View(world, PUBLIC), neo)
    mirror.copy_pending(neo)
    GraphEdge.objects.update(visibility="gm")
    neighborhood = async_to_sync(store.neighbors)(joss)
    assert [n.name for n in neighborhood.nodes] == ["Joss Vale"]
    assert neighborhood.degraded == []


def test_while_neo4j_is_down_postgresql_answers_and_says_so(world, db):
    mira, joss = (fact.id for fact in write_cast(world).nodes)
    mirror.start_mirroring()
    store = MirroredGraph(
        View(world, GM), Neo4j(f"bolt://127.0.0.1:{free_port()}", "neo4j", "none", "neo4j")
    )
    for _once_failing_then_resting in range(2):
        assert async_to_sync(store.neighbors)(mira).degraded == ["graph"]
        assert len(async_to_sync(store.shortest_path)(mira, joss).edges) == 1


def test_without_neo4j_nothing_is_degraded(world, db, settings):
    settings.NEO4J_URL = ""
    assert isinstance(graph_store_for(View(world, GM)), PostgresGraph)
    with pytest.raises(CommandError, match="NEO4J_URL"):
        call_command("mirror_graph")


def test_the_command_rebuilds_verifies_and_reports(world, neo, neo4j_server, settings):
    settings.NEO4J_URL, (settings.NEO4J_USER, settings.NEO4J_PASSWORD) = (
        neo4j_server.uri,
        neo4j_server.auth,
    )
    write_cast(world)
    out = StringIO()
    call_command("mirror_graph", "--rebuild", "--verify", stdout=out)
    assert "Rebuilt: 2 entities, 1 facts." in out.getvalue()
    assert "No difference." in out.getvalue()
    upsert_facts(world, [node("Late Comer")])
    assert mirror.mirror_lag().pending == 1
    assert mirror_graph() == 1
    neo.run("MATCH ()-[r:KNOWS]->() DELETE r")
    with pytest.raises(CommandError, match="1 differences"):
        call_command("mirror_graph", "--verify", stdout=out)


@pytest.mark.timeout(1500)
def test_thousands_of_writes_and_two_kills_lose_nothing(world, neo, neo4j_server):
    rng = random.Random(37)
    write_count = 0
    kills = [WRITES // 3, 2 * WRITES // 3]
    while write_count < WRITES:
        write_count += WRITERS[rng.choices(range(len(WRITERS)), WEIGHTS)[0]](world, rng)
        if kills and write_count > kills[0]:
            kills.pop(0)
            neo4j_server.kill()
            write_count += write_people(world, rng)
            with pytest.raises(NEO4J_DOWN):
                mirror.copy_pending(neo)
            neo4j_server.start()
        elif rng.random() < 0.1:
            mirror.copy_pending(neo)
    mirror.copy_pending(neo)
    assert kills == []
    assert not GraphOutbox.objects.exists()
    assert mirror.find_differences(neo) == []


def write_people(world, rng):
    people = [node(f"Person {rng.getrandbits(40)}") for _ in range(100)]
    upsert_facts(world, people)
    return 100


def write_acquaintances(world, rng):
    """Rows go straight to the table, as an import writes them."""
    people = list(GraphNode.objects.filter(world=world).order_by("?")[:120])
    edges = [
        GraphEdge(world=world, src=a, dst=b, relation_id="KNOWS", src_kind=a.kind, dst_kind=b.kind)
        for a, b in zip(people[::2], people[1::2], strict=False)
    ]
    return len(GraphEdge.objects.bulk_create(edges, ignore_conflicts=True))


def change_visibility(world, rng):
    ids = list(
        GraphEdge.objects.filter(world=world).order_by("?").values_list("pk", flat=True)[:80]
    )
    return GraphEdge.objects.filter(pk__in=ids).update(
        visibility=rng.choice(["public", "gm"]), confidence=rng.random()
    )


def rename_people(world, rng):
    ids = list(
        GraphNode.objects.filter(world=world).order_by("?").values_list("pk", flat=True)[:60]
    )
    return GraphNode.objects.filter(pk__in=ids).update(name=f"Renamed {rng.random()}")


def delete_people(world, rng):
    ids = list(GraphNode.objects.filter(world=world).order_by("?").values_list("pk", flat=True)[:5])
    return GraphNode.objects.filter(pk__in=ids).delete()[0]


WRITERS = [write_people, write_acquaintances, change_visibility, rename_people, delete_people]
WEIGHTS = [3, 8, 5, 3, 1]
