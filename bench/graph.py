"""Latency of the graph in PostgreSQL beside a live Neo4j: the same questions in turns, 100k
entities, 500k facts.

    python -m bench.graph [--nodes 100000] [--edges 500000] [--asks 200]

Needs Java and Maven (tests/knowledge/graph/neo4j_server.py fetches the server). The facts are in a
world of their own, which is deleted at the end. The ratios are more reliable than the milliseconds.
"""

import argparse
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any
from uuid import UUID

import django

POPULAR = 1000  # entities that a tenth of the facts point to, as in a real world
WARM_UP = 150


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=500_000)
    parser.add_argument("--asks", type=int, default=200)
    args = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    django.setup()
    from tests.knowledge.graph.neo4j_server import running

    with (
        running(heap="1200m", page_cache="512m") as server,
        filled_stores(args.nodes, args.edges, server) as (stores, ids),
    ):
        compare(stores, ids, args.asks)


@contextmanager
def filled_stores(
    nodes: int, edges: int, server: Any
) -> Iterator[tuple[dict[str, Any], list[UUID]]]:
    """Fill both stores with the same random graph."""
    from django.conf import settings
    from django.db import connection

    from knowledge.graph.models import GraphEdge, GraphNode
    from knowledge.graph.neo4j_driver import Neo4j
    from knowledge.graph.neo4j_store import Neo4jGraph
    from knowledge.graph.postgres_store import PostgresGraph
    from knowledge.graph.projection import copy_rows, create_schema
    from knowledge.graph.protocol import View
    from worlds.audiences import GM
    from worlds.models import World

    settings.NEO4J_TIMEOUT = 30
    world = World.objects.create(slug=f"bench-graph-{int(time.time())}", name="Bench")
    user, password = server.auth
    neo = Neo4j(server.uri, user, password, "neo4j")
    create_schema(neo)
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        people = [person_node(GraphNode, world, n) for n in range(nodes)]
        for batch in in_batches(people):
            GraphNode.objects.bulk_create(batch)
            copy_rows(neo, batch, [])
        for batch in in_batches(random_edges(GraphEdge, world, people, edges)):
            GraphEdge.objects.bulk_create(batch)
            copy_rows(neo, [], batch)
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("ANALYZE knowledge_graphnode, knowledge_graphedge")
    print(f"{nodes} entities, {edges} facts in both stores")
    try:
        view = View(world, GM)
        yield (
            {"PostgreSQL": PostgresGraph(view), "Neo4j": Neo4jGraph(view, neo)},
            [person.pk for person in people],
        )
    finally:
        neo.close()
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")
            cursor.execute("DELETE FROM knowledge_graphedge WHERE world_id = %s", [world.pk])
            cursor.execute("DELETE FROM knowledge_graphnode WHERE world_id = %s", [world.pk])
            cursor.execute("SET session_replication_role = DEFAULT")
        world.delete()


def person_node(model: Any, world: Any, n: int) -> Any:
    return model(
        world=world, kind="Character", slug=f"p{n}", name=f"Person {n}", visibility="public"
    )


def random_edges(model: Any, world: Any, people: list[Any], count: int) -> Iterator[Any]:
    rng = random.Random(37)
    seen: set[tuple[int, int]] = set()
    while len(seen) < count:
        a, b = (
            rng.randrange(len(people)),
            rng.randrange(POPULAR if rng.random() < 0.1 else len(people)),
        )
        if a == b or (a, b) in seen:
            continue
        seen.add((a, b))
        yield model(
            world=world,
            src=people[a],
            dst=people[b],
            relation_id="KNOWS",
            src_kind="Character",
            dst_kind="Character",
            visibility="public",
        )


def in_batches(rows: Any, size: int = 2000) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for row in rows:
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def compare(stores: dict[str, Any], ids: list[UUID], asks: int) -> None:
    from asgiref.sync import async_to_sync

    rng = random.Random(73)
    starts = [rng.choice(ids) for _ in range(asks + WARM_UP)]
    pairs = [(rng.choice(ids), rng.choice(ids)) for _ in range(asks + WARM_UP)]
    for name, questions, ask in (
        ("adjacent (tools)", [([start],) for start in starts], "adjacent"),
        ("neighbors(depth=2)", [(start, 2) for start in starts], "neighbors"),
        ("shortest_path(max_depth=4)", [(*pair, 4) for pair in pairs], "shortest_path"),
    ):
        calls = {store: async_to_sync(getattr(stores[store], ask)) for store in stores}
        print_times(name, measure_times(calls, questions))


def measure_times(
    calls: dict[str, Callable[..., Any]], questions: list[tuple[Any, ...]]
) -> dict[str, list[float]]:
    """Ask each question of each store in turn; the first questions warm up and do not count."""
    times: dict[str, list[float]] = {store: [] for store in calls}
    for number, question in enumerate(questions):
        answers = []
        for store, call in calls.items():
            begun = time.perf_counter()
            answers.append(call(*question))
            if number >= WARM_UP:
                times[store].append(1000 * (time.perf_counter() - begun))
        assert len(set(map(size_of, answers))) == 1, f"the stores differ on {question}"
    return times


def size_of(answer: Any) -> int:
    return len(answer.facts if hasattr(answer, "facts") else answer.nodes)


def print_times(name: str, times: dict[str, list[float]]) -> None:
    for store, some in times.items():
        ordered = sorted(some)
        p95 = ordered[int(len(some) * 0.95)]
        print(
            f"{name:28} {store:11} p50 {median(some):7.2f} ms  p95 {p95:7.2f}  min {ordered[0]:.2f}"
        )
    print(f"{name:28} ratio of p50: {median(times['PostgreSQL']) / median(times['Neo4j']):.2f}")


if __name__ == "__main__":
    main()
