"""Unchanged text is never embedded twice, and what was deleted for good is not remembered."""

from datetime import timedelta
from threading import Thread
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from retrieval.embedders import get_embedder, vector_cache
from retrieval.embedders.vector_cache import clear_query_caches
from retrieval.errors import EmbedderDown
from retrieval.models import CachedVector
from tests.loopback import Loopback, status, wrong_width

MIRA = "Mira Voss keeps the ledgers of the Ferrymen's Guild."
DRAGON = "A dragon sleeps below the salt mine."


@pytest.fixture
def _empty_caches(db: None) -> None:
    """Worlds that a whole module shares are committed, and so are the vectors of their texts."""
    CachedVector.objects.all().delete()


@pytest.mark.django_db
def test_a_document_is_embedded_once(hosted_embedder: Loopback) -> None:
    first = get_embedder("lore").embed_document([MIRA, DRAGON, MIRA])
    again = get_embedder("lore").embed_document([DRAGON, MIRA])
    assert hosted_embedder.embeddings.requests == [
        {**hosted_embedder.embeddings.last, "input": [MIRA, DRAGON]}
    ]
    assert np.array_equal(first, again[[1, 0, 1]])
    assert np.linalg.norm(again, axis=1) == pytest.approx([1, 1], abs=1e-3)


@pytest.mark.django_db
def test_only_what_is_new_is_asked_for(hosted_embedder: Loopback) -> None:
    get_embedder("lore").embed_document([MIRA])
    get_embedder("lore").embed_document([MIRA, DRAGON])
    assert hosted_embedder.embeddings.last["input"] == [DRAGON]


@pytest.mark.django_db
def test_another_width_is_another_vector(hosted_embedder: Loopback) -> None:
    assert get_embedder("lore").embed_document([MIRA]).shape == (1, 1024)
    assert get_embedder("srd").embed_document([MIRA]).shape == (1, 1536)


def test_a_query_is_embedded_once_in_a_while(hosted_embedder: Loopback) -> None:
    first = get_embedder("lore").embed_query([MIRA])
    assert np.array_equal(get_embedder("lore").embed_query([MIRA, MIRA])[1:], first)
    assert len(hosted_embedder.embeddings.requests) == 1
    clear_query_caches()
    get_embedder("lore").embed_query([MIRA])
    assert len(hosted_embedder.embeddings.requests) == 2


def test_a_failed_query_is_not_remembered(hosted_embedder: Loopback) -> None:
    hosted_embedder.embeddings.then(wrong_width(3))
    with pytest.raises(EmbedderDown):
        get_embedder("lore").embed_query([MIRA])
    assert get_embedder("lore").embed_query([MIRA]).shape == (1, 1024)


def test_many_threads_may_ask_at_once(hosted_embedder: Loopback) -> None:
    rows: list[Any] = []
    asking = [
        Thread(target=lambda: rows.append(get_embedder("lore").embed_query([MIRA, DRAGON])))
        for _ in range(8)
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert len(rows) == 8
    assert all(np.array_equal(row, rows[0]) for row in rows)


@pytest.mark.django_db
@pytest.mark.usefixtures("_empty_caches")
def test_what_was_embedded_before_a_failure_is_kept(hosted_embedder: Loopback) -> None:
    texts = [f"Day {day} on the river" for day in range(300)]
    hosted_embedder.embeddings.then(
        lambda body: status(401) if len(body["input"]) < 256 else wrong_width(1024)(body)
    )
    hosted_embedder.embeddings.then(status(401))
    with pytest.raises(EmbedderDown):
        get_embedder("lore").embed_document(texts)
    assert CachedVector.objects.count() == 256


@pytest.mark.django_db
def test_nothing_is_asked_for_nothing(hosted_embedder: Loopback) -> None:
    assert get_embedder("lore").embed_document([]).shape == (0, 1024)
    assert get_embedder("lore").embed_query([]).shape == (0, 1024)
    assert hosted_embedder.embeddings.requests == []


@pytest.mark.django_db
def test_deletion_for_good_takes_the_vectors_along() -> None:
    get_embedder().embed_document([MIRA, DRAGON])
    assert vector_cache.delete_vectors([MIRA]) == 1
    assert list(vector_cache.load_vectors(get_embedder().name, [MIRA, DRAGON])) == [DRAGON]


@pytest.mark.django_db
@pytest.mark.usefixtures("_empty_caches")
def test_vectors_nobody_used_for_long_are_pruned(settings: Any) -> None:
    get_embedder().embed_document([MIRA, DRAGON])
    CachedVector.objects.update(
        used_at=timezone.now() - timedelta(days=settings.VECTOR_CACHE_DAYS + 1)
    )
    get_embedder().embed_document([DRAGON])
    assert vector_cache.prune_vectors() == 1
    assert list(vector_cache.load_vectors(get_embedder().name, [MIRA, DRAGON])) == [DRAGON]


@pytest.mark.django_db
@pytest.mark.parametrize("text", ["", "\0", "\ud800", "x" * 1_000_000])
def test_odd_texts_have_a_place_too(text: str) -> None:
    assert np.array_equal(
        get_embedder().embed_document([text]), get_embedder().embed_document([text])
    )
