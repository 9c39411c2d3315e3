"""When a reflection is due, and the row that records it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Sum
from django.utils import timezone

from memories.ledger.commit import namespace_transaction
from memories.models import MemoryItem, Namespace, Reflection, Trigger
from memories.states import Bucket


@dataclass(frozen=True)
class Triggers:
    """Thresholds for the new episodes' total importance, their number, and the hours since the last
    reflection; each needs at least `least_episodes`."""

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
    """Return the first trigger reached by the episodes since the last reflection, or None."""
    last = namespace.reflections.order_by("-number").first()
    after = last.until_ms if last else 0
    since = last.created_at if last else namespace.created_at
    episodes = MemoryItem.objects.of(namespace).active().filter(bucket=Bucket.EPISODIC)
    new = episodes.filter(timestamp_ms__gt=after).aggregate(
        count=Count("pk"), importance=Sum("importance"), until=Max("timestamp_ms")
    )
    if new["count"] < triggers.least_episodes:
        return None
    is_reached = {
        Trigger.IMPORTANCE: new["importance"] >= triggers.importance,
        Trigger.EPISODES: new["count"] >= triggers.episodes,
        Trigger.TIME: (now or timezone.now()) - since >= timedelta(hours=triggers.hours),
    }
    trigger = next(filter(is_reached.get, is_reached), None)
    return DueTrigger(trigger, after, new["until"], new["count"]) if trigger else None


def start_reflection(
    namespace: Namespace, triggers: Triggers = Triggers(), *, now: datetime | None = None
) -> Reflection | None:
    """Create the reflection that is due. Return None if none is due or one is still open."""
    # The namespace's lock: of two workers, the second one sees the reflection of the first.
    with namespace_transaction(namespace) as owner:
        if owner.reflections.filter(done_at=None).exists():
            return None
        due = due_trigger(owner, triggers, now=now)
        if due is None:
            return None
        number = (owner.reflections.aggregate(last=Max("number"))["last"] or 0) + 1
        return Reflection.objects.create(namespace=owner, number=number, **vars(due))
