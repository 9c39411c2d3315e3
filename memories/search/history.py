"""Memories as pages, and one memory with all that is known of it."""

from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from memories.models import MemoryItem, Succession
from memories.schemas import ChangeOut, HistoryOut, LinkOut, MemoryOut, ObservationOut


def page(
    rows: "QuerySet[MemoryItem]", *, cursor: UUID | None, limit: int
) -> tuple[list[MemoryItem], UUID | None]:
    """Return up to `limit` rows, latest first, and the cursor of the next page."""
    ordered = rows.defer("embedding", "search_vector").order_by("-pk")
    found = list((ordered.filter(pk__lt=cursor) if cursor else ordered)[: limit + 1])
    return found[:limit], found[limit - 1].pk if len(found) > limit else None


def links_of(memory: MemoryItem) -> "QuerySet[Succession]":
    return Succession.objects.filter(Q(older=memory) | Q(newer=memory)).order_by("created_at")


def history_of(memory: MemoryItem) -> HistoryOut:
    """Every state, every link, every observation."""
    changes: list[Any] = list(memory.changes.order_by("at", "pk"))
    return HistoryOut(
        memory=MemoryOut.model_validate(memory),
        changes=[ChangeOut.model_validate(change) for change in changes],
        links=[
            LinkOut(
                kind=link.kind,
                older=link.older_id,
                newer=link.newer_id,
                in_effect=link.in_effect,
                reason=link.reason,
            )
            for link in links_of(memory)
        ],
        observations=[
            ObservationOut.model_validate(seen)
            for seen in memory.observations.order_by("recorded_at")
        ],
    )


def _link(link: Succession) -> LinkOut:
    return LinkOut(
        kind=link.kind,
        older=link.older_id,
        newer=link.newer_id,
        in_effect=link.in_effect,
        reason=link.reason,
    )
