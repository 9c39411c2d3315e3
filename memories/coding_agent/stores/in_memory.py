"""A store in this process's memory: for development and tests, and the ground of `FileStore`."""

import copy
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import numpy as np
from rapidfuzz import fuzz

from memories.code_rules.rule import (
    EMA_ALPHA,
    CodeRule,
    filter_rules,
    is_weak,
    reinforce_rule,
    similar_by_name,
)
from memories.coding_agent.stores.protocol import MemoryRecord, StoreHit
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


class InMemoryStore:
    def __init__(self, *, vectors: VectorSource | None = None) -> None:
        self._contents = StoreContents()
        self._vectors = vectors or SiteSource()
        self._embedded: dict[str, Vectors] = {}
        self._lock = threading.RLock()

    def add(self, record: MemoryRecord) -> MemoryRecord:
        with self._writing() as held:
            if record.id in held.records:
                raise Conflict(f"There is a memory with the id {record.id} already.")
            held.records[record.id] = copy.deepcopy(record)
        return record

    def get(self, memory_id: UUID) -> MemoryRecord | None:
        return copy.deepcopy(self._read().records.get(memory_id))

    def update(
        self,
        memory_id: UUID,
        *,
        payload: Mapping[str, Any] | None = None,
        importance: float | None = None,
    ) -> MemoryRecord:
        with self._writing() as held:
            known = held.records.get(memory_id)
            if known is None:
                raise NotFound("There is no such memory.")
            changed = known if payload is None else known.with_payload(copy.deepcopy(dict(payload)))
            held.records[memory_id] = (
                changed if importance is None else replace(changed, importance=importance)
            )
            return held.records[memory_id]

    def remove(self, memory_id: UUID) -> bool:
        with self._writing() as held:
            return held.records.pop(memory_id, None) is not None

    def find(
        self,
        *,
        bucket: Bucket | None = None,
        kind: str | None = None,
        limit: int = 1000,
        with_pending: bool = False,
    ) -> list[MemoryRecord]:
        rows = reversed(list(self._read().records.values()))
        fitting = [row for row in rows if bucket in (None, row.bucket) and kind in (None, row.kind)]
        return copy.deepcopy(sorted(fitting, key=lambda row: row.created_at, reverse=True)[:limit])

    def search(
        self,
        query: str,
        *,
        buckets: Sequence[Bucket] = (),
        kind: str | None = None,
        limit: int = 10,
    ) -> list[StoreHit]:
        """By vectors; by spelling when the embedder is down."""
        rows = [
            row
            for row in self.find(kind=kind, limit=100_000)
            if not buckets or row.bucket in buckets
        ]
        similar = self._similarities(query, [row.text for row in rows])
        found = [StoreHit(row, share) for row, share in zip(rows, similar, strict=True)]
        return sorted(found, key=lambda hit: -hit.similarity)[:limit]

    def revision(self) -> str:
        return str(self._read().revision)

    def save_state(self, name: str, state: Mapping[str, Any]) -> None:
        with self._writing() as held:
            held.states[name] = copy.deepcopy(dict(state))

    def load_state(self, name: str) -> dict[str, Any] | None:
        return copy.deepcopy(self._read().states.get(name))

    def drop_state(self, name: str) -> None:
        with self._writing() as held:
            held.states.pop(name, None)

    def save_code_rule(self, rule: CodeRule, project_id: str | None = None) -> CodeRule:
        kept = rule if project_id is None else replace(rule, project_id=project_id)
        with self._writing() as held:
            held.rules[kept.id] = kept
        return kept

    def get_code_rule(self, rule_id: UUID) -> CodeRule | None:
        return self._read().rules.get(rule_id)

    def find_code_rules(
        self,
        *,
        project_id: str | None = None,
        category: str | None = None,
        language: str | None = None,
        min_confidence: float = 0.0,
        limit: int = 1000,
    ) -> list[CodeRule]:
        return filter_rules(
            self._read().rules.values(),
            project_id=project_id,
            category=category,
            language=language,
            min_confidence=min_confidence,
            limit=limit,
        )

    def update_code_rule_confidence(
        self, rule_id: UUID, success: bool, ema_alpha: float = EMA_ALPHA
    ) -> CodeRule:
        with self._writing() as held:
            if rule_id not in held.rules:
                raise NotFound("There is no such code rule.")
            held.rules[rule_id] = reinforce_rule(held.rules[rule_id], success, ema_alpha=ema_alpha)
            return held.rules[rule_id]

    def cleanup_weak_rules(self, project_id: str | None = None, min_observations: int = 3) -> int:
        with self._writing() as held:
            weak = [
                rule.id
                for rule in held.rules.values()
                if project_id in (None, rule.project_id)
                and is_weak(rule, min_observations=min_observations)
            ]
            for rule_id in weak:
                del held.rules[rule_id]
        return len(weak)

    def find_similar_rules(self, name: str, category: str | None = None) -> list[CodeRule]:
        return similar_by_name(self.find_code_rules(category=category), name)

    def _read(self) -> StoreContents:
        return self._contents

    def _writing(self) -> "WriteTransaction":
        return WriteTransaction(self)

    def _store(self, contents: StoreContents) -> None:
        """Make `contents` the store's; raise, and nothing has changed."""
        self._contents = contents

    def _similarities(self, query: str, texts: list[str]) -> list[float]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._embedded]
        asked = self._vectors.of_queries([query]) if texts else None
        made = self._vectors.of_documents(missing) if missing and asked is not None else None
        if asked is None or (missing and made is None):
            return [fuzz.token_set_ratio(query.casefold(), text.casefold()) / 100 for text in texts]
        self._embedded |= dict(zip(missing, made if made is not None else [], strict=True))
        return [float(np.clip(self._embedded[text] @ asked[0], 0, 1)) for text in texts]


class WriteTransaction:
    """One write: on a copy, which becomes the store's contents only if nothing goes wrong."""

    def __init__(self, store: InMemoryStore) -> None:
        self.store = store

    def __enter__(self) -> StoreContents:
        self.store._lock.acquire()
        try:
            now = self.store._read()
        except BaseException:
            self.store._lock.release()
            raise
        self.held = StoreContents(
            dict(now.records), dict(now.rules), dict(now.states), now.revision + 1
        )
        return self.held

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self.store._store(self.held)
        finally:
            self.store._lock.release()
