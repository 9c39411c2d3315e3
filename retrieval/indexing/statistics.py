"""In how many passages each word occurs: what makes a rare word count for more (BM25's idf)."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from django.db import connections, models, transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Coalesce

from retrieval.domains import Scope
from retrieval.models import Passage, ScopeStatistics, WordStatistics
from retrieval.search.compiled_rows import named_parameters

COLUMNS = ("search_vector", "word_count", "language", "counted_scope", "counted_public")


def count_words(
    model: type[Passage], scopes: Iterable[Scope] | None = None, *, using: str = "default"
) -> int:
    """Count the words of `model` again, in `scopes` or in all. Searches see the old counts until
    the new are complete.

    Return the number of passages counted.
    """
    names = None if scopes is None else sorted({str(scope) for scope in scopes})
    domain = model.search_config.domain
    rows, parameters = named_parameters(rows_to_count(model, names), *COLUMNS)
    with transaction.atomic(using), connections[using].cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"memory37 words {domain}"])
        for table in (ScopeStatistics, WordStatistics):
            old = table._default_manager.using(using).filter(domain=domain)
            (old if names is None else old.filter(scope__in=names)).delete()
        cursor.execute(_statement().format(rows=rows), {**parameters, "domain": domain})
        totals = ScopeStatistics.objects.using(using).filter(domain=domain)
        totals = totals if names is None else totals.filter(scope__in=names)
        return int(totals.aggregate(total=models.Sum("rows"))["total"] or 0)


def rows_with_scope(model: type[Passage]) -> "models.QuerySet[Any]":
    """Return all rows with the scope that each is counted in as `counted_scope`."""
    scope = model.search_config.scope
    rows: Any = model._default_manager.order_by()
    annotated: models.QuerySet[Any] = rows.annotate(
        counted_scope=_as_text(F(scope) if isinstance(scope, str) else scope)
    )
    return annotated


def rows_to_count(model: type[Passage], scopes: list[str] | None) -> "models.QuerySet[Any]":
    rows: models.QuerySet[Any] = rows_with_scope(model).annotate(
        counted_public=_as_boolean(model.search_config.public)
    )
    return rows if scopes is None else rows.filter(counted_scope__in=scopes)


def _as_text(scope: Combinable) -> Combinable:
    return Coalesce(Cast(scope, models.TextField()), Value(""), output_field=models.TextField())


def _as_boolean(condition: Q) -> Case:
    return Case(
        When(condition, then=Value(True)), default=Value(False), output_field=models.BooleanField()
    )


@cache
def _statement() -> str:
    return (Path(__file__).parent / "sql" / "count_words.sql").read_text()
