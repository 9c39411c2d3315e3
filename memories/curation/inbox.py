"""The review inbox: machine-written memories that wait for approval, each with the memories it
resembles."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from memories.curation import edits
from memories.curation.duplicates import ComparedMemory, compare_with_nearest
from memories.curation.lifecycle import find_memory
from memories.ledger.commit import change_state, namespace_transaction
from memories.models import MemoryItem, Namespace, Observation, Succession
from memories.states import LinkKind, State, name_of_state
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
    rows = MemoryItem.objects.of(namespace).pending().order_by("pk").without_index_columns()
    return list((rows.filter(pk__gt=after) if after else rows)[:limit])


def pending(namespace: Namespace, memory_id: UUID | str) -> PendingMemory:
    """One pending memory with its evidence and the nearest existing memories."""
    memory = find_memory(namespace, memory_id)
    links = Succession.objects.filter(newer=memory).exclude(kind=LinkKind.FORMERLY)
    older = MemoryItem.objects.filter(pk__in=links.values("older"))
    return PendingMemory(
        memory=memory,
        evidence=list(memory.observations.order_by("recorded_at")),
        replaces=list(older.without_index_columns()),
        beside=[near for near in compare_with_nearest(memory) if near.similarity >= MIN_SIMILARITY],
    )


def approve(namespace: Namespace, memory_id: UUID | str, *, by: str) -> MemoryItem:
    """Bring a pending memory into use; what it was to replace is superseded now."""
    with namespace_transaction(namespace):
        memory = find_pending(namespace, memory_id)
        change_state([memory.pk], to=State.ACTIVE, by=by, reason="approved")
        links = Succession.objects.filter(newer=memory, in_effect=False, undone_at=None)
        replacing = links.exclude(kind=LinkKind.FORMERLY).filter(older__state=State.ACTIVE)
        older_ids = list(replacing.values_list("older_id", flat=True))
        # Only now: the query above selects links that are not in effect yet. And before the older
        # ones leave use: insights rest on what is merged, too.
        links.update(in_effect=True)
        reason = "replaced by an approved memory"
        change_state(older_ids, to=State.SUPERSEDED, by=by, reason=reason)
    memory.state = State.ACTIVE
    return memory


def reject(namespace: Namespace, memory_id: UUID | str, *, by: str, reason: str = "") -> MemoryItem:
    """Reject a pending memory: it stays out of use and supersedes nothing."""
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
    namespace: Namespace, memory_ids: Sequence[UUID | str], *, is_approval: bool, by: str
) -> DecisionResult:
    """Approve or reject many, each for itself."""
    decide = approve if is_approval else reject
    decided_ids: list[UUID] = []
    failures: dict[str, str] = {}
    for memory_id in dict.fromkeys(memory_ids):
        try:
            decided_ids.append(decide(namespace, memory_id, by=by).pk)
        except Problem as problem:
            failures[str(memory_id)] = problem.detail
    return DecisionResult(decided_ids, failures)


def find_pending(namespace: Namespace, memory_id: UUID | str) -> MemoryItem:
    memory = find_memory(namespace, memory_id)
    if memory.state != State.PENDING:
        raise Conflict(
            _("This memory is not waiting for approval: it is %(state)s.")
            % {"state": name_of_state(memory.state)}
        )
    return memory
