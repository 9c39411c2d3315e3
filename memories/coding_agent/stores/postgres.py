"""A store in PostgreSQL: the same rows that `Memory` and the buckets use."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Max, QuerySet
from django.utils import timezone

from memories.buckets.events import check_importance
from memories.code_rules.rule import EMA_ALPHA, CodeRule, reinforce_rule, similar_by_name
from memories.coding_agent.stores.protocol import MemoryRecord, StoreHit
from memories.ledger.commit import bump_revision, commit
from memories.ledger.lock import namespace_transaction
from memories.ledger.plan import NewMemory, NewObservation, Particulars, Plan
from memories.ledger.state_changes import change_state
from memories.models import (
    AgentState,
    CodeRuleOutcome,
    MemoryItem,
    Namespace,
    StateChange,
    StoredCodeRule,
)
from memories.search import recall
from memories.states import Bucket, Maker, State
from memories.vectors import SiteSource, VectorSource
from retrieval.errors import Conflict, NotFound

RULE_FIELDS = (
    "project_id",
    "name",
    "description",
    "category",
    "before_pattern",
    "after_pattern",
    "pattern_type",
    "languages",
    "confidence",
    "observation_count",
    "success_count",
    "failure_count",
    "min_confidence_threshold",
    "promotion_threshold",
    "created_at",
    "updated_at",
)


class PostgresMemoryStore:
    """One namespace's memories. Removing archives: a memory is deleted for good by `memories.erasure.deletion` alone."""

    def __init__(self, namespace: Namespace, *, vectors: VectorSource | None = None) -> None:
        self.namespace = namespace
        self._vectors = vectors or SiteSource()

    def add(self, record: MemoryRecord) -> MemoryRecord:
        """Embed first, then commit. Where machine-written memories are reviewed, the record waits for approval."""
        vectors = self._vectors.of_documents([record.text])
        seen = NewObservation(record.text, Particulars(source=record.kind))
        about = Particulars(
            source=record.kind,
            bucket=record.bucket,
            importance=record.importance,
            metadata={"recorded_at": record.created_at.isoformat()},
        )
        new = NewMemory(
            record.text, Maker.TOOL, about, [seen.id], payload=record.payload, id=record.id
        )
        reason = f"stored as {record.kind or record.bucket}"
        with namespace_transaction(self.namespace) as namespace:
            if MemoryItem.objects.filter(pk=record.id).exists():
                raise Conflict(f"There is a memory with the id {record.id} already.")
            commit(namespace, Plan([seen], [new], vectors=vectors, reason=reason))
        return record

    def get(self, memory_id: UUID) -> MemoryRecord | None:
        item = self._own_items().filter(pk=memory_id).first()
        return _as_record(item) if item else None

    def update(
        self,
        memory_id: UUID,
        *,
        payload: Mapping[str, Any] | None = None,
        importance: float | None = None,
    ) -> MemoryRecord:
        changes: dict[str, Any] = {} if payload is None else {"payload": dict(payload)}
        if importance is not None:
            changes["importance"] = check_importance(importance)
        with namespace_transaction(self.namespace) as namespace:
            rows = self._own_items().filter(pk=memory_id)
            if not rows.update(**changes, updated_at=timezone.now()):
                raise NotFound("There is no such memory.")
            bump_revision(namespace)
            return _as_record(rows.get())

    def remove(self, memory_id: UUID) -> bool:
        with namespace_transaction(self.namespace) as namespace:
            ids = list(self._own_items().filter(pk=memory_id).values_list("pk", flat=True))
            bump_revision(namespace)
            return change_state(ids, to=State.ARCHIVED, by="store", reason="removed") == 1

    def find(
        self,
        *,
        bucket: Bucket | None = None,
        kind: str | None = None,
        limit: int = 1000,
        with_pending: bool = False,
    ) -> list[MemoryRecord]:
        rows = self._own_items() if with_pending else self._items()
        rows = rows if kind is None else rows.filter(payload__kind=kind)
        rows = rows if bucket is None else rows.filter(bucket=bucket)
        return [_as_record(item) for item in rows.order_by("-created_at", "-timestamp_ms")[:limit]]

    def search(
        self,
        query: str,
        *,
        buckets: Sequence[Bucket] = (),
        kind: str | None = None,
        limit: int = 10,
    ) -> list[StoreHit]:
        rows = MemoryItem.objects.filter(bucket__in=buckets or list(Bucket))
        rows = rows.filter(payload__kind=kind) if kind else rows
        found = recall.search(self.namespace, query, limit=limit, within=rows, sources=False)
        items = self._items().in_bulk([hit.id for hit in found.memories])
        return [
            StoreHit(_as_record(items[hit.id]), _similarity(hit))
            for hit in found.memories
            if hit.id in items
        ]

    def revision(self) -> str:
        written = Namespace.objects.values_list("revision", flat=True).get(pk=self.namespace.pk)
        moved = StateChange.objects.filter(memory__namespace=self.namespace).aggregate(
            last=Max("pk")
        )["last"]
        return f"{written}.{moved}"

    def save_state(self, name: str, state: Mapping[str, Any]) -> None:
        AgentState.objects.update_or_create(
            namespace=self.namespace, name=name, defaults={"state": dict(state)}
        )

    def load_state(self, name: str) -> dict[str, Any] | None:
        return (
            AgentState.objects.filter(namespace=self.namespace, name=name)
            .values_list("state", flat=True)
            .first()
        )

    def drop_state(self, name: str) -> None:
        AgentState.objects.filter(namespace=self.namespace, name=name).delete()

    def save_code_rule(self, rule: CodeRule, project_id: str | None = None) -> CodeRule:
        kept = rule if project_id is None else replace(rule, project_id=project_id)
        if StoredCodeRule.objects.filter(pk=kept.id).exclude(namespace=self.namespace).exists():
            raise Conflict(f"There is a code rule with the id {kept.id} elsewhere.")
        row = StoredCodeRule(pk=kept.id, namespace=self.namespace, **_rule_values(kept))
        StoredCodeRule.objects.bulk_create(
            [row], update_conflicts=True, unique_fields=["id"], update_fields=list(RULE_FIELDS)
        )
        return kept

    def get_code_rule(self, rule_id: UUID) -> CodeRule | None:
        row = self._rules().filter(pk=rule_id).first()
        return as_rule(row) if row else None

    def find_code_rules(
        self,
        *,
        project_id: str | None = None,
        category: str | None = None,
        language: str | None = None,
        min_confidence: float = 0.0,
        limit: int = 1000,
    ) -> list[CodeRule]:
        rows = self._rules().filter(confidence__gte=min_confidence)
        rows = rows if project_id is None else rows.filter(project_id=project_id)
        rows = rows if category is None else rows.filter(category=category)
        rows = rows if language is None else rows.filter(languages__contains=[language])
        return [as_rule(row) for row in rows.order_by("-confidence", "pk")[:limit]]

    def update_code_rule_confidence(
        self, rule_id: UUID, success: bool, ema_alpha: float = EMA_ALPHA
    ) -> CodeRule:
        """The row is locked meanwhile, so that two outcomes at once both count; each is kept with what it led to."""
        with transaction.atomic():
            row = self._rules().select_for_update().filter(pk=rule_id).first()
            if row is None:
                raise NotFound("There is no such code rule.")
            rule = reinforce_rule(as_rule(row), success, ema_alpha=ema_alpha)
            self._rules().filter(pk=rule_id).update(**_rule_values(rule))
            CodeRuleOutcome.objects.create(
                rule=row, success=success, confidence=rule.confidence, ema_alpha=ema_alpha
            )
        return rule

    def cleanup_weak_rules(self, project_id: str | None = None, min_observations: int = 3) -> int:
        rows = self._rules().filter(
            confidence__lt=F("min_confidence_threshold"), observation_count__gte=min_observations
        )
        rows = rows if project_id is None else rows.filter(project_id=project_id)
        return rows.delete()[1].get(StoredCodeRule._meta.label, 0)

    def find_similar_rules(self, name: str, category: str | None = None) -> list[CodeRule]:
        return similar_by_name(self.find_code_rules(category=category), name)

    def _items(self) -> "QuerySet[MemoryItem]":
        rows: QuerySet[MemoryItem] = MemoryItem.objects.of(self.namespace).active()
        return rows.defer("embedding", "search_vector")

    def _own_items(self) -> "QuerySet[MemoryItem]":
        """With those that wait for approval: not to answer with, but to know and change what was written."""
        rows: QuerySet[MemoryItem] = self.namespace.memories.filter(
            state__in=[State.ACTIVE, State.PENDING]
        )
        return rows.defer("embedding", "search_vector")

    def _rules(self) -> "QuerySet[StoredCodeRule]":
        return StoredCodeRule.objects.filter(namespace=self.namespace)


def as_rule(row: StoredCodeRule) -> CodeRule:
    return CodeRule(id=row.pk, **{name: getattr(row, name) for name in RULE_FIELDS})


def _rule_values(rule: CodeRule) -> dict[str, Any]:
    values = {name: getattr(rule, name) for name in RULE_FIELDS}
    return values | {"languages": list(rule.languages)}


def _as_record(item: MemoryItem) -> MemoryRecord:
    return MemoryRecord(
        id=item.pk,
        text=item.text,
        bucket=Bucket(item.bucket),
        importance=item.importance,
        payload=item.payload,
        created_at=item.created_at,
    )


def _similarity(hit: recall.FoundMemory) -> float:
    cosine = hit.legs["vector"].score if "vector" in hit.legs else None
    return min(1.0, max(0.0, cosine if cosine is not None else hit.score))
