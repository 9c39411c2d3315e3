"""When it is time to reflect, and the one row that stands for that time."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Sum
from django.utils import timezone

from memories.ledger.lock import namespace_transaction
from memories.models import MemoryItem, Namespace, Reflection, Trigger
from memories.states import Bucket


@dataclass(frozen=True)
class Triggers:
    """The sum of the new episodes' importance, their number, or the time since the last reflection."""

    importance: float = 8.0
    episodes: int = 15
    hours: float = 24.0
    least_episodes: int = 3


@dataclass(frozen=True)
class DueTrigger:
    trigger: Trigger
    after_ms: int
    until_ms: int
    episodes: int


def due_trigger(
    namespace: Namespace, triggers: Triggers = Triggers(), *, now: datetime | None = None
) -> DueTrigger | None:
    """Which trigger has been reached by the episodes since the last reflection, or None."""
    last = namespace.reflections.order_by("-number").first()
    after = last.until_ms if last else 0
    rows = (
        MemoryItem.objects.of(namespace)
        .active()
        .filter(bucket=Bucket.EPISODIC, timestamp_ms__gt=after)
    )
    found = rows.aggregate(
        count=Count("pk"), importance=Sum("importance"), until=Max("timestamp_ms")
    )
    if found["count"] < triggers.least_episodes:
        return None
    since = last.created_at if last else namespace.created_at
    reached = {
        Trigger.IMPORTANCE: found["importance"] >= triggers.importance,
        Trigger.EPISODES: found["count"] >= triggers.episodes,
        Trigger.TIME: (now or timezone.now()) - since >= timedelta(hours=triggers.hours),
    }
    trigger = next((trigger for trigger, is_reached in reached.items() if is_reached), None)
    return DueTrigger(trigger, after, found["until"], found["count"]) if trigger else None


def start_reflection(
    namespace: Namespace, triggers: Triggers = Triggers(), *, now: datetime | None = None
) -> Reflection | None:
    """Write down that it is time, once: writers of a namespace take turns, and only one reflection may be open."""
    with namespace_transaction(namespace) as locked:
        if locked.reflections.filter(done_at=None).exists():
            return None
        found = due_trigger(locked, triggers, now=now)
        if found is None:
            return None
        number = (locked.reflections.aggregate(last=Max("number"))["last"] or 0) + 1
        return Reflection.objects.create(namespace=locked, number=number, **vars(found))
