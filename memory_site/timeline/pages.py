"""The page of the timeline."""

from dataclasses import dataclass, replace
from math import floor
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from knowledge.models import Lore
from knowledge.views import lore_of
from memory_site.timeline.events import (
    FOR_GAME_MASTERS,
    KINDS,
    PAGE,
    Cursor,
    TimelineEvent,
    TimelineFilter,
)
from memory_site.timeline.sources import SOURCES
from npcs.models import NPC
from retrieval.errors import Problem
from worlds.calendars.moons import MoonPhase, phases_on
from worlds.lookup import find_row
from worlds.models import Campaign
from worlds.pages import Viewer, page, render_page
from worlds.world_calendar import read_date, show_date

LONGEST_SPAN = 20_000
"""Days of a page for which festivals are listed; a page that spans ages would be full of them."""


@dataclass(frozen=True)
class TimelineDay:
    """What happened on one day, under its date."""

    at: int
    date: str
    moons: list[MoonPhase]
    festivals: list[str]
    events: list[TimelineEvent]


@page
def timeline(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Show what happened in the world, for the viewer, in pages by day."""
    wanted = filter_of(request, viewer)
    try:
        events, has_more = read_timeline(viewer, wanted)
    except Problem as problem:
        wanted, events, has_more = replace(wanted, problems=[problem.detail]), [], False
    query = {name: value for name, value in request.GET.items() if value and name != "after"}
    sky = "sky" in request.GET
    following = urlencode({**query, "after": events[-1].cursor}) if has_more else ""
    return render_page(
        request,
        viewer,
        "gm/timeline.html",
        days=days_of(viewer, events, wanted, sky=sky),
        wanted=wanted,
        typed=request.GET,
        sky=sky,
        following=following,
        kinds=[(k, name) for k, name in KINDS.items() if viewer.is_gm or k not in FOR_GAME_MASTERS],
        campaigns=viewer.campaigns if viewer.is_gm else [],
    )


def read_timeline(viewer: Viewer, wanted: TimelineFilter) -> tuple[list[TimelineEvent], bool]:
    """Return the events of a page, and whether more follow."""
    events: list[TimelineEvent] = []
    if wanted.problems:
        return [], False
    for rank, (kind, source) in enumerate(SOURCES):
        if wanted.shows(kind) and (viewer.is_gm or kind not in FOR_GAME_MASTERS):
            events += source(viewer, wanted, rank)
    events.sort(key=lambda each: (each.at, each.rank, each.key), reverse=not wanted.oldest_first)
    return events[:PAGE], len(events) > PAGE


def days_of(
    viewer: Viewer, events: list[TimelineEvent], wanted: TimelineFilter, *, sky: bool
) -> list[TimelineDay]:
    """Group events by day; with `sky`, add the festivals between them and the moons."""
    days: dict[int, list[TimelineEvent]] = {}
    for event in events:
        if not event.is_repeated:
            days.setdefault(floor(event.at), []).append(event)
    festivals = festivals_between(viewer, days) if sky else {}
    order = sorted({*days, *festivals}, reverse=not wanted.oldest_first)
    return [
        TimelineDay(
            day,
            show_date(viewer.calendar, day),
            phases_on(viewer.calendar.definition, day) if sky and viewer.calendar else [],
            festivals.get(day, []),
            days.get(day, []),
        )
        for day in order
    ]


def festivals_between(viewer: Viewer, days: dict[int, Any]) -> dict[int, list[str]]:
    if not viewer.calendar or not days or max(days) - min(days) > LONGEST_SPAN:
        return {}
    found: dict[int, list[str]] = {}
    for day, name in viewer.calendar.festivals_between(min(days), max(days)):
        found.setdefault(day, []).append(name)
    return found


# --- what is asked for


def filter_of(request: HttpRequest, viewer: Viewer) -> TimelineFilter:
    """Read the filter from the address. Raises Http404 for what the viewer may not know of; a date
    that is none is a problem on the page."""
    given = request.GET
    wanted = TimelineFilter(
        kinds=frozenset(given.getlist("kind")) & frozenset(KINDS),
        campaign=campaign_of(viewer, given.get("campaign", "")),
        party=viewer.party(given.get("party")),
        oldest_first=given.get("order") == "oldest",
    )
    try:
        since, last = (read_date(viewer.calendar, given.get(name, "")) for name in ("from", "to"))
        wanted = replace(
            wanted,
            since=since.first if since else None,
            until=end_of(last.last) if last else None,
            after=Cursor.parse(given["after"]) if given.get("after") else None,
        )
        return about(viewer, wanted, given.get("about", "").strip())
    except Problem as problem:
        return replace(wanted, problems=[problem.detail])


def end_of(last: float) -> float:
    """Return the first moment after a day; a moment of a day is itself the last."""
    return last + 1 if last == floor(last) else last + 1e-9


def campaign_of(viewer: Viewer, slug: str) -> Campaign | None:
    if not slug:
        return None
    campaign = next((each for each in viewer.campaigns if each.slug == slug), None)
    if campaign is None or not viewer.is_gm:
        raise Http404
    return campaign


def about(viewer: Viewer, wanted: TimelineFilter, name: str) -> TimelineFilter:
    """Narrow to a person or a place by its name. Raises `NotFound` and `Ambiguous`, with names that
    the viewer may know."""
    if not name:
        return wanted
    npcs: Any = NPC.objects.in_world(viewer.world).visible_to(viewer.audience)
    npc = npcs.filter(slug=name).first() or npcs.filter(name__iexact=name).first()
    if npc:
        return replace(wanted, npc=npc, lore=npc.biography if viewer.is_gm else None)
    entries: Any = Lore.objects.filter(pk__in=lore_of(viewer).values("pk"))
    return replace(
        wanted,
        lore=find_row(entries, name, what=_("person or place"), name="title", resembling=True),
    )
