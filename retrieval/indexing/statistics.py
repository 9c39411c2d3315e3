"""Word statistics: in how many passages each word occurs (the document frequency of BM25's idf)."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import connections, transaction
from django.db.models import BooleanField, Case, F, Q, QuerySet, Sum, TextField, Value, When
from django.db.models.functions import Cast, Coalesce

from retrieval.domains import Scope
from retrieval.models import Passage, ScopeStatistics, WordStatistics
from retrieval.search.compiled_rows import named_parameters

SQL = Path(__file__).parent / "sql"
COUNT_WORDS, ADD_WORDS = (
    (SQL / f"{name}.sql").read_text() for name in ("count_words", "add_words")
)
COLUMNS = ("search_vector", "word_count", "language", "counted_scope", "counted_public")
SCOPES_AT_ONCE = 100
"""Scopes counted in one transaction."""
OLDEST_WRITE = """
SELECT least(min(xact_start), now()) FROM pg_stat_activity
WHERE datname = current_database() AND backend_xid IS NOT NULL
"""
CLOCK_DIFFERENCE = timedelta(seconds=5)
"""A passage has the time of the process that wrote it, a transaction that of the server."""


def count_words(
    model: type[Passage], scopes: Iterable[Scope] | None = None, *, using: str = "default"
) -> int:
    """Count the words of `model` again, in `scopes` or in all; return the number of passages
    counted. Searches use the old counts of a scope until its new ones are committed, some scopes at
    a time: the words of thousands of worlds together would be sorted on the disk."""
    names = sorted(all_scopes(model, using) if scopes is None else {str(each) for each in scopes})
    return sum(
        _count_words(model, names[start : start + SCOPES_AT_ONCE], using)
        for start in range(0, len(names), SCOPES_AT_ONCE)
    )


def all_scopes(model: type[Passage], using: str) -> set[str]:
    """Return the scopes that have passages, and those that have counts."""
    counted = ScopeStatistics.objects.using(using).filter(domain=model.search_config.domain)
    held = rows_with_scope(model).using(using).values_list("counted_scope", flat=True)
    return {*counted.values_list("scope", flat=True), *held.distinct()}


def _count_words(model: type[Passage], names: list[str], using: str) -> int:
    domain = model.search_config.domain
    rows, parameters = named_parameters(rows_to_count(model, names), *COLUMNS)
    with transaction.atomic(using), connections[using].cursor() as cursor:
        lock_counts(cursor, domain)
        for table in (ScopeStatistics, WordStatistics):
            old = table._default_manager.using(using)
            old.filter(domain=domain, scope__in=names).delete()
        cursor.execute(COUNT_WORDS.format(rows=rows), {**parameters, "domain": domain})
        totals = ScopeStatistics.objects.using(using).filter(domain=domain, scope__in=names)
        return int(totals.aggregate(total=Sum("rows"))["total"] or 0)


def add_words(model: type[Passage], scope: str, *, since: datetime, until: datetime) -> None:
    """Add the words of the passages of `scope` created after `since`, up to `until`, to its counts.

    `until` must be before the beginning of every transaction that may still write passages. What
    edited and deleted passages no longer hold stays in the counts; the edits are counted.
    """
    domain = model.search_config.domain
    changed = rows_to_count(model, [scope]).filter(updated_at__gt=since)
    # A new passage has no earlier change, so that the index of changes finds it.
    new = changed.filter(created_at__gt=since, created_at__lte=until)
    values: dict[str, Any] = {"domain": domain, "scope": scope, "until": until}
    values["edited_rows"] = changed.filter(created_at__lte=since, updated_at__lte=until).count()
    rows, parameters = named_parameters(new, *COLUMNS)
    with transaction.atomic(), connections["default"].cursor() as cursor:
        lock_counts(cursor, domain)
        counted = ScopeStatistics.objects.filter(domain=domain, scope=scope, refreshed_at=since)
        if counted.exists():  # else another process has counted meanwhile
            cursor.execute(ADD_WORDS.format(rows=rows), {**parameters, **values})


def lock_counts(cursor: Any, domain: str) -> None:
    """Two counts of one domain at once would both insert the rows that both have deleted."""
    cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"memory37 words {domain}"])


def begin_of_oldest_write() -> datetime:
    """Return the time before which every write is committed: when the oldest transaction of this
    database that has written began, or now; less the difference of the clocks."""
    with connections["default"].cursor() as cursor:
        cursor.execute(OLDEST_WRITE)
        begin: datetime = cursor.fetchone()[0]
    return begin - CLOCK_DIFFERENCE


def forget_scope(scope: str) -> None:
    """Delete the counts of a world or namespace that was deleted, in all domains."""
    for table in (ScopeStatistics, WordStatistics):
        table._default_manager.filter(scope=scope).delete()


def rows_with_scope(model: type[Passage]) -> "QuerySet[Any]":
    """Return all rows with the scope that each is counted in as `counted_scope`."""
    scope = model.search_config.scope
    text, is_text = Cast(F(scope) if isinstance(scope, str) else scope, TextField()), TextField()
    rows: Any = model._default_manager.order_by()
    result: QuerySet[Any] = rows.annotate(
        counted_scope=Coalesce(text, Value(""), output_field=is_text)
    )
    return result


def rows_to_count(model: type[Passage], scopes: list[str] | None) -> "QuerySet[Any]":
    # CASE gives false where the bare condition gives NULL, such as for a missing visibility.
    when = When(model.search_config.public, then=Value(True))
    is_public = Case(when, default=Value(False), output_field=BooleanField())
    rows: QuerySet[Any] = rows_with_scope(model).annotate(counted_public=is_public)
    return rows if scopes is None else rows.filter(is_in_scopes(model, scopes))


def is_in_scopes(model: type[Passage], names: list[str]) -> Q:
    """The condition for rows of these scopes."""
    column = model.search_config.scope
    if not isinstance(column, str):
        return Q(counted_scope__in=names)
    # The column itself, which has an index: to compute the scope of each row reads the whole table.
    of_named = Q(**{f"{column}__in": [name for name in names if name]})
    return of_named | Q(counted_scope="") if "" in names else of_named
