"""Filters of memories, several at once: each narrows the rows before they are ranked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memories.querysets import MemoryQuerySet
from memories.states import Bucket

COLUMNS = ("source", "subject", "speaker")


@dataclass(frozen=True)
class MemoryFilter:
    """A memory passes if everything that is given fits: one of the `buckets`, exactly this
    `source`, `subject`, `speaker` and `scope`, all of the `tags`, these values of its `metadata`
    (nested ones too), and an event time from `after` on and before `before`."""

    buckets: Sequence[Bucket] = ()
    source: str = ""
    subject: str = ""
    speaker: str = ""
    scope: str = ""
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    after: datetime | None = None
    before: datetime | None = None

    def apply(self, rows: MemoryQuerySet) -> MemoryQuerySet:
        conditions: dict[str, Any] = {
            name: value for name in COLUMNS if (value := getattr(self, name))
        }
        if self.buckets:
            conditions["bucket__in"] = list(self.buckets)
        if self.after:
            conditions["event_at__gte"] = self.after
        if self.before:
            conditions["event_at__lt"] = self.before
        if labels := self.labels:
            conditions["metadata__contains"] = labels
        return rows.filter(**conditions)

    @property
    def labels(self) -> dict[str, Any]:
        """The part of the metadata that a memory has to hold."""
        labels = dict(self.metadata)
        if self.scope:
            labels["scope"] = self.scope
        if self.tags:
            labels["tags"] = list(self.tags)
        return labels
