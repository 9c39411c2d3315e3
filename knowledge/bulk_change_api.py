"""REST for engines: the changes of many entries at once that people made, and their undoing.

The operations are added to the router of `knowledge.api`."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Query

from knowledge.api import router
from knowledge.bulk_changes import undo_change
from knowledge.editing_models import BulkChange
from retrieval.tasks import embed_soon
from worlds.base_schemas import ResponseModel
from worlds.callers import Caller
from worlds.lookup import find_by_id
from worlds.rest import require_whole_world
from worlds.rest_lists import ListQuery, TimeSort, page_of
from worlds.rest_rows import require_unchanged, with_tag
from worlds.schemas import NextCursor

CHANGE = "/lore-changes/{uuid:change_id}"
SORTS = {"created": "id", "updated": "created_at"}


class BulkChangeOut(ResponseModel):
    """One change of many entries."""

    id: UUID
    what: str
    user: str
    entries: int
    created_at: datetime
    undone_at: datetime | None


class BulkChangePage(ResponseModel):
    changes: list[BulkChangeOut]
    next_cursor: NextCursor = None


class BulkUndoReport(ResponseModel):
    restored: int
    skipped: list[str]


class BulkChangeListQuery(ListQuery):
    sort: TimeSort = "-created"


@router.get(
    "/lore-changes",
    operation_id="lore_change_list",
    summary="List changes of many entries",
    response=BulkChangePage,
)
def list_changes(
    request: HttpRequest, response: HttpResponse, query: Query[BulkChangeListQuery]
) -> dict[str, Any]:
    """What people changed with one action on the list of lore, the latest first."""
    rows = changes_of(require_whole_world(request))
    return page_of(request, response, rows, query, SORTS).answer("changes", present_change)


@router.get(
    CHANGE,
    operation_id="lore_change_get",
    summary="Get a change of many entries",
    response=BulkChangeOut,
)
def get_change(request: HttpRequest, response: HttpResponse, change_id: UUID) -> BulkChangeOut:
    """Who changed how many entries, and whether it was undone."""
    return with_tag(response, present_change(find_change(require_whole_world(request), change_id)))


@router.post(
    f"{CHANGE}/undo",
    operation_id="lore_change_undo",
    summary="Undo a change of many entries",
    response=BulkUndoReport,
)
def undo(request: HttpRequest, change_id: UUID) -> BulkUndoReport:
    """The entries get back what they had before. Those that somebody changed since stay, and are
    listed as `skipped`. 409 when it was undone before."""
    caller = require_whole_world(request)
    change = find_change(caller, change_id)
    with require_unchanged(request, change, present_change):
        undone = undo_change(change, by=str(caller.key or "site")[:150])
        embed_soon("lore")
    return BulkUndoReport(restored=undone.restored, skipped=undone.skipped)


def changes_of(caller: Caller) -> "QuerySet[BulkChange]":
    return BulkChange.objects.filter(world=caller.world).select_related("user", "world")


def find_change(caller: Caller, change_id: UUID) -> BulkChange:
    return find_by_id(changes_of(caller), change_id, what="change")


def present_change(change: BulkChange) -> BulkChangeOut:
    return BulkChangeOut(
        id=change.pk,
        what=change.what,
        user=change.user.get_username(),
        entries=len(change.rows),
        created_at=change.created_at,
        undone_at=change.undone_at,
    )
