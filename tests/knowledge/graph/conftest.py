"""A live Neo4j, required in CI and skipped elsewhere with the reason, and both graph stores
behind one fixture."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from knowledge.graph import cypher, mirror
from knowledge.graph.neo4j_driver import Neo4j
from knowledge.graph.neo4j_store import Neo4jGraph
from knowledge.graph.postgres_store import PostgresGraph
from knowledge.graph.projection import create_schema
from knowledge.graph.protocol import GraphStore, View
from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
from tests.knowledge.graph.neo4j_server import Neo4jServer, running, what_is_missing
from worlds.audiences import GM, Audience
from worlds.models import World


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Neo4jServer]:
    if missing := what_is_missing():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)
    with running(quick=True) as server:
        yield server


@pytest.fixture(scope="session")
def neo_connection(neo4j_server: Neo4jServer) -> Iterator[Neo4j]:
    neo = Neo4j(neo4j_server.uri, *neo4j_server.auth, "neo4j")
    yield neo
    neo.close()


@pytest.fixture
def neo(neo_connection: Neo4j, db: None, settings: Any) -> Neo4j:
    """An empty Neo4j that mirrors the graph."""
    settings.NEO4J_TIMEOUT = 60  # the first query of each kind is compiled, on a busy machine
    neo_connection.run(cypher.DELETE_ALL)
    create_schema(neo_connection)
    mirror.start_mirroring()
    return neo_connection


@dataclass
class Graph:
    """A world's graph in one of the stores, written and read in one line."""

    world: World
    neo: Neo4j | None = None

    def store(
        self, audience: Audience = GM, at: float | None = None, believed_at: datetime | None = None
    ) -> GraphStore:
        view = View(self.world, audience, at, believed_at)
        return Neo4jGraph(view, self.neo) if self.neo else PostgresGraph(view)

    def upsert(self, *facts: GraphFact) -> Any:
        return async_to_sync(self.store().upsert_facts)(facts)

    def neighbors(self, node: Any, depth: int = 1, **view: Any) -> Any:
        return async_to_sync(self.store(**view).neighbors)(node, depth)

    def path(self, src: Any, dst: Any, max_depth: int = 4, **view: Any) -> Any:
        return async_to_sync(self.store(**view).shortest_path)(src, dst, max_depth)

    def path_length(self, src: Any, dst: Any, max_depth: int = 4, **view: Any) -> int | None:
        path = self.path(src, dst, max_depth, **view)
        return len(path.edges) if path.nodes else None

    def sync_mirror(self) -> None:
        """Copy writes that bypassed the store."""
        if self.neo:
            mirror.copy_pending(self.neo)


@pytest.fixture(params=["postgres", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def graph(request: pytest.FixtureRequest, world: World) -> Graph:
    return Graph(world, request.getfixturevalue("neo") if request.param == "neo4j" else None)


def node(name: str, kind: str = "Character", **more: Any) -> GraphFact:
    return GraphFact(node=NodeFact(name=name, kind=kind, **{"visibility": "public", **more}))


def edge(src: Any, relation: str, dst: Any, **more: Any) -> GraphFact:
    return GraphFact(
        edge=EdgeFact(src=src, relation=relation, dst=dst, **{"visibility": "public", **more})
    )
