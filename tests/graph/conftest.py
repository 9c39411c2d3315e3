"""A live Neo4j for the tests that want one: required in CI, skipped elsewhere with the reason."""

import os
from collections.abc import Iterator

import pytest

from tests.graph.neo4j_server import Neo4jServer, running, what_is_missing


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Neo4jServer]:
    if missing := what_is_missing():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)
    with running() as server:
        yield server
