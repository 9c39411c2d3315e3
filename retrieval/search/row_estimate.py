"""How many rows a queryset holds: few are best read one by one, many are best found through the vector index."""

import json
import threading
from dataclasses import dataclass
from typing import Any

from cachetools import TTLCache
from django.db.models import QuerySet

EXACT_UP_TO = 5_000
"""Rows. One vector costs 4 µs to compare, a filtered walk through the HNSW index loses recall (docs/search.md)."""
SECONDS_REMEMBERED = 30

_known: TTLCache[tuple[Any, ...], "RowEstimate"] = TTLCache(2_000, SECONDS_REMEMBERED)
_lock = threading.Lock()


@dataclass(frozen=True)
class RowEstimate:
    rows: int
    """Exact up to `EXACT_UP_TO`; above it, the planner's estimate."""

    @property
    def exact(self) -> bool:
        return self.rows <= EXACT_UP_TO


def estimate_rows(queryset: "QuerySet[Any, Any]", key: tuple[Any, ...]) -> RowEstimate:
    """Return how many rows `queryset` holds, counted at most every half minute for the same filter (`key`)."""
    with _lock:
        known = _known.get(key)
    if known is None:
        known = _measured(queryset)
        with _lock:
            _known[key] = known
    return known


def clear_row_estimates() -> None:
    """Measure anew: after a large load, and between tests."""
    with _lock:
        _known.clear()


def _measured(queryset: "QuerySet[Any, Any]") -> RowEstimate:
    bare = queryset.order_by()
    counted = bare.values("pk")[: EXACT_UP_TO + 1].count()
    if counted <= EXACT_UP_TO:
        return RowEstimate(counted)
    return RowEstimate(max(counted, _estimated(bare)))


def _estimated(queryset: "QuerySet[Any, Any]") -> int:
    plan = json.loads(queryset.values("pk").explain(format="json"))
    return int(plan[0]["Plan"]["Plan Rows"])
