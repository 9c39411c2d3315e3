"""Reversible state changes of one memory: expire, archive, restore."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from memories.curation.duplicates import ComparedMemory, compare_with_nearest
from memories.curation.withdrawal import require_still_known
from memories.identity import would_lose_labels
from memories.ledger.commit import change_state, commit, namespace_transaction
from memories.ledger.plan import Plan
from memories.ledger.rows import log_states
from memories.models import MemoryItem, Namespace, Succession
from memories.similarity.compare import Verdict
from memories.similarity.resolve import MemoryLink
from memories.states import LinkKind, State, name_of_state
from retrieval.errors import Conflict, NotFound
from worlds.idempotency import note_commit

MAX_EXPIRED_AT_ONCE = 10_000
RESTORABLE = {State.SUPERSEDED, State.ARCHIVED, State.EXPIRED, State.REJECTED}


def find_memory(namespace: Namespace, memory_id: UUID | str) -> MemoryItem:
    """Return the memory. Raise `NotFound` alike for one that was erased, never existed or belongs
    to another namespace, or to an episode of another campaign than the caller's."""
    try:
        pk = UUID(str(memory_id))
    except ValueError:
        detail = _("%(id)r is not the id of a memory.") % {"id": str(memory_id)[:60]}
        raise NotFound(detail) from None
    rows = MemoryItem.objects.of(namespace).without_index_columns()
    if namespace.only_campaign:
        rows = rows.of_campaign(namespace.only_campaign)
    memory: MemoryItem | None = rows.filter(pk=pk).first()
    if memory is None:
        raise NotFound(
            _("There is no such memory; if it was deleted for good, it cannot be brought back.")
        )
    return memory


def archive(
    namespace: Namespace, memory_id: UUID | str, *, by: str = "", reason: str = ""
) -> MemoryItem:
    """Take a memory out of use; `restore` brings it back."""
    states = {State.ACTIVE, State.PENDING}
    return change_one_state(namespace, memory_id, states, to=State.ARCHIVED, by=by, reason=reason)


def close(
    namespace: Namespace,
    memory_id: UUID | str,
    *,
    by: str = "",
    reason: str = "",
    until: datetime | None = None,
) -> MemoryItem:
    """Let a memory expire, because what it says is settled or over: now, or at a later `until`.
    `restore` brings it back."""
    if until is None or until <= timezone.now():
        states = {State.ACTIVE, State.PENDING}
        return change_one_state(
            namespace, memory_id, states, to=State.EXPIRED, by=by, reason=reason or "closed"
        )
    with namespace_transaction(namespace):
        memory = find_memory(namespace, memory_id)
        if memory.state not in (State.ACTIVE, State.PENDING):
            raise Conflict(
                _("This memory is %(state)s already.") % {"state": name_of_state(memory.state)}
            )
        memory.expires_at = until
        memory.save(update_fields=["expires_at", "updated_at"])
        log_states([(memory.pk, State(memory.state), reason)], by=by)
        note_commit()
    return memory


def restore(
    namespace: Namespace, memory_id: UUID | str, *, by: str = "", reason: str = ""
) -> MemoryItem:
    """Put a memory back into use, where it holds as if it had been written now: what replaced it,
    or contradicts it, stays in use as a former value, unless it is linked to the memory already.
    What says nearly the same stays beside it; `edits.undo` takes a replacement back.

    Raise `Conflict` if what it rests on does not hold any more, such as its episode, or if the very
    same is in use. Call it outside a transaction: texts are compared by a model.
    """
    memory = find_memory(namespace, memory_id)
    compared = compare_with_nearest(memory) if is_compared(memory) else []
    with namespace_transaction(namespace):
        require_no_duplicate(memory, compared)
        corrections = Succession.objects.filter(
            older=memory, in_effect=True, kind=LinkKind.SUPERSEDES
        )
        former = set(corrections.values_list("newer_id", flat=True))
        restored = return_to_use(namespace, memory_id, by=by, reason=reason)
        contradicting = [one for one in compared if one.verdict is Verdict.CONTRADICTS]
        former |= {one.memory.pk for one in contradicting}
        link_as_former(namespace, former, to=restored)
    return restored


def return_to_use(
    namespace: Namespace, memory_id: UUID | str, *, by: str = "", reason: str = ""
) -> MemoryItem:
    """Put a memory back into use beside all others, without comparing them."""
    with namespace_transaction(namespace):
        require_still_known(find_memory(namespace, memory_id))
        memory = change_one_state(
            namespace, memory_id, RESTORABLE, to=State.ACTIVE, by=by, reason=reason or "restored"
        )
        if memory.expires_at and memory.expires_at <= timezone.now():
            # Else the next run of `expire_due` would take it out of use again.
            MemoryItem.objects.filter(pk=memory.pk).update(expires_at=None)
        Succession.objects.filter(older=memory, in_effect=True).exclude(
            kind=LinkKind.FORMERLY
        ).update(in_effect=False, undone_at=timezone.now())
    return memory


def is_compared(memory: MemoryItem) -> bool:
    """Whether its text is compared with others. Episodes and turns are not when they are written
    either: each happened."""
    is_event = memory.episode_id is not None or memory.turn_order is not None
    return memory.state in RESTORABLE and not is_event


def require_no_duplicate(memory: MemoryItem, compared: Sequence[ComparedMemory]) -> None:
    """Raise `Conflict` if a memory in use has the same text and all labels of `memory`; one that
    took its place does not count, because restoring undoes that."""
    links = Succession.objects.filter(older=memory, in_effect=True).exclude(kind=LinkKind.FORMERLY)
    replacing_ids = set(links.values_list("newer_id", flat=True))
    for one in compared:
        loses_labels = would_lose_labels(memory.metadata, one.memory.metadata)
        if one.verdict is Verdict.EXACT and not loses_labels and one.memory.pk not in replacing_ids:
            raise Conflict(_("The same is in use already: memory %(pk)s.") % {"pk": one.memory.pk})


def link_as_former(namespace: Namespace, ids: Iterable[UUID], *, to: MemoryItem) -> None:
    """Link those in use to the memory that contradicts them; pairs that are linked already keep
    their order."""
    links = Succession.objects.filter(kind=LinkKind.FORMERLY)
    linked_ids = {
        *links.filter(older=to).values_list("newer_id", flat=True),
        *links.filter(newer=to).values_list("older_id", flat=True),
    }
    rows = MemoryItem.objects.of(namespace).active().filter(pk__in=ids)
    new_ids = rows.exclude(pk__in=linked_ids).values_list("pk", flat=True)
    new_links = [MemoryLink(pk, to.pk, LinkKind.FORMERLY, "restored") for pk in new_ids]
    if new_links:
        commit(namespace, Plan(links=new_links))


def expire_due(*, now: datetime | None = None) -> int:
    """Expire the memories whose `expires_at` has passed (at most 10,000); return how many."""
    moment = now or timezone.now()
    with transaction.atomic():
        due = MemoryItem.objects.filter(
            expires_at__lte=moment, state__in=[State.ACTIVE, State.PENDING]
        )
        ids = list(due.values_list("pk", flat=True)[:MAX_EXPIRED_AT_ONCE])
        return change_state(ids, to=State.EXPIRED, reason="expired", at=moment)


def change_one_state(
    namespace: Namespace,
    memory_id: UUID | str,
    states: set[State],
    *,
    to: State,
    by: str,
    reason: str,
) -> MemoryItem:
    """Raise `Conflict` unless the memory is in one of `states`."""
    with namespace_transaction(namespace):
        memory = find_memory(namespace, memory_id)
        if memory.state not in states:
            raise Conflict(
                _("This memory is %(state)s already.") % {"state": name_of_state(memory.state)}
            )
        change_state([memory.pk], to=to, by=by, reason=reason)
        note_commit()
    memory.state = to
    return memory
