"""A store in Qdrant: memories with their vectors, rules and unfinished work beside them, through its own client.

`QdrantClient(":memory:")` or `QdrantClient(path=…)` need no server; a URL does.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException

from memories.code_rules.rule import (
    EMA_ALPHA,
    CodeRule,
    filter_rules,
    is_weak,
    reinforce_rule,
    similar_by_name,
)
from memories.coding_agent.stores.protocol import MemoryRecord, StoreDown, StoreHit
from memories.states import Bucket
from memories.vectors import SiteSource, VectorSource
from retrieval.embedders import get_embedder
from retrieval.errors import Conflict, NotFound

PAGE = 256
REVISION = "revision"
DOWN = (ApiException, ConnectionError, TimeoutError, OSError)


class EmbeddingMemoryStore:
    """One agent's collections: `<name>` for memories of one embedder, `<name>-rest` for what has no vector."""

    def __init__(
        self, client: QdrantClient, name: str = "memories", *, vectors: VectorSource | None = None
    ) -> None:
        self._client, self._vectors = client, vectors or SiteSource()
        self._memories = f"{name}-{uuid5(NAMESPACE_URL, get_embedder('memory').name).hex[:8]}"
        self._rest = f"{name}-rest"
        self._lock = threading.RLock()
        with _told_when_down():
            self._ensure(self._memories, get_embedder("memory").dims)
            self._ensure(self._rest, 1)

    def add(self, record: MemoryRecord) -> MemoryRecord:
        made = self._vectors.of_documents([record.text])
        if made is None:
            raise StoreDown(
                "The embedder does not answer, and this store finds nothing without vectors."
            )
        with self._writing():
            if self._point(self._memories, record.id):
                raise Conflict(f"There is a memory with the id {record.id} already.")
            self._put(
                self._memories,
                record.id,
                record.as_dict() | {"kind": record.kind},
                made[0].tolist(),
            )
        return record

    def get(self, memory_id: UUID) -> MemoryRecord | None:
        with _told_when_down():
            found = self._point(self._memories, memory_id)
        return MemoryRecord.from_dict(found) if found else None

    def update(
        self,
        memory_id: UUID,
        *,
        payload: Mapping[str, Any] | None = None,
        importance: float | None = None,
    ) -> MemoryRecord:
        known = self.get(memory_id)
        if known is None:
            raise NotFound("There is no such memory.")
        changed = known if payload is None else known.with_payload(payload)
        changed = changed if importance is None else replace(changed, importance=importance)
        with self._writing():
            values = changed.as_dict() | {"kind": changed.kind}
            self._client.overwrite_payload(
                self._memories, payload=values, points=[str(memory_id)], wait=True
            )
        return changed

    def remove(self, memory_id: UUID) -> bool:
        known = self.get(memory_id) is not None
        with self._writing():
            self._client.delete(self._memories, points_selector=[str(memory_id)], wait=True)
        return known

    def find(
        self,
        *,
        bucket: Bucket | None = None,
        kind: str | None = None,
        limit: int = 1000,
        with_pending: bool = False,
    ) -> list[MemoryRecord]:
        chosen = _filter(buckets=[bucket] if bucket else [], kind=kind)
        with _told_when_down():
            rows = [MemoryRecord.from_dict(row) for row in self._all(self._memories, chosen)]
        return sorted(rows, key=lambda row: (row.created_at, row.id), reverse=True)[:limit]

    def search(
        self,
        query: str,
        *,
        buckets: Sequence[Bucket] = (),
        kind: str | None = None,
        limit: int = 10,
    ) -> list[StoreHit]:
        asked = self._vectors.of_queries([query])
        if asked is None:
            raise StoreDown(
                "The embedder does not answer, and this store finds nothing without vectors."
            )
        with _told_when_down():
            points = self._client.query_points(
                self._memories,
                query=asked[0].tolist(),
                limit=limit,
                with_payload=True,
                query_filter=_filter(buckets=list(buckets), kind=kind),
            ).points
        return [
            StoreHit(MemoryRecord.from_dict(point.payload or {}), min(1.0, max(0.0, point.score)))
            for point in points
        ]

    def revision(self) -> str:
        with _told_when_down():
            return str((self._point(self._rest, _id(REVISION)) or {}).get("number", 0))

    def save_state(self, name: str, state: Mapping[str, Any]) -> None:
        with self._writing():
            self._put(self._rest, _id(f"state {name}"), {"is": "state", "state": dict(state)})

    def load_state(self, name: str) -> dict[str, Any] | None:
        with _told_when_down():
            found = self._point(self._rest, _id(f"state {name}"))
        return found["state"] if found else None

    def drop_state(self, name: str) -> None:
        with self._writing():
            self._client.delete(self._rest, points_selector=[str(_id(f"state {name}"))], wait=True)

    def save_code_rule(self, rule: CodeRule, project_id: str | None = None) -> CodeRule:
        kept = rule if project_id is None else replace(rule, project_id=project_id)
        with self._writing():
            self._put(self._rest, kept.id, {"is": "rule", "rule": kept.as_dict()})
        return kept

    def get_code_rule(self, rule_id: UUID) -> CodeRule | None:
        with _told_when_down():
            found = self._point(self._rest, rule_id)
        return CodeRule.from_dict(found["rule"]) if found else None

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
            self._rules(),
            project_id=project_id,
            category=category,
            language=language,
            min_confidence=min_confidence,
            limit=limit,
        )

    def update_code_rule_confidence(
        self, rule_id: UUID, success: bool, ema_alpha: float = EMA_ALPHA
    ) -> CodeRule:
        with self._lock:
            known = self.get_code_rule(rule_id)
            if known is None:
                raise NotFound("There is no such code rule.")
            return self.save_code_rule(reinforce_rule(known, success, ema_alpha=ema_alpha))

    def cleanup_weak_rules(self, project_id: str | None = None, min_observations: int = 3) -> int:
        rules = self.find_code_rules(project_id=project_id)
        weak = [str(rule.id) for rule in rules if is_weak(rule, min_observations=min_observations)]
        if weak:
            with self._writing():
                self._client.delete(self._rest, points_selector=[*weak], wait=True)
        return len(weak)

    def find_similar_rules(self, name: str, category: str | None = None) -> list[CodeRule]:
        return similar_by_name(self.find_code_rules(category=category), name)

    def _rules(self) -> list[CodeRule]:
        only_rules = models.Filter(must=[_is("is", "rule")])
        with _told_when_down():
            return [CodeRule.from_dict(row["rule"]) for row in self._all(self._rest, only_rules)]

    def _ensure(self, collection: str, dims: int) -> None:
        if not self._client.collection_exists(collection):
            shape = models.VectorParams(size=dims, distance=models.Distance.COSINE)
            self._client.create_collection(collection, vectors_config=shape)

    def _point(self, collection: str, point_id: UUID) -> dict[str, Any] | None:
        found = self._client.retrieve(collection, ids=[str(point_id)], with_payload=True)
        return found[0].payload if found else None

    def _put(
        self,
        collection: str,
        point_id: UUID,
        payload: dict[str, Any],
        vector: list[float] | None = None,
    ) -> None:
        point = models.PointStruct(id=str(point_id), vector=vector or [1.0], payload=payload)
        self._client.upsert(collection, points=[point], wait=True)

    def _all(self, collection: str, chosen: models.Filter | None) -> Iterator[dict[str, Any]]:
        offset = None
        while True:
            page, offset = self._client.scroll(
                collection, scroll_filter=chosen, limit=PAGE, offset=offset, with_payload=True
            )
            yield from (point.payload or {} for point in page)
            if offset is None:
                return

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Every write gives the store another revision."""
        with self._lock, _told_when_down():
            yield
            number = int((self._point(self._rest, _id(REVISION)) or {}).get("number", 0)) + 1
            self._put(self._rest, _id(REVISION), {"is": REVISION, "number": number})


@contextmanager
def _told_when_down() -> Iterator[None]:
    try:
        yield
    except DOWN as error:
        raise StoreDown(
            f"Qdrant does not answer ({type(error).__name__}); nothing was changed."
        ) from error


def _filter(*, buckets: list[Bucket], kind: str | None) -> models.Filter | None:
    wanted: list[Any] = [_is("kind", kind)] if kind else []
    if buckets:
        names = models.MatchAny(any=[str(bucket) for bucket in buckets])
        wanted.append(models.FieldCondition(key="bucket", match=names))
    return models.Filter(must=wanted) if wanted else None


def _is(key: str, value: str) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def _id(name: str) -> UUID:
    return uuid5(NAMESPACE_URL, name)
