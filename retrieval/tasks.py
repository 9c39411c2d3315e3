"""Work after a write. A hint makes it soon; the sweep makes it certain."""

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
"""Passages: a task stays short, so that a worker can be stopped, and the rest is the next one's."""


def embed_soon(domain: str) -> None:
    """Call within the transaction that writes passages: they are embedded right after it
    commits."""
    transaction.on_commit(
        lambda: embed.delay(domain), robust=True
    )  # a partial has no name for the log


@shared_task
def embed(domain: str) -> int:
    """Embed what is stale in `domain`, and go on in another task while there is more."""
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
    """Pick up whatever no task did: stale vectors, outdated counts, a vector index that is due."""
    counts = {}
    for model in passage_models():
        recount_changed(model)
        counts[model.search_config.domain] = embed(model.search_config.domain)
        index_vectors(model)
    return counts


@shared_task
def prune_vectors() -> int:
    """Delete cached vectors that nobody used for long."""
    return vector_cache.prune_vectors()


@shared_task
def count_words() -> None:
    """Count every word of every scope anew: deleted passages leave the counts only here."""
    for model in passage_models():
        statistics.count_words(model)
