"""Counts of duplicate, stale, unsourced, never recalled and pending memories, with their trend."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from memories.curation.duplicates import find_pairs
from memories.models import HealthReading, MemoryItem, Namespace
from memories.querysets import MemoryQuerySet
from memories.search import recall_counts
from memories.similarity.compare import Verdict

STALE_AFTER = timedelta(days=180)
"""A memory is stale that was neither written nor recalled for so long."""
RECALLED_BY_NOW = timedelta(days=7)
"""Age from which a memory counts as never recalled."""
COMPARED = 1000
"""Newest memories compared with their neighbours when counting duplicates."""


@dataclass(frozen=True)
class Health:
    counts: dict[str, int]
    trend: Sequence[HealthReading]

    def change(self, name: str) -> int | None:
        """The difference to the reading before, if there is one."""
        if len(self.trend) < 2:
            return None
        before: dict[str, int] = self.trend[-2].counts
        return self.counts.get(name, 0) - before.get(name, 0)


def record_health(namespace: Namespace, *, days: int = 30) -> Health:
    """Count, store the counts as today's reading, and return the readings of the last `days`."""
    recall_counts.flush()
    counts = {name: rows(namespace, name).count() for name in QUESTIONS}
    counts |= count_duplicates(namespace)
    today = timezone.now().date()
    HealthReading.objects.update_or_create(
        namespace=namespace, day=today, defaults={"counts": counts}
    )
    since: date = today - timedelta(days=days)
    return Health(counts, list(namespace.health_readings.filter(day__gte=since).order_by("day")))


def rows(namespace: Namespace, question: str) -> MemoryQuerySet:
    """The rows behind a count."""
    memories = MemoryItem.objects.of(namespace)
    selected_rows: MemoryQuerySet = QUESTIONS[question](memories)
    return selected_rows


def _stale(memories: MemoryQuerySet) -> MemoryQuerySet:
    before = timezone.now() - STALE_AFTER
    unused = Q(last_recalled_at__isnull=True) | Q(last_recalled_at__lt=before)
    return memories.active().filter(unused, created_at__lt=before)


def _never_recalled(memories: MemoryQuerySet) -> MemoryQuerySet:
    return memories.active().filter(recalls=0, created_at__lt=timezone.now() - RECALLED_BY_NOW)


QUESTIONS: dict[str, Any] = {
    "in_use": lambda memories: memories.active(),
    "pending": lambda memories: memories.pending(),
    "history": lambda memories: memories.history(),
    "stale": _stale,
    "unsourced": lambda memories: memories.active().filter(evidence=None),
    "never_recalled": _never_recalled,
    "without_vector": lambda memories: memories.active().filter(embedding=None, client_vector=None),
}


def count_duplicates(namespace: Namespace) -> dict[str, int]:
    verdicts = [pair.verdict for pair in find_pairs(namespace, limit=COMPARED)]
    return {
        "duplicates": sum(verdict in (Verdict.EXACT, Verdict.NEAR) for verdict in verdicts),
        "contradictions": verdicts.count(Verdict.CONTRADICTS),
    }
