"""Embedding and counting after a write: a task soon after it, and a sweep that misses nothing."""

import logging

from celery import shared_task
from django.db import transaction

from retrieval.domains import get_passage_model, passage_models
from retrieval.embedders import vector_cache
from retrieval.errors import EmbedderDown
from retrieval.indexing import statistics
from retrieval.indexing.embed import embed_pending
from retrieval.indexing.upkeep import index_vectors, recount_changed

logger = logging.getLogger(__name__)

TASK_LIMIT = 512
"""Passages of one task: it stays short, so that a worker can stop; another task continues."""


def embed_soon(domain: str) -> None:
    """Call within the transaction that writes passages, to embed them after its commit."""
    # Not a partial: a robust callback that fails is logged by its name.
    transaction.on_commit(lambda: embed.delay(domain), robust=True)


@shared_task
def embed(domain: str) -> int:
    """Embed stale passages of `domain`; enqueue another task if there are more."""
    try:
        store_count = embed_pending(get_passage_model(domain), limit=TASK_LIMIT)
    except EmbedderDown as problem:
        logger.warning("%s: not embedded now, the sweep tries again: %s", domain, problem)
        return 0
    if store_count == TASK_LIMIT:
        embed.delay(domain)
    return store_count


@shared_task
def sweep() -> dict[str, int]:
    """Update what no task did: stale vectors, outdated counts, a vector index that is due."""
    counts = {}
    for model in passage_models():
        recount_changed(model)
        counts[model.search_config.domain] = embed(model.search_config.domain)
        index_vectors(model)
    return counts


@shared_task
def prune_vectors() -> int:
    """Delete cached vectors unused for `VECTOR_CACHE_DAYS`."""
    return vector_cache.prune_vectors()


@shared_task
def count_words() -> None:
    """Count the words of every scope again: only this removes deleted passages from the counts."""
    for model in passage_models():
        statistics.count_words(model)
