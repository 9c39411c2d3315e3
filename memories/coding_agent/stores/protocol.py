"""The protocol that all four stores implement."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, Unpack
from uuid import UUID

from memories.code_rules.rule import EMA_ALPHA, CodeRule, RuleFilters, similar_by_name
from memories.coding_agent.stores.pipeline_records import (
    add_events,
    add_insight,
    episodes_in,
    find_memories,
    insights_in,
)
from memories.coding_agent.stores.records import EVERY_RECORD, MemoryRecord, Payload
from memories.found_memory import FoundMemory
from memories.ingest.rule_add import BatchOutcome
from memories.ledger.plan import Particulars
from memories.search.filters import MemoryFilter
from memories.states import Bucket
from retrieval.errors import Problem


class StoreDown(Problem):
    code, title = "store_down", "The memory store does not answer"


class StoreDamaged(Problem):
    code, title = "store_damaged", "The memory store's file cannot be read"


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

    def write_events(
        self, texts: Sequence[str], abouts: Sequence[Particulars]
    ) -> list[BatchOutcome]:
        """Add the events of a write pipeline; return what holds each."""
        return add_events(self, texts, abouts)

    def find_memories(
        self, query: str, *, limit: int, where: MemoryFilter | None = None
    ) -> list[FoundMemory]:
        """Return the memories of a read pipeline, most similar first."""
        return find_memories(self, query, limit=limit, where=where)

    def episodes(self) -> list[MemoryRecord]:
        """Return the episodes of a write pipeline, oldest first: a reflection reads them."""
        return episodes_in(self)

    def insights(self) -> list[tuple[UUID, frozenset[UUID]]]:
        """Return the insights in use, each with the episodes that it rests on."""
        return insights_in(self)

    def add_insight(self, text: str, importance: float, episodes: Sequence[UUID]) -> UUID:
        return add_insight(self, text, importance, episodes)

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
