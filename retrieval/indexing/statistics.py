"""Word statistics: in how many passages each word occurs (the document frequency of BM25's idf)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.db import connections, transaction
from django.db.models import BooleanField, Case, F, QuerySet, Sum, TextField, Value, When
from django.db.models.functions import Cast, Coalesce

from retrieval.domains import Scope
from retrieval.models import Passage, ScopeStatistics, WordStatistics
from retrieval.search.compiled_rows import named_parameters

COUNT_WORDS = (Path(__file__).parent / "sql" / "count_words.sql").read_text()
COLUMNS = ("search_vector", "word_count", "language", "counted_scope", "counted_public")


def count_words(
    model: type[Passage], scopes: Iterable[Scope] | None = None, *, using: str = "default"
) -> int:
    """Count the words of `model` again, in `scopes` or in all; return the number of passages
    counted. Searches use the old counts until the new ones are committed."""
    names = None if scopes is None else sorted({str(scope) for scope in scopes})
    domain = model.search_config.domain
    rows, parameters = named_parameters(rows_to_count(model, names), *COLUMNS)
    with transaction.atomic(using), connections[using].cursor() as cursor:
        # Two counts of one domain at once would both insert the rows that both have deleted.
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"memory37 words {domain}"])
        for table in (ScopeStatistics, WordStatistics):
            old = table._default_manager.using(using).filter(domain=domain)
            (old if names is None else old.filter(scope__in=names)).delete()
        cursor.execute(COUNT_WORDS.format(rows=rows), {**parameters, "domain": domain})
        totals = ScopeStatistics.objects.using(using).filter(domain=domain)
        totals = totals if names is None else totals.filter(scope__in=names)
        return int(totals.aggregate(total=Sum("rows"))["total"] or 0)


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
    return rows if scopes is None else rows.filter(counted_scope__in=scopes)
