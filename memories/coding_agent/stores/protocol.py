"""The records of a store, and the protocol that all four stores implement."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Protocol, Unpack
from uuid import UUID

from memories.buckets.events import check_importance
from memories.code_rules.rule import EMA_ALPHA, CodeRule, RuleFilters, similar_by_name
from memories.states import Bucket
from retrieval.errors import Problem
from retrieval.models import uuid7
from retrieval.text import require_storable_text

Payload = Mapping[str, Any]
EVERY_RECORD = 1_000_000_000
"""The limit of a search that must not leave old records out."""


class StoreDown(Problem):
    code, title = "store_down", "The memory store does not answer"


class StoreDamaged(Problem):
    code, title = "store_damaged", "The memory store's file cannot be read"


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


@dataclass(frozen=True)
class StoreHit:
    """A record and its similarity to the query, from 0 to 1."""

    record: MemoryRecord
    similarity: float


class MemoryStore(Protocol):
    """Stores an agent's memories, the state of its unfinished work, and its code rules.

    `add` raises `Conflict` for a known id; `update` changes payload and importance, never the text,
    and raises `NotFound`; `revision` differs after every write by any process.
    """

    def add(self, record: MemoryRecord) -> MemoryRecord: ...

    def get(self, memory_id: UUID) -> MemoryRecord | None: ...

    def update(
        self, memory_id: UUID, *, payload: Payload | None = None, importance: float | None = None
    ) -> MemoryRecord: ...

    def remove(self, memory_id: UUID) -> bool: ...

    def find(
        self,
        *,
        bucket: Bucket | None = None,
        kind: str = "",
        where: Payload = MappingProxyType({}),
        limit: int = 1000,
        with_pending: bool = False,
    ) -> list[MemoryRecord]:
        """Those whose payload has the values of `where`, latest first. `with_pending` includes what
        waits for approval (PostgreSQL only)."""

    def find_like(
        self,
        text: str,  # noqa: ARG002 - for stores that can tell what is alike
        *,
        bucket: Bucket,
        kind: str,
        with_pending: bool = False,
    ) -> list[MemoryRecord]:
        """Return the candidates for a comparison with `text` by spelling, however old they are: all
        records of the kind, or those that are most alike where the store can tell."""
        return self.find(bucket=bucket, kind=kind, limit=EVERY_RECORD, with_pending=with_pending)

    def search(
        self, query: str, *, buckets: Sequence[Bucket] = (), kind: str = "", limit: int = 10
    ) -> list[StoreHit]: ...

    def revision(self) -> str: ...

    def atomically(self) -> AbstractContextManager[None]:
        """Return a context in which all is written or nothing, also by a process that dies; only
        PostgreSQL keeps this."""
        return nullcontext()

    def save_state(self, name: str, state: Mapping[str, Any]) -> None: ...

    def load_state(self, name: str) -> dict[str, Any] | None: ...

    def drop_state(self, name: str) -> None: ...

    def save_code_rule(self, rule: CodeRule, project_id: str | None = None) -> CodeRule:
        """Insert the rule, or replace the one with its id."""

    def get_code_rule(self, rule_id: UUID) -> CodeRule | None: ...

    def find_code_rules(self, **filters: Unpack[RuleFilters]) -> list[CodeRule]:
        """Return up to 1,000 rules that meet all conditions, most confident first."""

    def update_code_rule_confidence(
        self, rule_id: UUID, success: bool, ema_alpha: float = EMA_ALPHA
    ) -> CodeRule: ...

    def cleanup_weak_rules(self, project_id: str | None = None, min_observations: int = 3) -> int:
        """Delete the rules below their threshold with enough observations; return their number."""

    def find_similar_rules(self, name: str, category: str | None = None) -> list[CodeRule]:
        """Return candidates for a merge: rules with similar names, most similar first."""
        rules = self.find_code_rules(category=category, limit=EVERY_RECORD)
        return similar_by_name(rules, name)


def has_values(payload: Any, where: Any) -> bool:
    """Whether a payload has the values of `where`, nested ones too."""
    if not isinstance(where, Mapping):
        return bool(payload == where)
    return isinstance(payload, Mapping) and all(
        name in payload and has_values(payload[name], value) for name, value in where.items()
    )
