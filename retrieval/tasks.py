"""Embedding and counting after a write: a task soon after it, and a sweep that misses nothing.

These are bulk tasks: a worker runs one at a time (`memory_site.site_task`), in small steps.
"""

import logging
from datetime import datetime, timedelta

from celery import shared_task
from django.db import transaction
from django.utils import timezone

from retrieval.domains import get_passage_model, passage_models
from retrieval.embedders import get_configured_embedder, serving_models, vector_cache
from retrieval.errors import EmbedderDown
from retrieval.indexing.embed import embed_pending, pending_passages
from retrieval.indexing.locks import exclusive
from retrieval.indexing.model_switch import (
    is_switch_due,
    mark_late_stale,
    passages_to_stage,
    record_serving_model,
    stage_vectors,
    swap_vectors,
)
from retrieval.indexing.stop_request import is_stop_requested
from retrieval.indexing.stored_words import is_outdated, renew_words
from retrieval.indexing.upkeep import index_vectors, recount_changed, recount_outdated
from retrieval.models import Passage

logger = logging.getLogger(__name__)

SWITCH_WINDOW = timedelta(hours=1)
"""How long a process may go on writing vectors of a model that was replaced."""
_search_all_at: dict[str, datetime] = {}
"""By domain, when all rows are searched next."""
WORDS_LIMIT = 5_000
"""Passages whose words one task renews."""
TASK_LIMIT = 128
"""Passages of one task: it stays short, so that a worker can stop and other tasks get their turn;
another task continues."""


def embed_soon(domain: str) -> None:
    """Call within the transaction that writes passages, to embed them after its commit."""
    # Not a partial: a robust callback that fails is logged by its name.
    transaction.on_commit(lambda: embed.delay(domain), robust=True)


@shared_task(is_bulk=True)
def embed(domain: str) -> int:
    """Embed stale passages of `domain`; enqueue another task if there are more."""
    serving_models.read_serving_models()
    try:
        store_count = embed_pending(get_passage_model(domain), limit=TASK_LIMIT)
    except EmbedderDown as problem:
        logger.warning("%s: not embedded now, the sweep tries again: %s", domain, problem)
        return 0
    if store_count == TASK_LIMIT and not is_stop_requested():
        embed.delay(domain)
    return store_count


@shared_task(is_bulk=True)
def sweep() -> dict[str, int]:
    """Update what no task did: stale vectors, outdated counts, a vector index that is due. Return
    how many passages of each domain wait for a vector."""
    counts = {}
    for model in passage_models():
        recount_changed(model)
        domain = model.search_config.domain
        if count := pending_passages(model).count():
            embed.delay(domain)
        counts[domain] = count
        index_vectors(model)
        record_serving_model(model)
        mark_late_stale(model, since=begin_of_search(model))
    switch_vectors.delay()
    if any(map(is_outdated, passage_models())):
        update_words.delay()
    return counts


def begin_of_search(model: type[Passage]) -> datetime | None:
    """Return since when written rows are searched for vectors of another model. Once a day and at
    the first sweep of a process it is None: all of them, because no index helps."""
    domain, now = model.search_config.domain, timezone.now()
    if now < _search_all_at.get(domain, now):
        return now - SWITCH_WINDOW
    _search_all_at[domain] = now + timedelta(days=1)
    return None


@shared_task(is_bulk=True)
def update_words() -> int:
    """After an upgrade that computes words in another way, renew those of some passages; another
    task continues. Return the number of passages looked at."""
    with exclusive("update words") as is_alone:
        outdated = [model for model in passage_models() if is_outdated(model)]
        if not outdated or not is_alone:
            return 0
        count = renew_words(outdated[0], limit=WORDS_LIMIT)
        logger.info("%s: words of %d passages renewed", outdated[0].search_config.domain, count)
    update_words.delay()
    return count


@shared_task(is_bulk=True)
def switch_vectors() -> int:
    """Compute some vectors of the model that the settings name, beside those in use; replace these
    when all are there. Return the number of computed vectors."""
    serving_models.read_serving_models()
    due = [model for model in passage_models() if is_switch_due(model)]
    with exclusive("switch vectors") as is_alone:
        if not due or not is_alone:
            return 0
        model, domain = due[0], due[0].search_config.domain
        embedder = get_configured_embedder(domain)
        try:
            count = stage_vectors(model, embedder, limit=TASK_LIMIT)
        except EmbedderDown as problem:
            logger.warning("%s: its vectors are not replaced now: %s", domain, problem)
            return 0
        left = passages_to_stage(model, embedder).count()
        logger.info("%s: %d vectors of %s are still to compute", domain, left, embedder.name)
        if not left:
            swap_vectors(model, embedder)
            serving_models.read_serving_models()
    switch_vectors.delay()
    return count


@shared_task(is_bulk=True)
def prune_vectors() -> int:
    """Delete cached vectors unused for `VECTOR_CACHE_DAYS`."""
    return vector_cache.prune_vectors()


@shared_task(is_bulk=True)
def count_words() -> None:
    """Count the words again in every scope whose counts do not fit its rows, such as after a
    deletion."""
    for model in passage_models():
        recount_outdated(model)
