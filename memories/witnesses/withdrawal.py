"""Memories that leave use with their episode, and come back with it."""

from collections.abc import Iterable
from uuid import UUID

from memories.ledger.commit import change_state
from memories.models import MemoryItem
from memories.querysets import MemoryQuerySet
from memories.states import State

WITHDRAWN = "the episode was withdrawn"
"""The reason in the log of states by which these memories are known."""


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
    last = {row.pk: row.changes.order_by("-at", "-pk").first() for row in archived}
    return {pk for pk, change in last.items() if change and change.reason == WITHDRAWN}
