"""Moving memories from state to state, with a log of when, by whom and why."""

from collections.abc import Collection, Iterable
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from memories.models import MemoryItem, StateChange
from memories.states import ROWS_AT_ONCE, State


def log(
    items: Iterable[MemoryItem], *, by: str = "", reason: str = "", at: datetime | None = None
) -> None:
    """Note the present state of `items` as their state from now on."""
    moment = at or timezone.now()
    rows = [
        StateChange(memory=item, state=item.state, at=moment, by=by[:120], reason=reason[:300])
        for item in items
    ]
    StateChange.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE)


def move(
    ids: Collection[UUID], *, to: State, by: str = "", reason: str = "", at: datetime | None = None
) -> int:
    """Put the memories into another state; those that are in it already are left alone. Call within a transaction."""
    if not ids:
        return 0
    elsewhere = MemoryItem.objects.filter(pk__in=ids).exclude(state=to).order_by("pk")
    moving = list(elsewhere.select_for_update().values_list("pk", flat=True))
    MemoryItem.objects.filter(pk__in=moving).update(state=to, updated_at=timezone.now())
    moment = at or timezone.now()
    rows = [
        StateChange(memory_id=pk, state=to, at=moment, by=by[:120], reason=reason[:300])
        for pk in moving
    ]
    StateChange.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE)
    return len(moving)
