"""Keep what is derived from passages in step with them: counts of words, and an index of vectors
once it pays."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db.models import F, Max, QuerySet
from django.utils import timezone

from retrieval.embedders import get_embedder
from retrieval.indexing import passage_indexes
from retrieval.indexing.statistics import count_words, rows_with_scope
from retrieval.models import Passage, ScopeStatistics
from retrieval.search.compiled_rows import clear_row_estimates

RECOUNT_INTERVAL = timedelta(seconds=60)
"""A scope is counted again at most this often, and a write may take this long from its first row to
its commit."""
RECOUNT_WINDOW = timedelta(days=1)
"""How far back changed rows are looked for; what is older was counted by the daily count of
everything."""

REBUILD_BATCH = 2_000


def recount_changed(model: type[Passage]) -> list[str]:
    """Count the words of those scopes anew whose passages changed since they were counted; return
    them."""
    now = timezone.now()
    recent = rows_with_scope(model).filter(updated_at__gt=now - RECOUNT_WINDOW)
    last_changes = dict(
        recent.values("counted_scope")
        .annotate(last=Max("updated_at"))
        .values_list("counted_scope", "last")
    )
    counts = ScopeStatistics.objects.filter(
        domain=model.search_config.domain, scope__in=list(last_changes)
    )
    last_counts = dict(counts.values_list("scope", "refreshed_at"))
    due = [
        scope
        for scope, last in last_changes.items()
        if scope not in last_counts
        or (
            last_counts[scope] < now - RECOUNT_INTERVAL
            and last > last_counts[scope] - RECOUNT_INTERVAL
        )
    ]
    if due:
        count_words(model, due)
    return due


def index_vectors(model: type[Passage]) -> str | None:
    """Build the vector index of the embedder in use if the table has grown so large that it pays;
    return its name."""
    embedder = get_embedder(model.search_config.domain)
    rows = model._default_manager.filter(embedding_model=embedder.name)[
        : passage_indexes.ROWS_WORTH_A_VECTOR_INDEX
    ]
    if rows.count() < passage_indexes.ROWS_WORTH_A_VECTOR_INDEX or passage_indexes.has_vector_index(
        model, embedder.name
    ):
        return None
    return passage_indexes.create_vector_index(model, embedder=embedder.name, dims=embedder.dims)


def rebuild_words(
    model: type[Passage], on_batch: Callable[[int], None] = lambda _done: None
) -> int:
    """Make the words of every passage anew from its text; return how many there are."""
    count, last = 0, None
    while keys := list(_after(model, last).values_list("pk", flat=True)[:REBUILD_BATCH]):
        model._default_manager.filter(pk__in=keys).update(
            search_vector=None
        )  # the trigger fills it
        count, last = count + len(keys), keys[-1]
        on_batch(count)
    count_words(model)
    clear_row_estimates()
    return count


def retry_parked(model: type[Passage]) -> int:
    """Free the passages that were given up and those that wait; return how many."""
    stale = model._default_manager.filter(embedded_rev__lt=F("rev"), embed_tries__gt=0)
    return stale.update(embed_tries=0, embed_after=None, embed_error="")


def _after(model: type[Passage], key: Any) -> "QuerySet[Any]":
    rows = model._default_manager.order_by("pk")
    return rows if key is None else rows.filter(pk__gt=key)
