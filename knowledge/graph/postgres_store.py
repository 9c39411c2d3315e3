"""The graph store on PostgreSQL: the authoritative one."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.db.models import Q
from django.utils.translation import gettext as _
from psycopg.errors import QueryCanceled

from knowledge.graph import sql
from knowledge.graph.bfs import Hop, shortest_hops
from knowledge.graph.models import GraphEdge
from knowledge.graph.presenters import to_edge_out, to_node_out
from knowledge.graph.protocol import MAX_NODES, AdjacentFacts, View, query_timeout, require_depth
from knowledge.graph.querysets import FactQuerySet
from knowledge.graph.read_metrics import POSTGRES, counted_read
from knowledge.graph.schemas import (
    EdgeOut,
    GraphFact,
    GraphNeighborhood,
    GraphPath,
    NodeOut,
    UpsertResult,
)
from knowledge.graph.upsert import upsert_facts
from retrieval.errors import NotFound

STEPS_PER_NODE = 20
"""How many rows per wanted node the recursive query may produce before it stops: dense graphs
repeat nodes."""
SET_TIMEOUT = "SELECT set_config('statement_timeout', %s, true)"


class PostgresGraph:
    def __init__(self, view: View) -> None:
        self.view = view

    async def upsert_facts(self, facts: Sequence[GraphFact]) -> UpsertResult:
        return await sync_to_async(upsert_facts)(self.view.world, facts)

    async def neighbors(
        self, node_id: UUID, depth: int = 1, *, limit: int = MAX_NODES
    ) -> GraphNeighborhood:
        return await sync_to_async(neighbors)(self.view, node_id, depth, limit=limit)

    async def adjacent(self, nodes: Collection[UUID]) -> AdjacentFacts:
        return AdjacentFacts(await sync_to_async(adjacent_facts)(self.view, nodes))

    async def shortest_path(self, src_id: UUID, dst_id: UUID, max_depth: int = 4) -> GraphPath:
        return await sync_to_async(shortest_path)(self.view, src_id, dst_id, max_depth)


@counted_read(POSTGRES, "neighbors")
def neighbors(
    view: View, node_id: UUID, depth: int = 1, *, limit: int = MAX_NODES
) -> GraphNeighborhood:
    """Return the nearest `limit` nodes within `depth` edges, and the edges that lead to them."""
    max_steps = limit * STEPS_PER_NODE
    values = {"start": node_id, "depth": require_depth(depth), "max_steps": max_steps}
    with statement_timeout():
        rows = fetch(sql.NEIGHBORHOOD, view, **values, limit=limit + 1)
        if not rows:
            raise unknown_entity(node_id)
        nodes = [to_node_out(row, row["depth"]) for row in rows[:limit]]
        # Edges between two nodes of the outermost ring are not part of the answer.
        edges = fetch_edges_between(
            view,
            inner=[node.id for node in nodes if node.depth < depth],
            outer=[node.id for node in nodes if node.depth == depth],
        )
    is_truncated = len(rows) > limit or rows[0]["steps"] >= max_steps
    return GraphNeighborhood(
        center=node_id, depth=depth, nodes=nodes, edges=edges, truncated=is_truncated
    )


@counted_read(POSTGRES, "shortest_path")
def shortest_path(view: View, src_id: UUID, dst_id: UUID, max_depth: int = 4) -> GraphPath:
    require_depth(max_depth)
    with statement_timeout():
        ends = fetch_nodes(view, [src_id, dst_id])
        for end in (src_id, dst_id):
            if end not in ends:
                raise unknown_entity(end)
        hops = shortest_hops(
            lambda frontier: [Hop(**row) for row in fetch(sql.HOPS, view, frontier=frontier)],
            src_id,
            dst_id,
            max_depth,
        )
        if hops is None:
            return GraphPath()
        order = [src_id, *(hop.dst for hop in hops)]
        nodes = fetch_nodes(view, order)
        rows = fetch(sql.EDGES, view, ids=[hop.edge for hop in hops])
    edges = {row["id"]: to_edge_out(row, is_gm=view.audience.is_gm) for row in rows}
    return GraphPath(
        nodes=[nodes[node].model_copy(update={"depth": step}) for step, node in enumerate(order)],
        edges=[edges[hop.edge] for hop in hops],
    )


@counted_read(POSTGRES, "adjacent")
def adjacent_facts(view: View, nodes: Collection[UUID]) -> list[GraphEdge]:
    """Return the facts of the view's day that have an end in `nodes`, in the order of
    `AdjacentFacts`."""
    return sorted_facts(view.facts().filter(Q(src__in=nodes) | Q(dst__in=nodes)), view)


def facts_by_id(view: View, ids: Collection[UUID]) -> list[GraphEdge]:
    """Return the facts with these ids that the view shows, in the order of `AdjacentFacts`."""
    return sorted_facts(view.facts().filter(pk__in=ids), view) if ids else []


def sorted_facts(facts: FactQuerySet, view: View) -> list[GraphEdge]:
    order = ("-confidence", "-believed_from", "pk")
    return list(facts.valid_on(view.at).order_by(*order))


def edges_between(view: View, nodes: Sequence[UUID]) -> list[EdgeOut]:
    """Return every fact that joins two of `nodes`."""
    with statement_timeout():
        return fetch_edges_between(view, inner=list(nodes), outer=[])


def unknown_entity(node_id: UUID) -> NotFound:
    return NotFound(_("There is no entity %(node_id)s here.") % {"node_id": node_id})


def fetch_edges_between(view: View, *, inner: list[UUID], outer: list[UUID]) -> list[EdgeOut]:
    """Return the edges with one end in `inner` and the other in `inner` or `outer`."""
    rows = fetch(sql.EDGES_BETWEEN, view, inner=inner, outer=outer, all=inner + outer)
    edges = [to_edge_out(row, is_gm=view.audience.is_gm) for row in rows]
    return sorted(edges, key=lambda edge: edge.id)


def fetch_nodes(view: View, ids: Sequence[UUID]) -> dict[UUID, NodeOut]:
    return {row["id"]: to_node_out(row) for row in fetch(sql.NODES, view, ids=list(ids))}


def fetch(statement: str, view: View, **values: Any) -> list[dict[str, Any]]:
    """Run a statement of `sql` for `view` and return its rows by column name."""
    view_values: dict[str, Any] = {
        "world": view.world.pk,
        "gm": view.audience.is_gm,
        "audience": view.audience.known_path,
        "at": float("inf") if view.at is None else view.at,
        "believed_at": "infinity" if view.believed_at is None else view.believed_at.isoformat(),
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, {**view_values, **values})
        columns = [column.name for column in cursor.description]
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


@contextmanager
def statement_timeout() -> Iterator[None]:
    """Let PostgreSQL cancel a statement of this block after `GRAPH_TIMEOUT` seconds; then raise
    `TooBroad`."""
    in_transaction = connection.in_atomic_block
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            before = ""
            if in_transaction:
                cursor.execute("SELECT current_setting('statement_timeout')")
                before = cursor.fetchone()[0]
            cursor.execute(SET_TIMEOUT, [f"{max(1, int(settings.GRAPH_TIMEOUT * 1000))}ms"])
            yield
            # The setting lasts until the end of the transaction, not of a savepoint: an outer one
            # gets its own back.
            if in_transaction:
                cursor.execute(SET_TIMEOUT, [before])
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise query_timeout() from None
        raise
