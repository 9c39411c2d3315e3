"""Keep Neo4j in step with the authority: copy what the outbox names, rebuild from nothing, compare."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

import neo4j
from django.db import connection, models, transaction
from django.db.models import Min
from django.utils import timezone

from knowledge.graph import cypher
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.neo4j_driver import NEO4J_DOWN, Neo4j
from knowledge.graph.projection import copy_rows, create_schema, delete_rows, edge_row, node_row
from knowledge.graph.projection_models import GraphMirror, GraphOutbox
from worlds.models import World

BATCH = 500
ONE_COPIER = "SELECT pg_try_advisory_xact_lock(372, 1)"
ONLY_COPIER = "SELECT pg_advisory_xact_lock(372, 1)"
NO_WRITERS = "LOCK TABLE knowledge_graphnode, knowledge_graphedge IN SHARE ROW EXCLUSIVE MODE"


@dataclass(frozen=True)
class MirrorLag:
    """How far the projection is behind. `mirrored` is False where there is none."""

    is_mirrored: bool
    pending: int = 0
    seconds: float = 0.0
    problem: str = ""


def mirror_lag() -> MirrorLag:
    mirror = GraphMirror.objects.first()
    if mirror is None:
        return MirrorLag(is_mirrored=False)
    oldest: datetime | None = GraphOutbox.objects.aggregate(oldest=Min("written_at"))["oldest"]
    seconds = (timezone.now() - oldest).total_seconds() if oldest else 0.0
    return MirrorLag(True, GraphOutbox.objects.count(), seconds, mirror.problem)


def is_up_to_date(world: World) -> bool:
    """Whether Neo4j holds all that is committed of `world`."""
    return GraphMirror.objects.exists() and not GraphOutbox.objects.filter(world=world).exists()


def copy_pending(neo: Neo4j) -> int:
    """Copy all that is pending and return how many changes that was. Another copier at work: 0. Raises DOWN."""
    copied = 0
    try:
        while done := _copy_batch(neo):
            copied += done
    except NEO4J_DOWN as error:
        GraphMirror.objects.update(problem=f"{type(error).__name__}: {error}"[:2000])
        raise
    return copied


@transaction.atomic
def _copy_batch(neo: Neo4j) -> int:
    """Copy the present state of what the oldest changes touched. The outbox row goes only when Neo4j has it."""
    if not _scalar(ONE_COPIER):
        return 0
    changes = list(GraphOutbox.objects.order_by("id")[:BATCH])
    if not changes:
        return 0
    _copy(neo, {c.node_id for c in changes if c.node_id}, {c.edge_id for c in changes if c.edge_id})
    GraphOutbox.objects.filter(pk__in=[change.pk for change in changes]).delete()
    GraphMirror.objects.update(copied_at=timezone.now(), problem="")
    return len(changes)


def _copy(neo: Neo4j, node_ids: set[Any], edge_ids: set[Any]) -> None:
    nodes = list(GraphNode.objects.filter(pk__in=node_ids))
    edges = list(GraphEdge.objects.filter(pk__in=edge_ids))
    delete_rows(neo, node_ids - {node.pk for node in nodes}, edge_ids - {edge.pk for edge in edges})
    if nodes or edges:
        copy_rows(neo, nodes, edges)


def rebuild_mirror(neo: Neo4j) -> tuple[int, int]:
    """Empty Neo4j and copy everything. Return how many nodes and edges that was. Writers go on meanwhile: what they
    change is in the outbox, and `catch_up` brings it."""
    start_mirroring()
    with transaction.atomic():
        _scalar(ONLY_COPIER)
        GraphOutbox.objects.all().delete()
        neo.run(cypher.EMPTY)
        create_schema(neo)
        nodes = sum(_put(neo, rows, []) for rows in _in_batches(GraphNode.objects.all()))
        edges = sum(_put(neo, [], rows) for rows in _in_batches(GraphEdge.objects.all()))
        GraphMirror.objects.update(copied_at=timezone.now(), problem="")
    return nodes, edges


def start_mirroring() -> None:
    """From now on every write leaves a trace in the outbox; writers that began without one are waited for."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(NO_WRITERS)
        GraphMirror.objects.get_or_create()


def stop_mirroring() -> None:
    """Keep no projection any more."""
    with transaction.atomic():
        GraphMirror.objects.all().delete()
        GraphOutbox.objects.all().delete()


def find_differences(neo: Neo4j) -> list[str]:
    """Return each difference between the authority and Neo4j, in words. Asks for a moment without writers."""
    nodes = {
        row["id"]: (row, row["kind"])
        for row in map(node_row, GraphNode.objects.iterator(chunk_size=2000))
    }
    edges = {
        row["id"]: (row, (row["relation"], row["src"], row["dst"]))
        for row in map(edge_row, GraphEdge.objects.iterator(chunk_size=2000))
    }
    there_nodes = {r["row"]["id"]: (r["row"], *r["labels"]) for r in _stream(neo, cypher.ALL_NODES)}
    there_edges = {
        r["row"]["id"]: (r["row"], (r["relation"], r["src"], r["dst"]))
        for r in _stream(neo, cypher.ALL_EDGES)
    }
    return [*_differences("node", nodes, there_nodes), *_differences("edge", edges, there_edges)]


def _differences(what: str, here: dict[str, Any], there: dict[str, Any]) -> Iterator[str]:
    yield from (f"{what} {key} is missing in Neo4j" for key in here.keys() - there.keys())
    yield from (f"{what} {key} is only in Neo4j" for key in there.keys() - here.keys())
    for key in here.keys() & there.keys():
        row, identity = here[key]
        if ({name: value for name, value in row.items() if value is not None}, identity) != there[
            key
        ]:
            yield f"{what} {key} differs: {row} {identity} / {there[key]}"


def _stream(neo: Neo4j, statement: str) -> list[dict[str, Any]]:
    async def read(transaction: neo4j.AsyncManagedTransaction) -> list[dict[str, Any]]:
        return await (await transaction.run(statement)).data()

    return neo.write(read)


def _put(neo: Neo4j, nodes: list[GraphNode], edges: list[GraphEdge]) -> int:
    copy_rows(neo, nodes, edges)
    return len(nodes) + len(edges)


def _in_batches(rows: models.QuerySet[Any], size: int = 2000) -> Iterator[list[Any]]:
    stream = rows.iterator(chunk_size=size)
    while batch := list(islice(stream, size)):
        yield batch


def _scalar(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]
