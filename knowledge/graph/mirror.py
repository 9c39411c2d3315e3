"""Keep Neo4j in step with PostgreSQL: copy what the outbox names, rebuild from nothing, compare."""

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
from knowledge.graph.projection import (
    copy_rows,
    create_schema,
    delete_rows,
    to_edge_row,
    to_node_row,
)
from knowledge.graph.projection_models import GraphMirror, GraphOutbox
from worlds.audiences import Visibility
from worlds.models import World

BATCH = 500
ROWS_PER_READ = 2000
TRY_COPY_LOCK = "SELECT pg_try_advisory_xact_lock(372, 1)"
COPY_LOCK = "SELECT pg_advisory_xact_lock(372, 1)"
BLOCK_WRITERS = "LOCK TABLE knowledge_graphnode, knowledge_graphedge IN SHARE ROW EXCLUSIVE MODE"


@dataclass(frozen=True)
class MirrorLag:
    """How far the projection is behind: changes not copied yet, and the age of the oldest."""

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
    """Whether Neo4j holds every committed change of `world`."""
    return GraphMirror.objects.exists() and not GraphOutbox.objects.filter(world=world).exists()


def has_secret_ends(world: World) -> bool:
    """Whether a fact of `world` ended another one that more people may know."""
    rows = GraphEdge.objects.filter(world=world, stands_for__isnull=False)
    public = {f"ended_by{end}__visibility": Visibility.PUBLIC for end in ("", "__src", "__dst")}
    return rows.exclude(**public).exists()


def copy_pending(neo: Neo4j) -> int:
    """Copy all pending changes and return their number; 0 while another process copies. Raises
    NEO4J_DOWN."""
    total = 0
    try:
        while count := copy_batch(neo):
            total += count
    except NEO4J_DOWN as error:
        GraphMirror.objects.update(problem=f"{type(error).__name__}: {error}"[:2000])
        raise
    return total


@transaction.atomic
def copy_batch(neo: Neo4j) -> int:
    """Copy the present state of the rows that the oldest changes touched."""
    # One copier at a time: two could overwrite a newer state with an older one.
    if not fetch_value(TRY_COPY_LOCK):
        return 0
    changes = list(GraphOutbox.objects.order_by("id")[:BATCH])
    if not changes:
        return 0
    node_ids = {change.node_id for change in changes if change.node_id}
    edge_ids = {change.edge_id for change in changes if change.edge_id}
    nodes = list(GraphNode.objects.filter(pk__in=node_ids))
    edges = list(GraphEdge.objects.filter(pk__in=edge_ids))
    delete_rows(neo, node_ids - {node.pk for node in nodes}, edge_ids - {edge.pk for edge in edges})
    if nodes or edges:
        copy_rows(neo, nodes, edges)
    # Only now, after Neo4j has committed: a crash before this line copies the same state again.
    GraphOutbox.objects.filter(pk__in=[change.pk for change in changes]).delete()
    GraphMirror.objects.update(copied_at=timezone.now(), problem="")
    return len(changes)


def rebuild_mirror(neo: Neo4j) -> tuple[int, int]:
    """Empty Neo4j, copy everything, and return the numbers of nodes and edges. Writers are not
    blocked: their changes are in the outbox, and `copy_pending` copies them afterwards."""
    start_mirroring()
    node_count = edge_count = 0
    with transaction.atomic():
        fetch_value(COPY_LOCK)
        GraphOutbox.objects.all().delete()
        neo.run(cypher.DELETE_ALL)
        create_schema(neo)
        for nodes in in_batches(GraphNode.objects.all()):
            copy_rows(neo, nodes, [])
            node_count += len(nodes)
        for edges in in_batches(GraphEdge.objects.all()):
            copy_rows(neo, [], edges)
            edge_count += len(edges)
        GraphMirror.objects.update(copied_at=timezone.now(), problem="")
    return node_count, edge_count


def start_mirroring() -> None:
    """Make the triggers write each change to the outbox from now on."""
    with transaction.atomic(), connection.cursor() as cursor:
        # Waits for transactions whose writes were not recorded; without it a rebuild could miss
        # them.
        cursor.execute(BLOCK_WRITERS)
        GraphMirror.objects.get_or_create()


def stop_mirroring() -> None:
    with transaction.atomic():
        GraphMirror.objects.all().delete()
        GraphOutbox.objects.all().delete()


def find_differences(neo: Neo4j) -> list[str]:
    """Describe each difference between PostgreSQL and Neo4j. Exact only while nobody writes."""
    nodes = map(to_node_row, GraphNode.objects.iterator(chunk_size=ROWS_PER_READ))
    edges = map(to_edge_row, GraphEdge.objects.iterator(chunk_size=ROWS_PER_READ))
    own_nodes = {row["id"]: (row, row["kind"]) for row in nodes}
    own_edges = {row["id"]: (row, row["relation"], row["src"], row["dst"]) for row in edges}
    neo_nodes = {
        record["row"]["id"]: (record["row"], *record["labels"])
        for record in fetch_all(neo, cypher.ALL_NODES)
    }
    neo_edges = {
        record["row"]["id"]: (record["row"], record["relation"], record["src"], record["dst"])
        for record in fetch_all(neo, cypher.ALL_EDGES)
    }
    return [*differences("node", own_nodes, neo_nodes), *differences("edge", own_edges, neo_edges)]


def differences(what: str, here: dict[str, Any], there: dict[str, Any]) -> Iterator[str]:
    yield from (f"{what} {key} is missing in Neo4j" for key in here.keys() - there.keys())
    yield from (f"{what} {key} is only in Neo4j" for key in there.keys() - here.keys())
    for key in here.keys() & there.keys():
        row, *identity = here[key]
        # Neo4j stores no null properties.
        own = ({name: value for name, value in row.items() if value is not None}, *identity)
        if own != there[key]:
            yield f"{what} {key} differs: {own} / {there[key]}"


def fetch_all(neo: Neo4j, statement: str) -> list[dict[str, Any]]:
    async def read(tx: neo4j.AsyncManagedTransaction) -> list[dict[str, Any]]:
        return await (await tx.run(statement)).data()

    return neo.write(read)  # a write has the longer timeout that a full scan needs


def in_batches(rows: models.QuerySet[Any]) -> Iterator[list[Any]]:
    stream = rows.iterator(chunk_size=ROWS_PER_READ)
    while batch := list(islice(stream, ROWS_PER_READ)):
        yield batch


def fetch_value(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]
