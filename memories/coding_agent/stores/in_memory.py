"""A store in this process's memory, for development and tests; the base of `FileStore`."""

import copy
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Unpack
from uuid import UUID

import numpy as np
from rapidfuzz import fuzz

from memories.code_rules.rule import (
    EMA_ALPHA,
    CodeRule,
    RuleFilters,
    filter_rules,
    is_weak,
    reinforce_rule,
)
from memories.coding_agent.stores.protocol import MemoryStore, StoreHit
from memories.coding_agent.stores.records import EVERY_RECORD, MemoryRecord, Payload, has_values
from memories.states import Bucket
from memories.vectors import SiteSource, Vectors, VectorSource
from retrieval.errors import Conflict, NotFound


@dataclass
class StoreContents:
    """All that a store holds, with a number that every write raises."""

    records: dict[UUID, MemoryRecord] = field(default_factory=dict)
    rules: dict[UUID, CodeRule] = field(default_factory=dict)
    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    revision: int = 0


class InMemoryStore(MemoryStore):
    """Copies records and states on the way in and out: a caller's changes stay its own."""

    def __init__(self, *, vectors: VectorSource | None = None) -> None:
        self._contents = StoreContents()
        self._vectors = vectors or SiteSource()
        self._vector_of: dict[str, Vectors] = {}
        self._lock = threading.RLock()

    def add(self, record: MemoryRecord) -> MemoryRecord:
        with self.transaction() as contents:
            if record.id in contents.records:
                raise Conflict(f"There is a memory with the id {record.id} already.")
            contents.records[record.id] = copy.deepcopy(record)
        return record

    def get(self, memory_id: UUID) -> MemoryRecord | None:
        return copy.deepcopy(self.read().records.get(memory_id))

    def update(
        self, memory_id: UUID, *, payload: Payload | None = None, importance: float | None = None
    ) -> MemoryRecord:
        with self.transaction() as contents:
            record = contents.records.get(memory_id)
            if record is None:
                raise NotFound("There is no such memory.")
            record = contents.records[memory_id] = record.with_changes(
                payload=copy.deepcopy(payload), importance=importance
            )
        return record

    def remove(self, memory_id: UUID) -> bool:
        with self.transaction() as contents:
            return contents.records.pop(memory_id, None) is not None

    def find(
        self,
        *,
        bucket: Bucket | None = None,
        kind: str = "",
        where: Payload = MappingProxyType({}),
        limit: int = 1000,
        with_pending: bool = False,  # noqa: ARG002 - here nothing waits for approval
    ) -> list[MemoryRecord]:
        rows = reversed(list(self.read().records.values()))
        fitting = [
            row
            for row in rows
            if bucket in (None, row.bucket)
            and kind in ("", row.kind)
            and has_values(row.payload, where)
        ]
        return copy.deepcopy(sorted(fitting, key=lambda row: row.created_at, reverse=True)[:limit])

    def search(
        self, query: str, *, buckets: Sequence[Bucket] = (), kind: str = "", limit: int = 10
    ) -> list[StoreHit]:
        """By vectors; by spelling while the embedder is down."""
        rows = self.find(kind=kind, limit=EVERY_RECORD)
        rows = [row for row in rows if not buckets or row.bucket in buckets]
        similarities = self.similarities(query, [row.text for row in rows])
        hits = [StoreHit(row, value) for row, value in zip(rows, similarities, strict=True)]
        return sorted(hits, key=lambda hit: -hit.similarity)[:limit]

    def revision(self) -> str:
        return str(self.read().revision)

    def save_state(self, name: str, state: Mapping[str, Any]) -> None:
        with self.transaction() as contents:
            contents.states[name] = copy.deepcopy(dict(state))

    def load_state(self, name: str) -> dict[str, Any] | None:
        return copy.deepcopy(self.read().states.get(name))

    def drop_state(self, name: str) -> None:
        with self.transaction() as contents:
            contents.states.pop(name, None)

    def save_code_rule(self, rule: CodeRule, project_id: str | None = None) -> CodeRule:
        rule = rule if project_id is None else replace(rule, project_id=project_id)
        with self.transaction() as contents:
            contents.rules[rule.id] = rule
        return rule

    def get_code_rule(self, rule_id: UUID) -> CodeRule | None:
        return self.read().rules.get(rule_id)

    def find_code_rules(self, **filters: Unpack[RuleFilters]) -> list[CodeRule]:
        return filter_rules(self.read().rules.values(), **filters)

    def update_code_rule_confidence(
        self, rule_id: UUID, success: bool, ema_alpha: float = EMA_ALPHA
    ) -> CodeRule:
        with self.transaction() as contents:
            if rule_id not in contents.rules:
                raise NotFound("There is no such code rule.")
            rule = reinforce_rule(contents.rules[rule_id], success, ema_alpha=ema_alpha)
            contents.rules[rule_id] = rule
        return rule

    def cleanup_weak_rules(self, project_id: str | None = None, min_observations: int = 3) -> int:
        with self.transaction() as contents:
            weak = [
                rule.id
                for rule in contents.rules.values()
                if project_id in (None, rule.project_id)
                and is_weak(rule, min_observations=min_observations)
            ]
            for rule_id in weak:
                del contents.rules[rule_id]
        return len(weak)

    @contextmanager
    def transaction(self) -> Iterator[StoreContents]:
        """Yield a copy of the contents, which replaces them unless the block raises."""
        with self._lock:
            now = self.read()
            contents = StoreContents(
                dict(now.records), dict(now.rules), dict(now.states), now.revision + 1
            )
            yield contents
            self.write(contents)

    def read(self) -> StoreContents:
        return self._contents

    def write(self, contents: StoreContents) -> None:
        """Make `contents` the store's; if this raises, nothing has changed."""
        self._contents = contents

    def similarities(self, query: str, texts: list[str]) -> list[float]:
        """Return a similarity from 0 to 1 per text."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._vector_of]
        queries = self._vectors.of_queries([query]) if texts else None
        vectors = self._vectors.of_documents(missing) if missing and queries is not None else None
        if queries is None or (missing and vectors is None):
            return [fuzz.token_set_ratio(query.casefold(), text.casefold()) / 100 for text in texts]
        if vectors is not None:
            self._vector_of |= dict(zip(missing, vectors, strict=True))
        return [float(np.clip(self._vector_of[text] @ queries[0], 0, 1)) for text in texts]
