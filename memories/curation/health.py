"""Counts of duplicate, stale, unsourced, never recalled and pending memories, with their trend."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

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
    counts = {name: rows.count() for name, rows in _rows_by_count(namespace).items()}
    verdicts = [pair.verdict for pair in find_pairs(namespace, limit=COMPARED)]
    counts["duplicates"] = sum(verdict in (Verdict.EXACT, Verdict.NEAR) for verdict in verdicts)
    counts["contradictions"] = verdicts.count(Verdict.CONTRADICTS)
    today = timezone.now().date()
    HealthReading.objects.update_or_create(
        namespace=namespace, day=today, defaults={"counts": counts}
    )
    since = today - timedelta(days=days)
    return Health(counts, list(namespace.health_readings.filter(day__gte=since).order_by("day")))


def _rows_by_count(namespace: Namespace) -> dict[str, MemoryQuerySet]:
    """The rows behind each count that one query gives."""
    memories, now = MemoryItem.objects.of(namespace), timezone.now()
    active, stale_before = memories.active(), now - STALE_AFTER
    not_recalled = Q(last_recalled_at__isnull=True) | Q(last_recalled_at__lt=stale_before)
    return {
        "in_use": active,
        "pending": memories.pending(),
        "history": memories.history(),
        "stale": active.filter(not_recalled, created_at__lt=stale_before),
        "unsourced": active.filter(evidence=None),
        "never_recalled": active.filter(recalls=0, created_at__lt=now - RECALLED_BY_NOW),
        "without_vector": active.filter(embedding=None, client_vector=None),
    }
