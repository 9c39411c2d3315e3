"""Memories that leave use with their episode or telling, and come back with it alone."""

from collections.abc import Iterable
from uuid import UUID

from django.utils.translation import gettext as _

from memories.ledger.commit import change_state
from memories.models import MemoryItem
from memories.querysets import MemoryQuerySet
from memories.states import Maker, State
from retrieval.errors import Conflict

WITHDRAWN = "the episode was withdrawn"
"""The reason in the log of states by which these memories are known."""
TAKEN_BACK = "the telling was taken back"
RETOLD = "what was told of was corrected"
HEARD = "heard"
"""How an NPC knows what another one told it: the `way` in the metadata of a memory."""


def withdraw_memories(rows: MemoryQuerySet) -> None:
    """Take the memories out of use. Those that wait for approval are rejected."""
    change_state(ids_in(rows, State.ACTIVE), to=State.ARCHIVED, by="episode", reason=WITHDRAWN)
    change_state(ids_in(rows, State.PENDING), to=State.REJECTED, by="episode", reason=WITHDRAWN)


def bring_back(rows: MemoryQuerySet) -> None:
    """Bring those into use again that were withdrawn."""
    reason = "the episode holds again"
    change_state(withdrawn_among(rows), to=State.ACTIVE, by="episode", reason=reason)


def ids_in(rows: MemoryQuerySet, state: State) -> list[UUID]:
    return list(rows.filter(state=state).values_list("pk", flat=True))


def withdrawn_among(rows: Iterable[MemoryItem]) -> set[UUID]:
    archived = [row for row in rows if row.state == State.ARCHIVED]
    return {row.pk for row in archived if last_reason(row) == WITHDRAWN}


def last_reason(memory: MemoryItem) -> str:
    """Return why the memory is in its present state."""
    change = memory.changes.order_by("-at", "-pk").first()
    return change.reason if change else ""


def require_still_known(memory: MemoryItem) -> None:
    """Raise `Conflict` if what the memory rests on does not hold: its episode was retracted or
    corrected, its owner was not there after all, or the telling was taken back. Nobody brings such
    a memory back into use by hand; it comes back with the episode."""
    if memory.episode and memory.episode.retracted_at:
        raise Conflict(_("The episode of this memory was retracted: restore the episode instead."))
    hearsay = getattr(memory, "hearsay", None)
    reason = last_reason(memory)
    if reason == TAKEN_BACK or (hearsay and hearsay.taken_back_at):
        raise Conflict(_("Whoever told this took it back: let it be told again instead."))
    was_heard = hearsay is not None or memory.metadata.get("way") == HEARD
    own = MemoryItem.objects.filter(namespace=memory.namespace_id, episode=memory.episode_id)
    own = own.filter(hearsay=None).exclude(metadata__way=HEARD).without_index_columns()
    if memory.episode_id is None or was_heard:
        is_withdrawn, is_corrected = reason == WITHDRAWN, reason == RETOLD
    else:
        records = own.filter(made_by=Maker.EPISODE).exclude(pk=memory.pk)
        is_withdrawn = bool(withdrawn_among(own)) or reason == WITHDRAWN
        is_corrected = records.filter(timestamp_ms__gt=memory.timestamp_ms).exists()
    if is_corrected:
        raise Conflict(
            _("The episode was corrected since: correct the present memory of it instead.")
        )
    if is_withdrawn:
        raise Conflict(
            _("Its owner does not know of the episode any more: reveal the episode to it instead.")
        )
