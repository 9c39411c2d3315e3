"""The review inbox: what the machine wrote and nobody has approved yet, beside what is known
already."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from memories.curation import edits
from memories.curation.duplicates import ComparedMemory, compare_with_nearest
from memories.curation.lifecycle import find_memory
from memories.ledger.commit import change_state, namespace_transaction
from memories.models import MemoryItem, Namespace, Observation, Succession
from memories.states import Link, State
from retrieval.errors import Conflict, Problem

MIN_SIMILARITY = 0.2


@dataclass(frozen=True)
class PendingMemory:
    """A memory to decide about, with its evidence and the existing memories nearest to it."""

    memory: MemoryItem
    evidence: Sequence[Observation]
    replaces: Sequence[MemoryItem]
    beside: Sequence[ComparedMemory]


@dataclass(frozen=True)
class DecisionResult:
    """The outcome of several decisions: one that fails does not undo the others."""

    done: Sequence[UUID]
    failed: dict[str, str]


def inbox(namespace: Namespace, *, limit: int = 50, after: UUID | None = None) -> list[MemoryItem]:
    """Pending memories, oldest first."""
    rows = (
        MemoryItem.objects.of(namespace)
        .pending()
        .order_by("pk")
        .defer("embedding", "search_vector")
    )
    return list((rows.filter(pk__gt=after) if after else rows)[:limit])


def pending(namespace: Namespace, memory_id: UUID | str) -> PendingMemory:
    """One pending memory with its evidence and the nearest existing memories."""
    memory = find_memory(namespace, memory_id)
    replaced_ids = (
        Succession.objects.filter(newer=memory).exclude(kind=Link.FORMERLY).values("older")
    )
    return PendingMemory(
        memory=memory,
        evidence=list(memory.observations.order_by("recorded_at")),
        replaces=list(
            MemoryItem.objects.filter(pk__in=replaced_ids).defer("embedding", "search_vector")
        ),
        beside=[near for near in compare_with_nearest(memory) if near.similarity >= MIN_SIMILARITY],
    )


def approve(namespace: Namespace, memory_id: UUID | str, *, by: str) -> MemoryItem:
    """Bring a pending memory into use; what it was to replace is superseded now."""
    with namespace_transaction(namespace):
        memory = find_pending(namespace, memory_id)
        change_state([memory.pk], to=State.ACTIVE, by=by, reason="approved")
        links = Succession.objects.filter(newer=memory, in_effect=False, undone_at=None)
        replaced_ids = (
            links.exclude(kind=Link.FORMERLY)
            .filter(older__state=State.ACTIVE)
            .values_list("older_id", flat=True)
        )
        change_state(
            list(replaced_ids), to=State.SUPERSEDED, by=by, reason="replaced by an approved memory"
        )
        links.update(in_effect=True)
    memory.state = State.ACTIVE
    return memory


def reject(namespace: Namespace, memory_id: UUID | str, *, by: str, reason: str = "") -> MemoryItem:
    """Keep a pending memory out of use; it supersedes nothing."""
    with namespace_transaction(namespace):
        memory = find_pending(namespace, memory_id)
        change_state([memory.pk], to=State.REJECTED, by=by, reason=reason or "rejected")
    memory.state = State.REJECTED
    return memory


def edit(namespace: Namespace, memory_id: UUID | str, text: str, *, by: str) -> MemoryItem:
    """Approve a pending memory in other words."""
    with transaction.atomic():
        approve(namespace, memory_id, by=by)
        return edits.edit(namespace, memory_id, text, by=by, reason="edited in review")


def split(
    namespace: Namespace, memory_id: UUID | str, texts: Sequence[str], *, by: str
) -> list[MemoryItem]:
    """Approve a pending memory as several."""
    with transaction.atomic():
        approve(namespace, memory_id, by=by)
        return edits.split(namespace, memory_id, texts, by=by, reason="split in review")


def merge(
    namespace: Namespace, memory_ids: Sequence[UUID | str], text: str, *, by: str
) -> MemoryItem:
    """Make one memory in use of several, pending or in use already."""
    with transaction.atomic():
        for memory_id in memory_ids:
            if find_memory(namespace, memory_id).state == State.PENDING:
                approve(namespace, memory_id, by=by)
        return edits.merge(namespace, memory_ids, text, by=by, reason="merged in review")


def decide_all(
    namespace: Namespace, memory_ids: Sequence[UUID | str], *, approved: bool, by: str
) -> DecisionResult:
    """Approve or reject many, each for itself."""
    decided_ids: list[UUID] = []
    failures: dict[str, str] = {}
    for memory_id in dict.fromkeys(memory_ids):
        try:
            memory = (
                approve(namespace, memory_id, by=by)
                if approved
                else reject(namespace, memory_id, by=by)
            )
            decided_ids.append(memory.pk)
        except Problem as problem:
            failures[str(memory_id)] = problem.detail
    return DecisionResult(decided_ids, failures)


def find_pending(namespace: Namespace, memory_id: UUID | str) -> MemoryItem:
    memory = find_memory(namespace, memory_id)
    if memory.state != State.PENDING:
        raise Conflict(f"This memory is not waiting for approval: it is {memory.state}.")
    return memory
