"""Filters of memories, several at once: each narrows the rows before they are ranked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Q

from memories.querysets import MemoryQuerySet
from memories.states import Bucket

COLUMNS = ("source", "subject", "speaker")


@dataclass(frozen=True)
class MemoryFilter:
    """A memory passes if everything that is given fits: one of the `buckets`, exactly this
    `source`, `subject`, `speaker` and `scope`, all of the `tags`, these values of its `metadata`
    (nested ones too), `resolved` or not (what does not say so is not), and a time
    from `after` on and before `before`: when it happened, else when it was recorded."""

    buckets: Sequence[Bucket] = ()
    source: str = ""
    subject: str = ""
    speaker: str = ""
    scope: str = ""
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    resolved: bool | None = None
    after: datetime | None = None
    before: datetime | None = None

    def apply(self, rows: MemoryQuerySet) -> MemoryQuerySet:
        conditions: dict[str, Any] = {
            name: value for name in COLUMNS if (value := getattr(self, name))
        }
        if self.buckets:
            conditions["bucket__in"] = list(self.buckets)
        if labels := self.labels:
            conditions["metadata__contains"] = labels
        rows = rows.filter(self._time_condition, **conditions)
        if self.resolved is None:
            return rows
        settled = Q(metadata__contains={"resolved": True})
        return rows.filter(settled if self.resolved else ~settled)

    @property
    def _time_condition(self) -> Q:
        """The time of a memory: when it happened, or, without that, when it was recorded."""
        happened, recorded = Q(), Q(event_at=None)
        for bound, moment in (("gte", self.after), ("lt", self.before)):
            if moment:
                happened &= Q(**{f"event_at__{bound}": moment})
                recorded &= Q(**{f"timestamp_ms__{bound}": moment.timestamp() * 1000})
        return happened | recorded if happened else Q()

    @property
    def labels(self) -> dict[str, Any]:
        """The part of the metadata that a memory has to hold."""
        labels = dict(self.metadata)
        if self.scope:
            labels["scope"] = self.scope
        if self.tags:
            labels["tags"] = list(self.tags)
        return labels
