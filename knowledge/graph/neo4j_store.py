"""The graph store on Neo4j, a projection: reads come from Neo4j, writes go to PostgreSQL and are
copied."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import neo4j
from asgiref.sync import sync_to_async

from knowledge.graph import cypher
from knowledge.graph.mirror import copy_pending
from knowledge.graph.neo4j_driver import Neo4j, QueryTooSlow
from knowledge.graph.postgres_store import PostgresGraph, facts_by_id, unknown_entity
from knowledge.graph.presenters import to_edge_out, to_node_out
from knowledge.graph.projection import FOREVER, to_microseconds
from knowledge.graph.protocol import MAX_NODES, AdjacentFacts, View, query_timeout, require_depth
from knowledge.graph.read_metrics import NEO4J, counted_read
from knowledge.graph.schemas import (
    EdgeOut,
    GraphFact,
    GraphNeighborhood,
    GraphPath,
    NodeOut,
    UpsertResult,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Row = dict[str, Any]


class Neo4jGraph:
    """Raises the driver's errors while Neo4j is down; `MirroredGraph` answers from PostgreSQL
    then."""

    def __init__(self, view: View, neo: Neo4j) -> None:
        self.view = view
        self._neo = neo

    async def upsert_facts(self, facts: Sequence[GraphFact]) -> UpsertResult:
        result = await PostgresGraph(self.view).upsert_facts(facts)
        await sync_to_async(copy_pending)(self._neo)
        return result

    async def neighbors(
        self, node_id: UUID, depth: int = 1, *, limit: int = MAX_NODES
    ) -> GraphNeighborhood:
        with counted_read(NEO4J, "neighbors"):
            return await self._neighbors(node_id, depth, limit)

    async def adjacent(self, nodes: Collection[UUID]) -> AdjacentFacts:
        """Neo4j finds the facts, and PostgreSQL returns these rows: they have what Neo4j does not
        copy, such as the direction in which a fact was written."""

        async def read(tx: neo4j.AsyncManagedTransaction) -> list[Row]:
            return await self._fetch(tx, cypher.ADJACENT, ids=[str(node) for node in nodes])

        with counted_read(NEO4J, "adjacent"):
            rows = await self._read(read)
        ids = [UUID(row["edge"]) for row in rows]
        return AdjacentFacts(await sync_to_async(facts_by_id)(self.view, ids))

    async def shortest_path(self, src_id: UUID, dst_id: UUID, max_depth: int = 4) -> GraphPath:
        with counted_read(NEO4J, "shortest_path"):
            return await self._shortest_path(src_id, dst_id, max_depth)

    async def _neighbors(self, node_id: UUID, depth: int, limit: int) -> GraphNeighborhood:
        statement = cypher.neighborhood(require_depth(depth))

        async def read(tx: neo4j.AsyncManagedTransaction) -> tuple[list[NodeOut], list[Row]]:
            rows = await self._fetch(tx, statement, start=str(node_id), limit=limit + 1)
            nodes = [node_from(row["node"], row["depth"]) for row in rows]
            nearest = nodes[:limit]
            edges = await self._fetch(
                tx,
                cypher.EDGES_BETWEEN,
                inner=[str(node.id) for node in nearest if node.depth < depth],
                all=[str(node.id) for node in nearest],
            )
            return nodes, edges

        nodes, edges = await self._read(read)
        if not nodes:
            raise unknown_entity(node_id)
        return GraphNeighborhood(
            center=node_id,
            depth=depth,
            nodes=nodes[:limit],
            edges=[self._edge_from(row["edge"]) for row in edges],
            truncated=len(nodes) > limit,
        )

    async def _shortest_path(self, src_id: UUID, dst_id: UUID, max_depth: int) -> GraphPath:
        statement = cypher.shortest_path(require_depth(max_depth))
        src, dst = str(src_id), str(dst_id)

        async def read(tx: neo4j.AsyncManagedTransaction) -> tuple[dict[str, Row], list[Row]]:
            rows = await self._fetch(tx, cypher.VISIBLE_NODES, ids=[src, dst])
            ends = {row["node"]["id"]: row["node"] for row in rows}
            # shortestPath() of a node to itself is an error; fewer than two ends need no path
            # either.
            paths = await self._fetch(tx, statement, src=src, dst=dst) if len(ends) == 2 else []
            return ends, paths

        ends, paths = await self._read(read)
        for end in (src_id, dst_id):
            if str(end) not in ends:
                raise unknown_entity(end)
        if src_id == dst_id:
            return GraphPath(nodes=[node_from(ends[src])])
        if not paths:
            return GraphPath()
        nodes = [node_from(node, step) for step, node in enumerate(paths[0]["nodes"])]
        return GraphPath(nodes=nodes, edges=[self._edge_from(edge) for edge in paths[0]["edges"]])

    async def _read(self, work: Any) -> Any:
        try:
            return await self._neo.read(work)
        except QueryTooSlow:
            raise query_timeout() from None

    async def _fetch(
        self, tx: neo4j.AsyncManagedTransaction, statement: str, **values: Any
    ) -> list[Row]:
        view = self.view
        believed_at = FOREVER if view.believed_at is None else to_microseconds(view.believed_at)
        result = await tx.run(
            statement,
            world=str(view.world.pk),
            gm=view.audience.is_gm,
            names=list(view.audience.names),
            members=[list(names) for names in view.audience.names_of_members],
            at=float("inf") if view.at is None else view.at,
            believed_at=believed_at,
            **values,
        )
        return await result.data()

    def _edge_from(self, row: Row) -> EdgeOut:
        until = row.get("believed_until")
        values = {
            **row,
            **{name: UUID(row[name]) for name in ("id", "src", "dst")},
            "believed_from": to_datetime(row["believed_from"]),
            "believed_until": to_datetime(until) if until else None,
        }
        return to_edge_out(values, is_gm=self.view.audience.is_gm)


def node_from(row: Row, depth: int = 0) -> NodeOut:
    return to_node_out({**row, "id": UUID(row["id"])}, depth)


def to_datetime(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)
