"""Read the event log: for an audience, after a given event."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from retrieval.errors import Problem
from worlds.audiences import Audience, audiences_of_campaign
from worlds.callers import Caller
from worlds.event_model import Event

DELETE_BATCH = 10_000
OVERLAYS = ("lore", "rule", "reveal")
"""Kinds whose events have a campaign when they are about an overlay, which is known there alone."""


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
    position = 0 if event_id is None else position_of(caller, event_id)
    return events_beyond(caller, position, limit=limit, kinds=kinds)


def position_of(caller: Caller, event_id: UUID) -> int:
    """Raises `EventsGone`, also for an event that the caller may not know of: whoever has got hold
    of its id must not learn that it is the id of anything."""
    event = visible_events(caller).filter(pk=event_id).first()
    if event is None or event.position is None:
        raise EventsGone(
            "This event is not in the log any more: read the lists again, then ask with "
            "since=latest."
        )
    return event.position


def events_beyond(
    caller: Caller,
    position: int,
    *,
    limit: int,
    kinds: Sequence[str] = (),
    until: int | None = None,
) -> tuple[list[SeenEvent], bool]:
    """As `events_after`, by positions: after `position`, up to and with `until`."""
    rows = visible_events(caller).filter(position__gt=position)
    if until is not None:
        rows = rows.filter(position__lte=until)
    if kinds:
        rows = rows.filter(kind__in=kinds)
    found = list(rows.order_by("position")[: limit + 1])
    seen = [SeenEvent(row, action_for(row, caller.audience)) for row in found[:limit]]
    return seen, len(found) > limit


HEADS = """
SELECT world.id, head.position
FROM unnest(%s::uuid[]) AS world (id)
CROSS JOIN LATERAL (
  SELECT position FROM worlds_event WHERE world_id = world.id AND position IS NOT NULL
  ORDER BY position DESC LIMIT 1
) AS head
"""


def last_positions(world_ids: Iterable[UUID]) -> dict[UUID, int]:
    """Return the position of the last committed event of each of these worlds that has one. All
    events of the world up to it are there."""
    with connection.cursor() as cursor:
        cursor.execute(HEADS, [list(world_ids)])
        return dict(cursor.fetchall())


def latest_event(caller: Caller, *, until: int | None = None) -> Event | None:
    """Return the last event that the caller may know of, up to the position `until`."""
    rows = visible_events(caller)
    if until is not None:
        rows = rows.filter(position__lte=until)
    return rows.order_by("-position").first()


def visible_events(caller: Caller) -> QuerySet[Event]:
    """The committed events that the caller may know of."""
    rows = Event.objects.filter(world=caller.world, position__isnull=False)
    if caller.campaign:
        rows = rows.filter(Q(campaign_id=None) | Q(campaign_id=caller.campaign.pk))
        own = audiences_of_campaign(caller.campaign)
        rows = rows.filter(~Q(kind="reveal") | is_reveal_to(own))
    if caller.audience.is_gm:
        return rows
    if not caller.campaign:
        # Overlays are known in their campaign; what was played there, by its own visibility.
        rows = rows.filter(Q(campaign_id=None) | ~Q(kind__in=OVERLAYS))
    is_visible = visible("visibility", "known_to", caller.audience)
    was_visible = visible("was_visibility", "was_known_to", caller.audience)
    appeared_or_went = (is_visible & ~was_visible) | (was_visible & ~is_visible)
    return rows.filter(appeared_or_went | (is_visible & Q(seen_change=True)))


def is_reveal_to(audiences: list[str]) -> Q:
    """The condition that a reveal was one to these audiences, or to an NPC."""
    now = Q(known_to__contained_by=audiences) | Q(known_to__0__startswith="npc:")
    before = Q(was_known_to__contained_by=audiences) | Q(was_known_to__0__startswith="npc:")
    return now & before


def visible(visibility: str, known_to: str, audience: Audience) -> Q:
    """The condition that a row with these columns is one that `audience` may know of."""
    public = Q(**{visibility: "public"})
    named = Q(**{visibility: "revealed", f"{known_to}__matches": audience.known_path})
    return public | named


def action_for(event: Event, audience: Audience) -> Event.Action:
    if audience.is_gm:
        return Event.Action(event.action)
    is_visible = may_know(event.visibility, event.known_to, audience)
    was_visible = may_know(event.was_visibility, event.was_known_to, audience)
    if is_visible and was_visible:
        return Event.Action.CHANGED
    return Event.Action.CREATED if is_visible else Event.Action.DELETED


def may_know(visibility: str, known_to: Collection[str], audience: Audience) -> bool:
    return visibility == "public" or (visibility == "revealed" and audience.knows(known_to))


SEEN_ALIKE = (
    *("world", "campaign_id", "kind"),
    *("visibility", "known_to", "was_visibility", "was_known_to", "seen_change"),
)
"""Events that agree in these columns are seen by the same consumers."""


def delete_old_events() -> int:
    """Delete events older than `EVENT_DAYS` (0: never), one batch per transaction; return how
    many.

    Of those that the same consumers see, the last one stays. So whoever has read all that it may
    know of goes on, and whether an event is gone tells nobody of events that it may not know of."""
    horizon, count = timezone.now() - timedelta(days=settings.EVENT_DAYS), 0
    while settings.EVENT_DAYS:
        last = Event.objects.values(*SEEN_ALIKE).annotate(last=Max("position")).values("last")
        old = Event.objects.filter(at__lt=horizon).exclude(position__in=last)
        batch = list(old.values_list("pk", flat=True)[:DELETE_BATCH])
        if not batch:
            break
        count += Event.objects.filter(pk__in=batch).delete()[0]
    return count
