"""A store in Qdrant: memories with their vectors, and rules and states beside them.

`QdrantClient(":memory:")` or `QdrantClient(path=…)` need no server; a URL does.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Unpack
from uuid import NAMESPACE_URL, UUID, uuid5

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException

from memories.code_rules.rule import (
    EMA_ALPHA,
    CodeRule,
    RuleFilters,
    filter_rules,
    is_weak,
    reinforce_rule,
)
from memories.coding_agent.stores.protocol import MemoryStore, StoreDown, StoreHit
from memories.coding_agent.stores.records import MemoryRecord, Payload, has_values
from memories.states import Bucket
from memories.vectors import SiteSource, Vectors, VectorSource
from retrieval.embedders import get_embedder
from retrieval.errors import Conflict, NotFound

PAGE = 256
REVISION = "revision"
CLIENT_ERRORS = (ApiException, ConnectionError, TimeoutError, OSError)


class EmbeddingMemoryStore(MemoryStore):
    """One agent's collections: `<name>-<embedder>` for memories, `<name>-rest` for what has no
    vector."""

    def __init__(
        self, client: QdrantClient, name: str = "memories", *, vectors: VectorSource | None = None
    ) -> None:
        embedder = get_embedder("memory")
        self._client, self._vectors = client, vectors or SiteSource()
        # Vectors of two embedders cannot be compared, so each embedder has a collection.
        self._memories = f"{name}-{point_id_of(embedder.name).hex[:8]}"
        self._rest = f"{name}-rest"
        self._lock = threading.RLock()
        with client_errors():
            # Qdrant wants a vector for every point; in the second collection it has one dimension.
            for collection, dims in ((self._memories, embedder.dims), (self._rest, 1)):
                if not client.collection_exists(collection):
                    shape = models.VectorParams(size=dims, distance=models.Distance.COSINE)
                    client.create_collection(collection, vectors_config=shape)

    def add(self, record: MemoryRecord) -> MemoryRecord:
        vector = require_vector(self._vectors.of_documents([record.text]))
        with self.write_transaction():
            if self.load(self._memories, record.id):
                raise Conflict(f"There is a memory with the id {record.id} already.")
            self.upsert_point(self._memories, record.id, payload_of(record), vector)
        return record

    def get(self, memory_id: UUID) -> MemoryRecord | None:
        with client_errors():
            row = self.load(self._memories, memory_id)
        return MemoryRecord.from_dict(row) if row else None

    def update(
        self, memory_id: UUID, *, payload: Payload | None = None, importance: float | None = None
    ) -> MemoryRecord:
        record = self.get(memory_id)
        if record is None:
            raise NotFound("There is no such memory.")
        record = record.with_changes(payload=payload, importance=importance)
        with self.write_transaction():
            self._client.overwrite_payload(
                self._memories, payload=payload_of(record), points=[str(memory_id)], wait=True
            )
        return record

    def remove(self, memory_id: UUID) -> bool:
        is_known = self.get(memory_id) is not None
        with self.write_transaction():
            self._client.delete(self._memories, points_selector=[str(memory_id)], wait=True)
        return is_known

    def find(
        self,
        *,
        bucket: Bucket | None = None,
        kind: str = "",
        where: Payload = MappingProxyType({}),
        limit: int = 1000,
        with_pending: bool = False,  # noqa: ARG002 - here nothing waits for approval
    ) -> list[MemoryRecord]:
        condition = record_filter(buckets=[bucket] if bucket else [], kind=kind)
        with client_errors():
            rows = [MemoryRecord.from_dict(row) for row in self.scroll(self._memories, condition)]
        rows = [row for row in rows if has_values(row.payload, where)]
        return sorted(rows, key=lambda row: (row.created_at, row.id), reverse=True)[:limit]

    def search(
        self, query: str, *, buckets: Sequence[Bucket] = (), kind: str = "", limit: int = 10
    ) -> list[StoreHit]:
        vector = require_vector(self._vectors.of_queries([query]))
        with client_errors():
            points = self._client.query_points(
                self._memories,
                query=vector,
                limit=limit,
                with_payload=True,
                query_filter=record_filter(buckets=list(buckets), kind=kind),
            ).points
        return [
            StoreHit(MemoryRecord.from_dict(point.payload or {}), min(1.0, max(0.0, point.score)))
            for point in points
        ]

    def revision(self) -> str:
        with client_errors():
            return str(self.load_revision())

    def save_state(self, name: str, state: Mapping[str, Any]) -> None:
        payload = {"is": "state", "state": dict(state)}
        with self.write_transaction():
            self.upsert_point(self._rest, point_id_of(f"state {name}"), payload)

    def load_state(self, name: str) -> dict[str, Any] | None:
        with client_errors():
            row = self.load(self._rest, point_id_of(f"state {name}"))
        return row["state"] if row else None

    def drop_state(self, name: str) -> None:
        point = str(point_id_of(f"state {name}"))
        with self.write_transaction():
            self._client.delete(self._rest, points_selector=[point], wait=True)

    def save_code_rule(self, rule: CodeRule, project_id: str | None = None) -> CodeRule:
        rule = rule if project_id is None else replace(rule, project_id=project_id)
        with self.write_transaction():
            self.upsert_point(self._rest, rule.id, {"is": "rule", "rule": rule.as_dict()})
        return rule

    def get_code_rule(self, rule_id: UUID) -> CodeRule | None:
        with client_errors():
            row = self.load(self._rest, rule_id)
        return CodeRule.from_dict(row["rule"]) if row else None

    def find_code_rules(self, **filters: Unpack[RuleFilters]) -> list[CodeRule]:
        condition = models.Filter(must=[equals("is", "rule")])
        with client_errors():
            rows = list(self.scroll(self._rest, condition))
        return filter_rules((CodeRule.from_dict(row["rule"]) for row in rows), **filters)

    def update_code_rule_confidence(
        self, rule_id: UUID, success: bool, ema_alpha: float = EMA_ALPHA
    ) -> CodeRule:
        # Qdrant has no read-modify-write: the lock serializes the threads of this process only.
        with self._lock:
            rule = self.get_code_rule(rule_id)
            if rule is None:
                raise NotFound("There is no such code rule.")
            return self.save_code_rule(reinforce_rule(rule, success, ema_alpha=ema_alpha))

    def cleanup_weak_rules(self, project_id: str | None = None, min_observations: int = 3) -> int:
        rules = self.find_code_rules(project_id=project_id)
        weak = [str(rule.id) for rule in rules if is_weak(rule, min_observations=min_observations)]
        if weak:
            with self.write_transaction():
                self._client.delete(self._rest, points_selector=[*weak], wait=True)
        return len(weak)

    def load(self, collection: str, point_id: UUID) -> dict[str, Any] | None:
        points = self._client.retrieve(collection, ids=[str(point_id)], with_payload=True)
        return points[0].payload if points else None

    def load_revision(self) -> int:
        row = self.load(self._rest, point_id_of(REVISION)) or {}
        return int(row.get("number", 0))

    def upsert_point(
        self,
        collection: str,
        point_id: UUID,
        payload: dict[str, Any],
        vector: list[float] | None = None,
    ) -> None:
        point = models.PointStruct(id=str(point_id), vector=vector or [1.0], payload=payload)
        self._client.upsert(collection, points=[point], wait=True)

    def scroll(self, collection: str, condition: models.Filter | None) -> Iterator[dict[str, Any]]:
        offset = None
        while True:
            page, offset = self._client.scroll(
                collection, scroll_filter=condition, limit=PAGE, offset=offset, with_payload=True
            )
            yield from (point.payload or {} for point in page)
            if offset is None:
                return

    @contextmanager
    def write_transaction(self) -> Iterator[None]:
        """Raise the store's revision after the block."""
        with self._lock, client_errors():
            yield
            payload = {"is": REVISION, "number": self.load_revision() + 1}
            self.upsert_point(self._rest, point_id_of(REVISION), payload)


@contextmanager
def client_errors() -> Iterator[None]:
    """Raise errors of the client as `StoreDown`."""
    try:
        yield
    except CLIENT_ERRORS as error:
        raise StoreDown(
            f"Qdrant does not answer ({type(error).__name__}); nothing was changed."
        ) from error


def require_vector(vectors: Vectors | None) -> list[float]:
    if vectors is None:
        raise StoreDown("The embedder does not answer, and this store needs vectors.")
    vector: list[float] = vectors[0].tolist()
    return vector


def payload_of(record: MemoryRecord) -> dict[str, Any]:
    # Filters need `kind` at the top level.
    return record.as_dict() | {"kind": record.kind}


def record_filter(*, buckets: list[Bucket], kind: str) -> models.Filter | None:
    conditions: list[Any] = [equals("kind", kind)] if kind else []
    if buckets:
        names = models.MatchAny(any=[str(bucket) for bucket in buckets])
        conditions.append(models.FieldCondition(key="bucket", match=names))
    return models.Filter(must=conditions) if conditions else None


def equals(key: str, value: str) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def point_id_of(name: str) -> UUID:
    return uuid5(NAMESPACE_URL, name)
