"""The graph as PostgreSQL rows: the authority."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled

from knowledge.graph import sql
from knowledge.graph.bfs import Hop, shortest
from knowledge.graph.protocol import MAX_NODES, TooBroad, View, require_depth
from knowledge.graph.schemas import (
    EdgeOut,
    EdgeSource,
    GraphFact,
    GraphNeighborhood,
    GraphPath,
    NodeOut,
    UpsertResult,
)
from knowledge.graph.upsert import upsert_facts
from retrieval.errors import NotFound

STEPS_PER_NODE = 20
SET_TIMEOUT = "SELECT set_config('statement_timeout', %s, true)"


class PostgresGraph:
    def __init__(self, view: View) -> None:
        self.view = view

    async def upsert_facts(self, facts: Sequence[GraphFact]) -> UpsertResult:
        return await sync_to_async(upsert_facts)(self.view.world, facts)

    async def neighbors(self, node_id: UUID, depth: int = 1) -> GraphNeighborhood:
        return await sync_to_async(neighbors)(self.view, node_id, depth)

    async def shortest_path(self, src_id: UUID, dst_id: UUID, max_depth: int = 4) -> GraphPath:
        return await sync_to_async(shortest_path)(self.view, src_id, dst_id, max_depth)


def neighbors(
    view: View, node_id: UUID, depth: int = 1, *, limit: int = MAX_NODES
) -> GraphNeighborhood:
    steps = limit * STEPS_PER_NODE
    wanted = {"start": node_id, "depth": require_depth(depth), "limit": limit + 1, "steps": steps}
    with _in_time():
        rows = _rows(sql.REACH, view, **wanted)
        if not rows:
            raise unknown_entity(node_id)
        nodes = [node_out(row) for row in rows[:limit]]
        edges = _between(view, nodes, depth)
    truncated = len(rows) > limit or rows[0][-1] >= steps
    return GraphNeighborhood(
        center=node_id, depth=depth, nodes=nodes, edges=edges, truncated=truncated
    )


def shortest_path(view: View, src_id: UUID, dst_id: UUID, max_depth: int = 4) -> GraphPath:
    require_depth(max_depth)
    with _in_time():
        ends = {row[0]: row for row in _rows(sql.NODES, view, ids=[src_id, dst_id])}
        for end in (src_id, dst_id):
            if end not in ends:
                raise unknown_entity(end)
        hops = shortest(lambda frontier: _expand(view, frontier), src_id, dst_id, max_depth)
        return _path(view, src_id, hops) if hops is not None else GraphPath()


def edges_between(view: View, nodes: Sequence[UUID]) -> list[EdgeOut]:
    """Return every fact that joins two of `nodes`."""
    with _in_time():
        rows = _rows(sql.BETWEEN, view, inner=list(nodes), outer=[], all=list(nodes))
    return sorted((edge_out(row, view) for row in rows), key=lambda edge: edge.id)


def unknown_entity(node_id: UUID) -> NotFound:
    return NotFound(f"There is no entity {node_id} here.")


def _expand(view: View, frontier: list[UUID]) -> list[Hop]:
    return [(here, edge, there) for here, edge, there in _rows(sql.EXPAND, view, frontier=frontier)]


def _path(view: View, src_id: UUID, hops: list[Hop]) -> GraphPath:
    order = [src_id, *(there for _here, _edge, there in hops)]
    nodes = {row[0]: node_out(row) for row in _rows(sql.NODES, view, ids=order)}
    edges = {
        row[0]: edge_out(row, view) for row in _rows(sql.EDGES, view, ids=[hop[1] for hop in hops])
    }
    return GraphPath(
        nodes=[nodes[node].model_copy(update={"depth": step}) for step, node in enumerate(order)],
        edges=[edges[edge] for _here, edge, _there in hops],
    )


def _between(view: View, nodes: list[NodeOut], depth: int) -> list[EdgeOut]:
    """Return the edges that the walk went along: those with an end fewer than `depth` steps away."""
    inner = [node.id for node in nodes if node.depth < depth]
    outer = [node.id for node in nodes if node.depth == depth]
    rows = _rows(sql.BETWEEN, view, inner=inner, outer=outer, all=inner + outer)
    return sorted((edge_out(row, view) for row in rows), key=lambda edge: edge.id)


def node_out(row: Sequence[Any]) -> NodeOut:
    node, kind, slug, name, since, until, *depth = row
    return NodeOut.model_construct(
        id=node,
        kind=kind,
        slug=slug,
        name=name,
        since=since,
        until=until,
        depth=depth[0] if depth else 0,
    )


def edge_out(row: Sequence[Any], view: View) -> EdgeOut:
    (
        edge,
        src,
        relation,
        dst,
        label,
        since,
        until,
        confidence,
        kind,
        ref,
        note,
        believed_from,
        believed_until,
    ) = row
    shown = view.audience.is_gm
    return EdgeOut.model_construct(
        id=edge,
        src=src,
        relation=relation,
        dst=dst,
        label=label,
        since=since,
        until=until,
        confidence=confidence,
        source=EdgeSource.model_construct(
            kind=kind, ref=ref if shown else "", note=note if shown else ""
        ),
        believed_from=believed_from,
        believed_until=believed_until if shown else None,
    )


def bound(view: View) -> dict[str, Any]:
    """Return the parameters that stand for the view in every statement."""
    return {
        "world": view.world.pk,
        "gm": view.audience.is_gm,
        "audience": json.dumps([str(view.audience)]),
        "at": float("inf") if view.at is None else view.at,
        "believed_at": "infinity" if view.believed_at is None else view.believed_at.isoformat(),
    }


def _rows(statement: str, view: View, **wanted: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, {**bound(view), **wanted})
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


@contextmanager
def _in_time() -> Iterator[None]:
    """Give up a statement after `GRAPH_TIMEOUT` seconds, in the database."""
    within = connection.in_atomic_block
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('statement_timeout')") if within else None
            before = cursor.fetchone()[0] if within else ""
            cursor.execute(SET_TIMEOUT, [f"{max(1, int(settings.GRAPH_TIMEOUT * 1000))}ms"])
            yield
            if within:
                cursor.execute(SET_TIMEOUT, [before])
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TooBroad(
                "That walk took too long. Ask with a smaller depth or from a less connected node."
            ) from None
        raise
