"""Choose the store that answers: Neo4j where it is configured and up to date, else PostgreSQL."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar
from uuid import UUID

from asgiref.sync import sync_to_async
from pydantic import BaseModel

from knowledge.graph.mirror import is_up_to_date
from knowledge.graph.neo4j_driver import NEO4J_DOWN, Neo4j, site_neo4j
from knowledge.graph.neo4j_store import Neo4jGraph
from knowledge.graph.postgres_store import PostgresGraph
from knowledge.graph.protocol import GraphStore, View
from knowledge.graph.read_metrics import NEO4J, count_read
from knowledge.graph.schemas import GraphFact, GraphNeighborhood, GraphPath, UpsertResult

Answer = TypeVar("Answer", bound=BaseModel)


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

    async def neighbors(self, node_id: UUID, depth: int = 1) -> GraphNeighborhood:
        return await self._answer("neighbors", lambda store: store.neighbors(node_id, depth))

    async def shortest_path(self, src_id: UUID, dst_id: UUID, max_depth: int = 4) -> GraphPath:
        return await self._answer(
            "shortest_path", lambda store: store.shortest_path(src_id, dst_id, max_depth)
        )

    async def _answer(
        self, operation: str, ask: Callable[[GraphStore], Awaitable[Answer]]
    ) -> Answer:
        if not self._neo.is_backing_off and not await sync_to_async(is_up_to_date)(self.view.world):
            count_read(NEO4J, operation, "behind")
            return await ask(self._authority)
        if self._neo.may_try():
            try:
                return await ask(self._projection)
            except NEO4J_DOWN:
                pass
        else:
            count_read(NEO4J, operation, "backing_off")
        return (await ask(self._authority)).model_copy(update={"degraded": ["graph"]})


def graph_store_for(view: View) -> GraphStore:
    neo = site_neo4j()
    return MirroredGraph(view, neo) if neo else PostgresGraph(view)
