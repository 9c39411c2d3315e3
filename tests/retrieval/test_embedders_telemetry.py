"""Calls of the model are counted; what the cache answers is not."""

import pytest

from retrieval.embedders import get_embedder
from tests.counters import Counted


@pytest.mark.django_db
def test_calls_and_tokens_are_counted_once(counted: Counted) -> None:
    for _twice in range(2):
        get_embedder().embed_document(["The tide was low.", "Mira Voss"])
    grown = counted()
    assert grown["memory37.embed.calls"] == 1
    assert grown["memory37.embed.tokens"] == 6
