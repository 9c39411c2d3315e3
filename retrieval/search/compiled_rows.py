"""A queryset as part of a larger statement: compiled once for equal questions, and counted.

Few rows are best compared one by one, many are best found through the vector index.
"""

import json
import re
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

from cachetools import LRUCache, TTLCache
from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import Count, Q, QuerySet

from retrieval.models import Passage
from retrieval.text import OTHER_SCRIPTS

PLACEHOLDER = re.compile(r"%(%|s)")
SEARCH_COLUMNS = ("id", "search_vector", "word_count", "embedding", "embedding_model", "language")
"""The columns that the legs of the search read."""
EXACT_UP_TO = 5_000
"""Rows. Comparing a vector takes 4 µs; a filtered HNSW scan loses recall (docs/search.md)."""
FEW = 20
"""Rows are few if the table holds so many times as many: a small world among many."""
CACHE_SECONDS = 30
TABLE_ROWS = "SELECT reltuples FROM pg_class WHERE oid = %s::regclass"


class CompiledRows:
    """The rows of a queryset, for statements that Django's ORM cannot express.

    The SQL is compiled at the first use of each set of columns. Callers with recurring querysets
    use `get_compiled_rows`, because building and compiling one takes as long as a fast search.
    """

    def __init__(self, queryset: "QuerySet[Any, Any]") -> None:
        self.queryset = queryset
        self._sql_by_columns: dict[tuple[str, ...], tuple[str, dict[str, Any]]] = {}

    def sql(self, *columns: str) -> tuple[str, dict[str, Any]]:
        """Return the SQL that selects `columns`, with parameters named `f0`, `f1`, … so that it may
        stand more than once in a statement, and their values."""
        if columns not in self._sql_by_columns:
            self._sql_by_columns[columns] = named_parameters(self.queryset, *columns)
        return self._sql_by_columns[columns]

    def fetch(self, statement: str, columns: Sequence[str], **values: Any) -> list[tuple[Any, ...]]:
        """Run `statement`, in which `{rows}` stands for these rows with `columns`."""
        text, row_values = self.sql(*columns)
        with connections[self.queryset.db].cursor() as cursor:
            cursor.execute(statement.format(rows=text), {**row_values, **values})
            return list(cursor.fetchall())

    @property
    def model(self) -> type[Passage]:
        model: type[Passage] = self.queryset.model
        return model

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """The same for all querysets that hold the same rows at the same moment."""
        text, values = self.sql(*SEARCH_COLUMNS)
        return (self.queryset.db, text, *(str(value) for value in values.values()))


_rows_by_key: "LRUCache[Hashable, CompiledRows]" = LRUCache(2_000)
_lock = threading.Lock()


def get_compiled_rows(key: Hashable, make: "Callable[[], QuerySet[Any, Any]]") -> CompiledRows:
    """Return the compiled queryset of `make()`, cached by `key`, which must name everything that
    the queryset depends on. Only SQL is cached: each use reads the database."""
    with _lock:
        rows = _rows_by_key.get(key)
    if rows is None:
        rows = CompiledRows(make())
        with _lock:
            _rows_by_key[key] = rows
    return rows


def named_parameters(queryset: "QuerySet[Any, Any]", *columns: str) -> tuple[str, dict[str, Any]]:
    """Return the SQL that selects `columns` of `queryset`, and its values by parameter name."""
    columns_only = queryset.order_by().values(*columns)
    try:
        sql, values = columns_only.query.get_compiler(queryset.db).as_sql()
    except EmptyResultSet:
        # Such as `id__in=[]`: Django knows that nothing can match and writes no SQL.
        nothing = queryset.model._base_manager.using(queryset.db).extra(where=["false"])
        sql, values = nothing.values(*columns).query.get_compiler(queryset.db).as_sql()
    numbers = count()
    text = PLACEHOLDER.sub(lambda found: "%%" if found[1] == "%" else f"%(f{next(numbers)})s", sql)
    return text, {f"f{number}": value for number, value in enumerate(values)}


_estimates: TTLCache[tuple[Any, ...], "RowEstimate"] = TTLCache(2_000, CACHE_SECONDS)
_estimates_lock = threading.Lock()


@dataclass(frozen=True)
class RowEstimate:
    rows: int
    """Exact up to `EXACT_UP_TO`; above it, the planner's estimate."""

    table_rows: float = 0
    """The planner's estimate of all rows of the table; -1 before its first statistics."""

    has_latin: bool = True
    has_other_scripts: bool = False
    """Whether rows are in languages with Latin script, or with another one; of many rows, whether
    some of the first `EXACT_UP_TO` are."""

    @property
    def exact(self) -> bool:
        return self.rows <= EXACT_UP_TO

    @property
    def are_few(self) -> bool:
        """Whether to look at each row costs less than to read an index of the whole table."""
        return self.exact and self.rows * FEW < self.table_rows


def count_rows(queryset: "QuerySet[Any, Any]") -> int:
    """Return how many passages `queryset` holds: exactly up to `EXACT_UP_TO`, else an estimate;
    counted at most every half minute."""
    return estimate_rows(queryset, CompiledRows(queryset).key).rows


def estimate_rows(queryset: "QuerySet[Any, Any]", key: tuple[Any, ...]) -> RowEstimate:
    """Return how many rows `queryset` holds, counted at most every half minute for equal `key`."""
    with _estimates_lock:
        estimate = _estimates.get(key)
    if estimate is None:
        bare = queryset.order_by().values("pk")
        is_other = Q(language__in=OTHER_SCRIPTS)
        counts = bare.values("pk", "language")[: EXACT_UP_TO + 1].aggregate(
            rows=Count("pk"), others=Count("pk", filter=is_other)
        )
        rows, others = counts["rows"], counts["others"]
        has_latin, has_other_scripts = others < rows, others > 0
        if rows > EXACT_UP_TO:
            plan = json.loads(bare.explain(format="json"))
            rows = max(rows, int(plan[0]["Plan"]["Plan Rows"]))
        with connections[queryset.db].cursor() as cursor:
            cursor.execute(TABLE_ROWS, [queryset.model._meta.db_table])
            (table_rows,) = cursor.fetchone()
        estimate = RowEstimate(rows, table_rows, has_latin, has_other_scripts)
        with _estimates_lock:
            _estimates[key] = estimate
    return estimate


def clear_row_estimates() -> None:
    """Measure anew: after a large load, and between tests."""
    with _estimates_lock:
        _estimates.clear()
