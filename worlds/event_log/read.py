"""Read the event log: for an audience, after a given event."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from retrieval.errors import Problem
from worlds.audiences import Audience
from worlds.callers import Caller
from worlds.event_model import Event

DELETE_BATCH = 10_000
OVERLAYS = ("lore", "rule")


class EventsGone(Problem):
    """The event after which to go on is not in the log: it was deleted, or never was."""

    code, title = "events_gone", "The log does not reach back that far"


@dataclass(frozen=True)
class SeenEvent:
    """An event as an audience sees it: what becomes visible was created, what it may know no longer
    was deleted."""

    event: Event
    action: Event.Action


def events_after(
    caller: Caller, event_id: UUID | None, *, limit: int, kinds: Sequence[str] = ()
) -> tuple[list[SeenEvent], bool]:
    """Return at most `limit` events that the caller may know of, in the order of commits, after
    the one of this id (None: from the oldest that is kept), and whether there are more. Raises
    `EventsGone`."""
    rows = visible_events(caller)
    if event_id is not None:
        last = Event.objects.filter(world=caller.world, pk=event_id).first()
        if last is None:
            raise EventsGone(
                "This event is not in the log any more: read the lists again, then ask with "
                "since=latest."
            )
        rows = rows.filter(position__gt=last.position)
    if kinds:
        rows = rows.filter(kind__in=kinds)
    found = list(rows.order_by("position")[: limit + 1])
    seen = [SeenEvent(row, action_for(row, caller.audience)) for row in found[:limit]]
    return seen, len(found) > limit


def latest_event(caller: Caller) -> Event | None:
    return visible_events(caller).order_by("-position").first()


def visible_events(caller: Caller) -> QuerySet[Event]:
    """The committed events that the caller may know of."""
    rows = Event.objects.filter(world=caller.world, position__isnull=False)
    if caller.campaign:
        rows = rows.filter(Q(campaign_id=None) | Q(campaign_id=caller.campaign.pk))
    if caller.audience.is_gm:
        return rows
    if not caller.campaign:
        # Overlays are known in their campaign; what was played there, by its own visibility.
        rows = rows.filter(Q(campaign_id=None) | ~Q(kind__in=OVERLAYS))
    is_visible = visible("visibility", "known_to", caller.audience)
    was_visible = visible("was_visibility", "was_known_to", caller.audience)
    appeared_or_went = (is_visible & ~was_visible) | (was_visible & ~is_visible)
    return rows.filter(appeared_or_went | (is_visible & Q(seen_change=True)))


def visible(visibility: str, known_to: str, audience: Audience) -> Q:
    """The condition that a row with these columns is one that `audience` may know of."""
    public = Q(**{visibility: "public"})
    named = Q(**{visibility: "revealed", f"{known_to}__contains": [str(audience)]})
    return public | named


def action_for(event: Event, audience: Audience) -> Event.Action:
    if audience.is_gm:
        return Event.Action(event.action)
    is_visible = may_know(event.visibility, event.known_to, audience)
    was_visible = may_know(event.was_visibility, event.was_known_to, audience)
    if is_visible and was_visible:
        return Event.Action.CHANGED
    return Event.Action.CREATED if is_visible else Event.Action.DELETED


def may_know(visibility: str, known_to: Iterable[str], audience: Audience) -> bool:
    return visibility == "public" or (visibility == "revealed" and str(audience) in known_to)


def delete_old_events() -> int:
    """Delete events older than `EVENT_DAYS` (0: never), one batch per transaction; return how
    many. The last one of each world stays: a consumer that has read it has missed nothing."""
    horizon, count = timezone.now() - timedelta(days=settings.EVENT_DAYS), 0
    while settings.EVENT_DAYS:
        newer = Event.objects.filter(
            world_id=OuterRef("world_id"), position__gt=OuterRef("position")
        )
        old = Event.objects.filter(Exists(newer), at__lt=horizon).values_list("pk", flat=True)
        batch = list(old[:DELETE_BATCH])
        if not batch:
            break
        count += Event.objects.filter(pk__in=batch).delete()[0]
    return count
