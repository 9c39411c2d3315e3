"""Moving memories from state to state, with a log of when, by whom and why."""

from collections.abc import Collection, Iterable
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from memories.ledger.copy_rows import copy_rows
from memories.models import MemoryItem, StateChange
from memories.states import State


def change_state(
    ids: Collection[UUID], *, to: State, by: str = "", reason: str = "", at: datetime | None = None
) -> int:
    """Put the memories into another state; return how many were in a different one. Call within
    a transaction."""
    if not ids:
        return 0
    elsewhere = MemoryItem.objects.filter(pk__in=ids).exclude(state=to).order_by("pk")
    changing = list(elsewhere.select_for_update().values_list("pk", flat=True))
    MemoryItem.objects.filter(pk__in=changing).update(state=to, updated_at=timezone.now())
    log_states([(pk, to, reason) for pk in changing], by=by, at=at)
    return len(changing)


def log_states(
    changes: Iterable[tuple[UUID, State, str]], *, by: str = "", at: datetime | None = None
) -> None:
    """Log (memory, state, reason) rows."""
    rows = [(pk, state, reason[:300]) for pk, state, reason in changes]
    shared = {"at": at or timezone.now(), "by": by[:120]}
    copy_rows(StateChange, ["memory", "state", "reason"], rows, **shared)
