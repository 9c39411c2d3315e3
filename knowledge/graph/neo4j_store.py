"""The graph as Neo4j holds it: a projection that only reads; what is written goes to the authority and is copied."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import neo4j
from asgiref.sync import sync_to_async
from neo4j.exceptions import Neo4jError

from knowledge.graph import cypher
from knowledge.graph.mirror import copy_pending
from knowledge.graph.neo4j_driver import Neo4j, is_timeout
from knowledge.graph.postgres_store import PostgresGraph, unknown_entity
from knowledge.graph.projection import FOREVER, microseconds
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

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Row = dict[str, Any]


class Neo4jGraph:
    """Raises the driver's errors when Neo4j is down; `fallback` turns those into answers of the authority."""

    def __init__(self, view: View, neo: Neo4j) -> None:
        self.view = view
        self._neo = neo

    async def upsert_facts(self, facts: Sequence[GraphFact]) -> UpsertResult:
        written = await PostgresGraph(self.view).upsert_facts(facts)
        await sync_to_async(copy_pending)(self._neo)
        return written

    async def neighbors(self, node_id: UUID, depth: int = 1) -> GraphNeighborhood:
        wanted = {"start": str(node_id), "limit": MAX_NODES + 1}
        statement = cypher.reach(require_depth(depth))

        async def walk(
            transaction: neo4j.AsyncManagedTransaction,
        ) -> tuple[list[NodeOut], list[Row]]:
            rows = await _data(transaction, statement, self.view, **wanted)
            nodes = [_node(row["node"], row["depth"]) for row in rows]
            return nodes, await self._between(transaction, nodes[:MAX_NODES], depth)

        nodes, edges = await self._read(walk)
        if not nodes:
            raise unknown_entity(node_id)
        return GraphNeighborhood(
            center=node_id,
            depth=depth,
            nodes=nodes[:MAX_NODES],
            edges=[self._edge(row["edge"]) for row in edges],
            truncated=len(nodes) > MAX_NODES,
        )

    async def shortest_path(self, src_id: UUID, dst_id: UUID, max_depth: int = 4) -> GraphPath:
        statement = cypher.shortest(require_depth(max_depth))

        async def walk(
            transaction: neo4j.AsyncManagedTransaction,
        ) -> tuple[dict[str, Row], list[Row]]:
            ends = await _data(transaction, cypher.FOUND, self.view, ids=[str(src_id), str(dst_id)])
            found = {row["node"]["id"]: row["node"] for row in ends}
            if len(found) < 2:
                return found, []
            return found, await _data(
                transaction, statement, self.view, src=str(src_id), dst=str(dst_id)
            )

        found, paths = await self._read(walk)
        for end in (src_id, dst_id):
            if str(end) not in found:
                raise unknown_entity(end)
        if src_id == dst_id:
            return GraphPath(nodes=[_node(found[str(src_id)])])
        return self._path(paths[0]) if paths else GraphPath()

    async def _between(
        self, transaction: neo4j.AsyncManagedTransaction, nodes: list[NodeOut], depth: int
    ) -> list[Row]:
        inner = [str(node.id) for node in nodes if node.depth < depth]
        everyone = [str(node.id) for node in nodes]
        return await _data(transaction, cypher.BETWEEN, self.view, inner=inner, all=everyone)

    async def _read(self, walk: Any) -> Any:
        try:
            return await self._neo.read(walk)
        except Neo4jError as error:
            if is_timeout(error):
                raise TooBroad("That walk took too long. Ask with a smaller depth.") from None
            raise

    def _path(self, row: Row) -> GraphPath:
        nodes = [_node(node, step) for step, node in enumerate(row["nodes"])]
        return GraphPath(nodes=nodes, edges=[self._edge(edge) for edge in row["edges"]])

    def _edge(self, row: Row) -> EdgeOut:
        shown = self.view.audience.is_gm
        until = row.get("believed_until")
        return EdgeOut.model_construct(
            id=UUID(row["id"]),
            src=UUID(row["src"]),
            relation=row["relation"],
            dst=UUID(row["dst"]),
            label=row["label"],
            since=row.get("since"),
            until=row.get("until"),
            confidence=row["confidence"],
            source=_source(row, shown=shown),
            believed_from=_moment(row["believed_from"]),
            believed_until=_moment(until) if shown and until else None,
        )


async def _data(
    transaction: neo4j.AsyncManagedTransaction, statement: str, view: View, **wanted: Any
) -> list[Row]:
    answer = await transaction.run(statement, **_bound(view), **wanted)
    return await answer.data()


def _bound(view: View) -> dict[str, Any]:
    return {
        "world": str(view.world.pk),
        "gm": view.audience.is_gm,
        "audience": str(view.audience),
        "at": float("inf") if view.at is None else view.at,
        "believed_at": FOREVER if view.believed_at is None else microseconds(view.believed_at),
    }


def _node(row: Row, depth: int = 0) -> NodeOut:
    return NodeOut.model_construct(
        id=UUID(row["id"]),
        kind=row["kind"],
        slug=row["slug"],
        name=row["name"],
        since=row.get("since"),
        until=row.get("until"),
        depth=depth,
    )


def _source(row: Row, *, shown: bool) -> EdgeSource:
    ref, note = (row["source_ref"], row["source_note"]) if shown else ("", "")
    return EdgeSource.model_construct(kind=row["source_kind"], ref=ref, note=note)


def _moment(value: int) -> datetime:
    return EPOCH + timedelta(microseconds=value)
