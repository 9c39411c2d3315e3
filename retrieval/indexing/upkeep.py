"""Maintenance of derived data: word statistics and, for large tables, the vector index."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db.models import Count, F, Max, Q, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from retrieval.embedders import get_embedder
from retrieval.indexing import passage_indexes
from retrieval.indexing.statistics import (
    add_words,
    begin_of_oldest_write,
    count_words,
    rows_to_count,
    rows_with_scope,
)
from retrieval.indexing.stored_words import record_current
from retrieval.models import Passage, ScopeStatistics
from retrieval.search.compiled_rows import clear_row_estimates

RECOUNT_INTERVAL = timedelta(seconds=60)
"""A scope is counted again at most this often. Also the longest transaction that is allowed for: a
row has the time of its write, not of its commit."""
RECOUNT_WINDOW = timedelta(days=1)
"""How far back the first sweep of a process looks for changed rows."""
LOOK_BACK = 2 * RECOUNT_INTERVAL
"""How far before the last sweep the next one looks: what that one left out was changed later."""
COUNTED_WHOLE = 10_000
"""Rows that take a second to count. Of a larger scope only new passages are counted, until
`EDITED_SHARE` of it has been edited or the daily check finds other totals."""
EDITED_SHARE = 0.05
REBUILD_BATCH = 2_000

_swept_until: dict[str, datetime] = {}
"""By domain, the time of this process's last sweep."""


def recount_changed(model: type[Passage]) -> list[str]:
    """Count the words again in scopes with changes since their last count; return these scopes."""
    now, domain = timezone.now(), model.search_config.domain
    # The clock may have been set back since the last sweep.
    since = min(_swept_until.get(domain, now - RECOUNT_WINDOW), now) - LOOK_BACK
    recent = rows_with_scope(model).filter(updated_at__gt=since)
    by_scope = recent.values("counted_scope").annotate(last=Max("updated_at"))
    last_changes = dict(by_scope.values_list("counted_scope", "last"))
    counts = ScopeStatistics.objects.filter(domain=domain, scope__in=list(last_changes))
    counted = {each.scope: each for each in counts}
    new = [scope for scope in last_changes if scope not in counted]
    due = [each for scope, each in counted.items() if is_due(each, last_changes[scope], now=now)]
    large = [each for each in due if is_counted_by_parts(each)]
    if small := [*new, *(each.scope for each in due if each not in large)]:
        count_words(model, small)
    until = begin_of_oldest_write() if large else now
    for each in large:
        if each.refreshed_at < until:
            add_words(model, each.scope, since=each.refreshed_at, until=until)
    _swept_until[domain] = now
    return [*new, *(each.scope for each in due)]


def is_due(counts: ScopeStatistics, last_change: datetime, *, now: datetime) -> bool:
    if counts.refreshed_at > now:  # the clock was set back: its times say nothing of the changes
        return True
    return (
        counts.refreshed_at < now - RECOUNT_INTERVAL
        and last_change > counts.refreshed_at - RECOUNT_INTERVAL
    )


def is_counted_by_parts(counts: ScopeStatistics) -> bool:
    return counts.rows > COUNTED_WHOLE and counts.edited_rows <= EDITED_SHARE * counts.rows


def recount_outdated(model: type[Passage]) -> list[str]:
    """Count the words again in scopes whose stored totals are not those of their rows; return these
    scopes. Deletions, and edits of a large scope, get into the counts by this alone."""
    due = outdated_scopes(model)
    count_words(model, due)
    return due


def outdated_scopes(model: type[Passage]) -> list[str]:
    """Return the scopes whose stored totals are not those of their rows."""
    rows = rows_to_count(model, None)
    is_public = Q(counted_public=True)
    totals = {
        "rows": Count("pk"),
        "public_rows": Count("pk", filter=is_public),
        "words": Coalesce(Sum("word_count"), 0),
        "public_words": Coalesce(Sum("word_count", filter=is_public), 0),
    }
    names = [f"total_{name}" for name in totals]
    by_scope = rows.values("counted_scope").annotate(
        **dict(zip(names, totals.values(), strict=True))
    )
    actual = {
        scope: tuple(values) for scope, *values in by_scope.values_list("counted_scope", *names)
    }
    stored = ScopeStatistics.objects.filter(domain=model.search_config.domain)
    counted = {
        scope: tuple(values)
        for scope, edited_rows, *values in stored.values_list("scope", "edited_rows", *totals)
        if not edited_rows
    }
    known = {*actual, *stored.values_list("scope", flat=True)}
    return sorted(scope for scope in known if actual.get(scope) != counted.get(scope))


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
    record_current(model)
    return count


def retry_parked(model: type[Passage]) -> int:
    """Make parked and waiting passages available for the next try; return their number."""
    stale = model._default_manager.filter(embedded_rev__lt=F("rev"), embed_tries__gt=0)
    return stale.update(embed_tries=0, embed_after=None, embed_error="")
