"""A record of a store: one memory with the data of whoever made it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from memories.buckets.events import check_importance
from memories.states import Bucket
from retrieval.models import uuid7
from retrieval.text import require_storable_text

Payload = Mapping[str, Any]
EVERY_RECORD = 1_000_000_000
"""The limit of a search that must not leave old records out."""


@dataclass(frozen=True)
class MemoryRecord:
    """One memory: `text` is searched; `payload` (with its `kind`) holds a manager's data."""

    text: str
    bucket: Bucket = Bucket.FACT
    importance: float = 0.5
    payload: Payload = field(default_factory=dict)
    id: UUID = field(default_factory=uuid7)
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        require_storable_text(self.text, "text")
        check_importance(self.importance)

    @property
    def kind(self) -> str:
        return str(self.payload.get("kind", ""))

    def with_changes(self, *, payload: Payload | None, importance: float | None) -> "MemoryRecord":
        """Return the record with what is not None replaced."""
        record = self if payload is None else replace(self, payload=dict(payload))
        return record if importance is None else replace(record, importance=importance)

    def as_dict(self) -> dict[str, Any]:
        return vars(self) | {
            "id": str(self.id),
            "bucket": str(self.bucket),
            "payload": dict(self.payload),
            "created_at": self.created_at.isoformat(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "MemoryRecord":
        return cls(
            id=UUID(data["id"]),
            text=data["text"],
            bucket=Bucket(data["bucket"]),
            importance=data["importance"],
            payload=data["payload"],
            created_at=datetime.fromisoformat(data["created_at"]),
        )


def has_values(payload: Any, where: Any) -> bool:
    """Whether a payload has the values of `where`, nested ones too."""
    if not isinstance(where, Mapping):
        return bool(payload == where)
    return isinstance(payload, Mapping) and all(
        name in payload and has_values(payload[name], value) for name, value in where.items()
    )
