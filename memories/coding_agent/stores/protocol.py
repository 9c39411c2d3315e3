"""What a store holds, and the protocol that all four stores keep."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol
from uuid import UUID

from memories.buckets.events import check_importance
from memories.code_rules.rule import CodeRule
from memories.states import Bucket
from memories.storable import require_storable_text
from retrieval.errors import Problem
from retrieval.models import uuid7


class StoreDown(Problem):
    code, title = "store_down", "The memory store does not answer"


class StoreDamaged(Problem):
    code, title = "store_damaged", "The memory store's file cannot be read"


@dataclass(frozen=True)
class MemoryRecord:
    """One memory: `text` is what is searched, `payload` (with its `kind`) what it means to a manager."""

    text: str
    bucket: Bucket = Bucket.FACT
    importance: float = 0.5
    payload: Mapping[str, Any] = field(default_factory=dict)
    id: UUID = field(default_factory=uuid7)
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        require_storable_text(self.text, "text")
        check_importance(self.importance)

    @property
    def kind(self) -> str:
        return str(self.payload.get("kind", ""))

    def with_payload(self, payload: Mapping[str, Any]) -> "MemoryRecord":
        return replace(self, payload=dict(payload))

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": str(self.id),
            "text": self.text,
            "bucket": str(self.bucket),
            "importance": self.importance,
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
    """A record and its similarity to the question, from 0 to 1."""

    record: MemoryRecord
    similarity: float


class MemoryStore(Protocol):
    """Where an agent's memories, its unfinished work and its code rules are kept.

    `add` refuses an id it has (`Conflict`); `update` changes what is known about a memory, never its text; `remove`
    takes it out of use. `revision` differs after every write, by whichever process.
    """

    def add(self, record: MemoryRecord) -> MemoryRecord: ...

    def get(self, memory_id: UUID) -> MemoryRecord | None: ...

    def update(
        self,
        memory_id: UUID,
        *,
        payload: Mapping[str, Any] | None = None,
        importance: float | None = None,
    ) -> MemoryRecord: ...

    def remove(self, memory_id: UUID) -> bool: ...

    def find(
        self,
        *,
        bucket: Bucket | None = None,
        kind: str | None = None,
        limit: int = 1000,
        with_pending: bool = False,
    ) -> list[MemoryRecord]:
        """Latest first. A store with a review holds back what is not approved, except `with_pending`."""

    def search(
        self,
        query: str,
        *,
        buckets: Sequence[Bucket] = (),
        kind: str | None = None,
        limit: int = 10,
    ) -> list[StoreHit]: ...

    def revision(self) -> str: ...

    def save_state(self, name: str, state: Mapping[str, Any]) -> None: ...

    def load_state(self, name: str) -> dict[str, Any] | None: ...

    def drop_state(self, name: str) -> None: ...

    def save_code_rule(self, rule: CodeRule, project_id: str | None = None) -> CodeRule:
        """Insert it, or replace the one with its id."""

    def get_code_rule(self, rule_id: UUID) -> CodeRule | None: ...

    def find_code_rules(
        self,
        *,
        project_id: str | None = None,
        category: str | None = None,
        language: str | None = None,
        min_confidence: float = 0.0,
        limit: int = 1000,
    ) -> list[CodeRule]:
        """Those that fit all that is given, most confident first."""

    def update_code_rule_confidence(
        self, rule_id: UUID, success: bool, ema_alpha: float = 0.2
    ) -> CodeRule: ...

    def cleanup_weak_rules(self, project_id: str | None = None, min_observations: int = 3) -> int:
        """Delete the rules below their threshold that were seen often enough to say so; return how many."""

    def find_similar_rules(self, name: str, category: str | None = None) -> list[CodeRule]:
        """Candidates for a merge: names alike, most alike first."""
