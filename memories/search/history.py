"""Pages of memories, and the succession links of one memory."""

from uuid import UUID

from django.db.models import Q, QuerySet

from memories.models import MemoryItem, Succession
from memories.querysets import MemoryQuerySet


def page(
    rows: MemoryQuerySet, *, cursor: UUID | None, limit: int
) -> tuple[list[MemoryItem], UUID | None]:
    """Return up to `limit` rows, latest first, and the cursor of the next page."""
    rows = rows.without_index_columns().order_by("-pk")
    # One row more than asked for shows whether there is a next page.
    page_rows = list((rows.filter(pk__lt=cursor) if cursor else rows)[: limit + 1])
    return page_rows[:limit], page_rows[limit - 1].pk if len(page_rows) > limit else None


def links_of(memory: MemoryItem) -> "QuerySet[Succession]":
    return Succession.objects.filter(Q(older=memory) | Q(newer=memory)).order_by("created_at")
