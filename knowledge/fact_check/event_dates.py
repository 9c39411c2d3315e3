"""When an event happened, as far as the caller may know: the dates of its lore entry, else the
first day of its facts."""

from django.db.models import Q

from knowledge.graph.models import GraphNode
from knowledge.graph.querysets import FactQuerySet
from knowledge.schemas import LoreFilters
from knowledge.searched_rows import LoreRows
from worlds.calendars.date_parser import DateSpan
from worlds.callers import Caller


def days_of_event(event: GraphNode, facts: FactQuerySet, caller: Caller | None) -> DateSpan | None:
    """Return the days of the event; None if none are known. Without a caller only facts tell."""
    if event.lore_id and caller:
        rows = LoreRows(caller, LoreFilters(), with_drafts=False).entries.queryset
        entry = rows.filter(pk=event.lore_id, status="published").first()
        if entry and entry.in_world_at is not None:
            last = entry.in_world_at if entry.in_world_until is None else entry.in_world_until
            return DateSpan(entry.in_world_at, last)
    days = facts.filter(Q(src=event), since__isnull=False).values_list("since", flat=True)
    first = min(days, default=event.since)
    return None if first is None else DateSpan(first, first)


def event_span(event: GraphNode, facts: FactQuerySet) -> DateSpan | None:
    """Return from when to when an event was, by the facts that know both; None if they disagree or
    none does."""
    rows = facts.filter(src=event, since__isnull=False, until__isnull=False)
    spans = {DateSpan(since, until) for since, until in rows.values_list("since", "until")}
    return spans.pop() if len(spans) == 1 else None
