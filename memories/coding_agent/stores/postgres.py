"""A store in PostgreSQL: the same rows that `Memory` and the buckets use."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import cache
from types import MappingProxyType
from typing import Any, Unpack
from uuid import UUID

from django.contrib.postgres.search import TrigramSimilarity, TrigramWordSimilarity
from django.db import connection, transaction
from django.db.models import F, Max, Q, QuerySet, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from memories.buckets.events import check_importance
from memories.code_rules.rule import (
    EMA_ALPHA,
    CodeRule,
    RuleFilters,
    reinforce_rule,
    similar_by_name,
)
from memories.coding_agent.stores.protocol import MemoryStore, StoreHit
from memories.coding_agent.stores.records import MemoryRecord, Payload
from memories.found_memory import FoundMemory
from memories.ledger.commit import (
    bump_revision,
    change_state,
    commit,
    namespace_transaction,
    reviewed_state,
)
from memories.ledger.plan import NewMemory, NewObservation, Particulars, Plan
from memories.models import (
    AgentState,
    CodeRuleOutcome,
    MemoryItem,
    Namespace,
    StateChange,
    StoredCodeRule,
)
from memories.querysets import MemoryQuerySet
from memories.search import recall
from memories.states import Bucket, Maker, State
from memories.vectors import SiteSource, VectorSource
from retrieval.errors import Conflict, NotFound

CANDIDATES = 500
"""Records that are most alike by their trigrams, which the managers then compare in full."""
ALL_COMPARED = 1_000
"""Records up to which all are compared; of more, those that the trigram indexes find."""
LEAST_SIMILARITIES = (0.6, 0.45, 0.3)
"""Word similarities of trigrams from which one of many records is a candidate, tried in this order:
each next one reads many more records, of which most share the type of an error alone."""
ENOUGH = 20
"""Candidates with which no less similar ones are looked for."""
SET_SIMILARITY = "SELECT set_config('pg_trgm.word_similarity_threshold', %s, true)"
RULE_FIELDS = tuple(one.name for one in fields(CodeRule) if one.name != "id")
RULE_TEXTS = ("name", "category", "description", "before_pattern", "after_pattern")


class PostgresMemoryStore(MemoryStore):
    """One namespace's memories. `remove` archives; `memories.erasure.deletion` deletes for good."""

    def __init__(self, namespace: Namespace, *, vectors: VectorSource | None = None) -> None:
        self.namespace = namespace
        self._vectors = vectors or SiteSource()
        self._is_atomic = False

    @contextmanager
    def atomically(self) -> Iterator[None]:
        """No model is called in a transaction: what is added is found by its words until it is
        embedded, which the caller orders (`retrieval.tasks.embed_soon`)."""
        self._is_atomic = True
        try:
            with transaction.atomic():
                yield
        finally:
            self._is_atomic = False

    def add(self, record: MemoryRecord) -> MemoryRecord:
        """Embed, then commit. With a review of machine-written memories it waits for approval."""
        vectors = None if self._is_atomic else self._vectors.of_documents([record.text])
        observation = NewObservation(record.text, Particulars(source=record.kind))
        about = Particulars(
            source=record.kind,
            bucket=record.bucket,
            importance=record.importance,
            metadata={"recorded_at": record.created_at.isoformat()},
        )
        new = NewMemory(
            record.text, Maker.TOOL, about, [observation.id], payload=record.payload, id=record.id
        )
        reason = f"stored as {record.kind or record.bucket}"
        with namespace_transaction(self.namespace) as namespace:
            if MemoryItem.objects.filter(pk=record.id).exists():
                raise Conflict(f"There is a memory with the id {record.id} already.")
            commit(namespace, Plan([observation], [new], vectors=vectors, reason=reason))
        return record

    def get(self, memory_id: UUID) -> MemoryRecord | None:
        item = self.known_items().filter(pk=memory_id).first()
        return record_of(item) if item else None

    def update(
        self, memory_id: UUID, *, payload: Payload | None = None, importance: float | None = None
    ) -> MemoryRecord:
        changes: dict[str, Any] = {} if payload is None else {"payload": dict(payload)}
        if importance is not None:
            changes["importance"] = check_importance(importance)
        with namespace_transaction(self.namespace) as namespace:
            rows = self.known_items().filter(pk=memory_id)
            if not rows.update(**changes, updated_at=timezone.now()):
                raise NotFound("There is no such memory.")
            bump_revision(namespace)
            return record_of(rows.get())

    def remove(self, memory_id: UUID) -> bool:
        with namespace_transaction(self.namespace) as namespace:
            ids = list(self.known_items().filter(pk=memory_id).values_list("pk", flat=True))
            bump_revision(namespace)
            return change_state(ids, to=State.ARCHIVED, by="store", reason="removed") == 1

    def find(
        self,
        *,
        bucket: Bucket | None = None,
        kind: str = "",
        where: Payload = MappingProxyType({}),
        limit: int = 1000,
        with_pending: bool = False,
    ) -> list[MemoryRecord]:
        rows = self.items_of_kind(kind, with_pending=with_pending)
        rows = rows.filter(payload__contains=dict(where)) if where else rows
        rows = rows if bucket is None else rows.filter(bucket=bucket)
        return [record_of(item) for item in rows.order_by("-created_at", "-timestamp_ms")[:limit]]

    def find_like(
        self, text: str, *, bucket: Bucket, kind: str, with_pending: bool = False
    ) -> list[MemoryRecord]:
        """Compared by trigrams in the database, with the text and with all errors of an episode, of
        which the text names the first."""
        if not has_trigrams():
            return super().find_like(text, bucket=bucket, kind=kind, with_pending=with_pending)
        rows = self.items_of_kind(kind, with_pending=with_pending).filter(bucket=bucket)
        # The condition of the trigram indexes.
        rows = rows.filter(payload__has_key="kind").annotate(errors=KT("payload__episode__errors"))
        likeness = Greatest(
            TrigramWordSimilarity(text, "text"),
            TrigramWordSimilarity(text, Coalesce("errors", Value(""))),
        )
        rows = rows.annotate(likeness=likeness)
        rows = rows.order_by("-likeness", "-created_at", "-timestamp_ms")
        if rows.order_by().values("pk")[: ALL_COMPARED + 1].count() <= ALL_COMPARED:
            return [record_of(item) for item in rows[:CANDIDATES]]
        is_alike = Q(text__trigram_word_similar=text) | Q(errors__trigram_word_similar=text)
        found: list[MemoryItem] = []
        for least in LEAST_SIMILARITIES:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(SET_SIMILARITY, [str(least)])
                found = list(rows.filter(is_alike)[:CANDIDATES])
            if len(found) >= ENOUGH:
                break
        return [record_of(item) for item in found]

    def items_of_kind(self, kind: str, *, with_pending: bool) -> MemoryQuerySet:
        rows = self.known_items() if with_pending else self.active_items()
        return rows.filter(payload__kind=kind) if kind else rows

    def search(
        self, query: str, *, buckets: Sequence[Bucket] = (), kind: str = "", limit: int = 10
    ) -> list[StoreHit]:
        rows = MemoryItem.objects.filter(bucket__in=buckets or list(Bucket))
        rows = rows.filter(payload__kind=kind) if kind else rows
        result = recall.search(self.namespace, query, limit=limit, within=rows, sources=False)
        items = self.active_items().in_bulk([hit.id for hit in result.memories])
        return [
            StoreHit(record_of(items[hit.id]), similarity_of(hit))
            for hit in result.memories
            if hit.id in items
        ]

    def revision(self) -> str:
        # A change of state (a review, an archiving) does not raise the namespace's own revision.
        writes = Namespace.objects.values_list("revision", flat=True).get(pk=self.namespace.pk)
        changes = StateChange.objects.filter(memory__namespace=self.namespace)
        return f"{writes}.{changes.aggregate(last=Max('pk'))['last']}"

    def save_state(self, name: str, state: Mapping[str, Any]) -> None:
        AgentState.objects.update_or_create(
            namespace=self.namespace, name=name, defaults={"state": dict(state)}
        )

    def load_state(self, name: str) -> dict[str, Any] | None:
        rows = AgentState.objects.filter(namespace=self.namespace, name=name)
        return rows.values_list("state", flat=True).first()

    def drop_state(self, name: str) -> None:
        AgentState.objects.filter(namespace=self.namespace, name=name).delete()

    def save_code_rule(self, rule: CodeRule, project_id: str | None = None) -> CodeRule:
        """Insert the rule, or replace the one with its id. With a review of machine-written
        memories, new or changed texts wait for approval."""
        rule = rule if project_id is None else replace(rule, project_id=project_id)
        if StoredCodeRule.objects.filter(pk=rule.id).exclude(namespace=self.namespace).exists():
            raise Conflict(f"There is a code rule with the id {rule.id} elsewhere.")
        with namespace_transaction(self.namespace) as namespace:
            stored = self.rules().filter(pk=rule.id).first()
            is_known = stored is not None and has_same_texts(as_rule(stored), rule)
            state = stored.state if stored and is_known else reviewed_state(namespace)
            row = StoredCodeRule(pk=rule.id, namespace=namespace, state=state, **rule_values(rule))
            StoredCodeRule.objects.bulk_create(
                [row],
                update_conflicts=True,
                unique_fields=["id"],
                update_fields=[*RULE_FIELDS, "state"],
            )
        return rule

    def get_code_rule(self, rule_id: UUID) -> CodeRule | None:
        row = self.rules_in_use().filter(pk=rule_id).first()
        return as_rule(row) if row else None

    def find_code_rules(self, **filters: Unpack[RuleFilters]) -> list[CodeRule]:
        language = filters.get("language")
        conditions = {
            "project_id": filters.get("project_id"),
            "category": filters.get("category"),
            "languages__contains": None if language is None else [language],
            "confidence__gte": filters.get("min_confidence"),
        }
        conditions = {name: value for name, value in conditions.items() if value is not None}
        rows = self.rules_in_use().filter(**conditions)
        return [
            as_rule(row) for row in rows.order_by("-confidence", "pk")[: filters.get("limit", 1000)]
        ]

    def find_similar_rules(self, name: str, category: str | None = None) -> list[CodeRule]:
        if not has_trigrams():
            return super().find_similar_rules(name, category)
        rows = self.rules() if category is None else self.rules().filter(category=category)
        # The names that a trigram index finds; what `similar_by_name` takes is far more alike.
        rows = rows.filter(name__trigram_similar=name)
        rows = rows.annotate(likeness=TrigramSimilarity("name", name)).order_by("-likeness", "pk")
        return similar_by_name([as_rule(row) for row in rows[:CANDIDATES]], name)

    def update_code_rule_confidence(
        self, rule_id: UUID, success: bool, ema_alpha: float = EMA_ALPHA
    ) -> CodeRule:
        """Reinforce the rule and record the outcome with the confidence that it led to."""
        with transaction.atomic():
            # Locked, so that two outcomes at the same time both count.
            row = self.rules().select_for_update().filter(pk=rule_id).first()
            if row is None:
                raise NotFound("There is no such code rule.")
            rule = reinforce_rule(as_rule(row), success, ema_alpha=ema_alpha)
            self.rules().filter(pk=rule_id).update(**rule_values(rule))
            CodeRuleOutcome.objects.create(
                rule=row, success=success, confidence=rule.confidence, ema_alpha=ema_alpha
            )
        return rule

    def cleanup_weak_rules(self, project_id: str | None = None, min_observations: int = 3) -> int:
        rows = self.rules().filter(
            confidence__lt=F("min_confidence_threshold"), observation_count__gte=min_observations
        )
        rows = rows if project_id is None else rows.filter(project_id=project_id)
        return rows.delete()[1].get(StoredCodeRule._meta.label, 0)

    def active_items(self) -> MemoryQuerySet:
        return MemoryItem.objects.of(self.namespace).active().without_index_columns()

    def known_items(self) -> MemoryQuerySet:
        """Also those waiting for approval: not searched, but not to be written twice either."""
        states = [State.ACTIVE, State.PENDING]
        rows = MemoryItem.objects.of(self.namespace).filter(state__in=states)
        return rows.without_index_columns()

    def rules(self) -> "QuerySet[StoredCodeRule]":
        """Also those that wait for approval or were rejected: none is to be written twice."""
        return StoredCodeRule.objects.filter(namespace=self.namespace)

    def rules_in_use(self) -> "QuerySet[StoredCodeRule]":
        return self.rules().filter(state=State.ACTIVE)


@cache
def has_trigrams() -> bool:
    """Whether the database has pg_trgm, which an installation may lack."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm')")
        return bool(cursor.fetchone()[0])


def has_same_texts(one: CodeRule, other: CodeRule) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in RULE_TEXTS)


def as_rule(row: StoredCodeRule) -> CodeRule:
    return CodeRule(id=row.pk, **{name: getattr(row, name) for name in RULE_FIELDS})


def rule_values(rule: CodeRule) -> dict[str, Any]:
    values = {name: getattr(rule, name) for name in RULE_FIELDS}
    return values | {"languages": list(rule.languages)}


def record_of(item: MemoryItem) -> MemoryRecord:
    return MemoryRecord(
        id=item.pk,
        text=item.text,
        bucket=Bucket(item.bucket),
        importance=item.importance,
        payload=item.payload,
        created_at=item.created_at,
    )


def similarity_of(hit: FoundMemory) -> float:
    cosine = hit.legs["vector"].score if "vector" in hit.legs else None
    return min(1.0, max(0.0, cosine if cosine is not None else hit.score))
