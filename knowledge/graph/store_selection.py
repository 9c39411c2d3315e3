"""Choose the store that answers: Neo4j where it is configured and up to date, else PostgreSQL."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import TypeVar
from uuid import UUID

from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings

from knowledge.graph.mirror import has_secret_ends, is_up_to_date
from knowledge.graph.neo4j_driver import NEO4J_DOWN, Neo4j, site_neo4j
from knowledge.graph.neo4j_store import Neo4jGraph
from knowledge.graph.postgres_store import PostgresGraph, adjacent_facts, neighbors
from knowledge.graph.protocol import MAX_NODES, AdjacentFacts, GraphStore, TooBroad, View
from knowledge.graph.read_metrics import NEO4J, count_read
from knowledge.graph.schemas import GraphFact, GraphNeighborhood, GraphPath, UpsertResult

Answer = TypeVar("Answer")


class MirroredGraph:
    """Reads from Neo4j. PostgreSQL answers while Neo4j is behind (a fact hidden a moment ago
    must not be shown) and while it is down; then the answer says `degraded: ["graph"]`."""

    def __init__(self, view: View, neo: Neo4j) -> None:
        self.view = view
        self._neo = neo
        self._projection = Neo4jGraph(view, neo)
        self._authority = PostgresGraph(view)

    async def upsert_facts(self, facts: Sequence[GraphFact]) -> UpsertResult:
        return await self._authority.upsert_facts(facts)

    async def neighbors(
        self, node_id: UUID, depth: int = 1, *, limit: int = MAX_NODES
    ) -> GraphNeighborhood:
        """As with `adjacent`, one step is answered; nobody can ask for less."""
        try:
            answer, degraded = await self._answer(
                "neighbors", lambda store: store.neighbors(node_id, depth, limit=limit)
            )
        except TooBroad:
            if depth > 1:
                raise
            answer = await self._authority.neighbors(node_id, depth, limit=limit)
            degraded = ["graph"]
        return answer.model_copy(update={"degraded": degraded})

    async def shortest_path(self, src_id: UUID, dst_id: UUID, max_depth: int = 4) -> GraphPath:
        answer, degraded = await self._answer(
            "shortest_path", lambda store: store.shortest_path(src_id, dst_id, max_depth)
        )
        return answer.model_copy(update={"degraded": degraded})

    async def adjacent(self, nodes: Collection[UUID]) -> AdjacentFacts:
        """One step is never too broad for PostgreSQL, so it answers when Neo4j takes too long."""
        try:
            answer, degraded = await self._answer("adjacent", lambda store: store.adjacent(nodes))
        except TooBroad:
            answer, degraded = await self._authority.adjacent(nodes), ["graph"]
        return replace(answer, degraded=degraded)

    async def _answer(
        self, operation: str, ask: Callable[[GraphStore], Awaitable[Answer]]
    ) -> tuple[Answer, list[str]]:
        """Return the answer, and the part that was down."""
        if not self._neo.is_backing_off and not await sync_to_async(is_up_to_date)(self.view.world):
            count_read(NEO4J, operation, "behind")
            return await ask(self._authority), []
        # The projection has no ends that only some may know.
        if not self.view.audience.is_gm and await sync_to_async(has_secret_ends)(self.view.world):
            count_read(NEO4J, operation, "secret_ends")
            return await ask(self._authority), []
        if self._neo.may_try():
            try:
                return await ask(self._projection), []
            except NEO4J_DOWN:
                pass
        else:
            count_read(NEO4J, operation, "backing_off")
        return await ask(self._authority), ["graph"]


def graph_store_for(view: View) -> GraphStore:
    neo = site_neo4j()
    return MirroredGraph(view, neo) if neo else PostgresGraph(view)


def tools_neo4j() -> Neo4j | None:
    """Return the connection from which tools and pages read, or None where they read PostgreSQL."""
    return site_neo4j() if settings.NEO4J_IN_TOOLS else None


def read_adjacent(view: View, nodes: Collection[UUID]) -> AdjacentFacts:
    """Return the facts that join `nodes` to others, for tools and pages."""
    if neo := tools_neo4j():
        return async_to_sync(MirroredGraph(view, neo).adjacent)(nodes)
    return AdjacentFacts(adjacent_facts(view, nodes))


def read_neighbors(view: View, center: UUID, depth: int, *, limit: int) -> GraphNeighborhood:
    """Return the nearest `limit` nodes, for pages. Raises `NotFound` and `TooBroad`."""
    if neo := tools_neo4j():
        return async_to_sync(MirroredGraph(view, neo).neighbors)(center, depth, limit=limit)
    return neighbors(view, center, depth, limit=limit)
