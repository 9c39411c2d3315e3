"""How many rows a queryset holds: few are best read one by one, many are best found through the
vector index."""

import json
import threading
from dataclasses import dataclass
from typing import Any

from cachetools import TTLCache
from django.db.models import QuerySet

EXACT_UP_TO = 5_000
"""Rows. One vector costs 4 µs to compare, a filtered walk through the HNSW index loses recall
(docs/search.md)."""
CACHE_SECONDS = 30

_estimates: TTLCache[tuple[Any, ...], "RowEstimate"] = TTLCache(2_000, CACHE_SECONDS)
_lock = threading.Lock()


@dataclass(frozen=True)
class RowEstimate:
    rows: int
    """Exact up to `EXACT_UP_TO`; above it, the planner's estimate."""

    @property
    def exact(self) -> bool:
        return self.rows <= EXACT_UP_TO


def estimate_rows(queryset: "QuerySet[Any, Any]", key: tuple[Any, ...]) -> RowEstimate:
    """Return how many rows `queryset` holds, counted at most every half minute for the same filter
    (`key`)."""
    with _lock:
        estimate = _estimates.get(key)
    if estimate is None:
        estimate = measure_rows(queryset)
        with _lock:
            _estimates[key] = estimate
    return estimate


def clear_row_estimates() -> None:
    """Measure anew: after a large load, and between tests."""
    with _lock:
        _estimates.clear()


def measure_rows(queryset: "QuerySet[Any, Any]") -> RowEstimate:
    bare = queryset.order_by()
    count = bare.values("pk")[: EXACT_UP_TO + 1].count()
    if count <= EXACT_UP_TO:
        return RowEstimate(count)
    return RowEstimate(max(count, planner_estimate(bare)))


def planner_estimate(queryset: "QuerySet[Any, Any]") -> int:
    plan = json.loads(queryset.values("pk").explain(format="json"))
    return int(plan[0]["Plan"]["Plan Rows"])
