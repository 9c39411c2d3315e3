"""Maintenance of derived data: word statistics and, for large tables, the vector index."""

from collections.abc import Callable
from datetime import timedelta

from django.db.models import F, Max
from django.utils import timezone

from retrieval.embedders import get_embedder
from retrieval.indexing import passage_indexes
from retrieval.indexing.statistics import count_words, rows_with_scope
from retrieval.models import Passage, ScopeStatistics
from retrieval.search.compiled_rows import clear_row_estimates

RECOUNT_INTERVAL = timedelta(seconds=60)
"""A scope is counted again at most this often. Also the longest transaction that is allowed for: a
row has the time of its write, not of its commit."""
RECOUNT_WINDOW = timedelta(days=1)
"""How far back changed rows are searched for; the daily full count covers older ones."""
REBUILD_BATCH = 2_000


def recount_changed(model: type[Passage]) -> list[str]:
    """Count the words again in scopes with changes since their last count; return these scopes."""
    now = timezone.now()
    recent = rows_with_scope(model).filter(updated_at__gt=now - RECOUNT_WINDOW)
    by_scope = recent.values("counted_scope").annotate(last=Max("updated_at"))
    last_changes = dict(by_scope.values_list("counted_scope", "last"))
    counts = ScopeStatistics.objects.filter(domain=model.search_config.domain)
    counts = counts.filter(scope__in=list(last_changes))
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
    """Create the vector index if the table is large enough for one; return its name."""
    embedder = get_embedder(model.search_config.domain)
    enough = passage_indexes.ROWS_WORTH_A_VECTOR_INDEX
    # The limit stops the count at the threshold: this runs every minute.
    rows = model._default_manager.filter(embedding_model=embedder.name)[:enough]
    if rows.count() < enough or passage_indexes.has_vector_index(model, embedder.name):
        return None
    return passage_indexes.create_vector_index(model, embedder=embedder.name, dims=embedder.dims)


def rebuild_words(
    model: type[Passage], on_batch: Callable[[int], None] = lambda _done: None
) -> int:
    """Compute the search vector of every passage again; return the number of passages."""
    count, keys = 0, model._default_manager.order_by("pk").values_list("pk", flat=True)
    batch = list(keys[:REBUILD_BATCH])
    while batch:
        # The trigger computes the vector on every update.
        model._default_manager.filter(pk__in=batch).update(search_vector=None)
        count += len(batch)
        on_batch(count)
        batch = list(keys.filter(pk__gt=batch[-1])[:REBUILD_BATCH])
    count_words(model)
    clear_row_estimates()
    return count


def retry_parked(model: type[Passage]) -> int:
    """Make parked and waiting passages available for the next try; return their number."""
    stale = model._default_manager.filter(embedded_rev__lt=F("rev"), embed_tries__gt=0)
    return stale.update(embed_tries=0, embed_after=None, embed_error="")
