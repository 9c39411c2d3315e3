"""Fixtures over the scripted server; imported by `tests/conftest.py`, so that every test has
them.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from retrieval.embedders import clear_query_caches
from tests.loopback.server import Loopback


@pytest.fixture
def openai_server() -> Iterator[Loopback]:
    server = Loopback()
    yield server
    server.close()


@pytest.fixture
def hosted_embedder(openai_server: Loopback, settings: Any) -> Loopback:
    """EMBEDDER=openai on the scripted server, with waits that suit a test."""
    settings.EMBEDDER = "openai"
    settings.OPENAI_BASE_URL = openai_server.url
    settings.OPENAI_API_KEY = "test-key"
    settings.EMBEDDING_TIMEOUT = 2.0
    settings.EMBEDDING_QUERY_TIMEOUT = 1.0
    settings.EMBEDDING_REST = 0.0
    clear_query_caches()
    return openai_server


@pytest.fixture
def scripted_llm(openai_server: Loopback, settings: Any) -> Loopback:
    """LLM_MODEL=scripted on the scripted server, with waits that suit a test."""
    settings.LLM_MODEL = "scripted"
    settings.LLM_BASE_URL = openai_server.url
    settings.LLM_API_KEY = "test-key"
    settings.LLM_TIMEOUT = 2.0
    return openai_server
