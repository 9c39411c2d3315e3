"""REST: make two records of one person one, and take that back."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Body, Path, Query, Router
from pydantic import Field

from episodes.api import name_of
from memory_site.npc_merging.merge import merge_npcs, undo_merge
from npcs.lookup import find_npc
from npcs.models import NPCMerge
from worlds.base_schemas import ResponseModel, StrictModel
from worlds.keys import Scope
from worlds.lookup import find_by_id
from worlds.rest import NeedsKey, expecting, require_whole_world
from worlds.rest_lists import ListQuery, page_of
from worlds.schemas import NextCursor

router = Router(tags=["npcs"], auth=NeedsKey(Scope.WORLD_WRITE))
Reference = Annotated[str, Path(max_length=200)]
Text = Annotated[str, Field(max_length=2000, pattern=r"^[^\x00]*$")]
SORTS = {"created": "id", "updated": "merged_at"}


class NPCMergeIn(StrictModel):
    """The record that goes over, and why."""

    other: str = Field(
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00]*$",
        description="Id, slug or whole name of the NPC that is merged into the one of the address.",
    )
    reason: Text = ""
    with_profile: bool | None = Field(
        None,
        description="Take over the other names, and what the page of the NPC lacks. Null: if "
        "everybody who knows the NPC knows the other one, so that it tells nobody anything new.",
    )


class NPCMergeOut(ResponseModel):
    """Two records that were made one. `npc_id` is the one that stayed."""

    id: UUID
    npc_id: str
    merged_id: str = Field(description="Slug of the record that went over.")
    reason: str
    made_by: str
    merged_at: datetime
    undone_by: str
    undone_at: datetime | None = Field(description="When it was taken back; null: it stands.")

    @classmethod
    def of(cls, merge: NPCMerge) -> Self:
        same = ("id", "reason", "made_by", "merged_at", "undone_by", "undone_at")
        values = {name: getattr(merge, name) for name in same}
        return cls(npc_id=merge.kept.slug, merged_id=merge.merged.slug, **values)


class NPCMergePage(ResponseModel):
    """The merges of a world, page by page."""

    merges: list[NPCMergeOut] = Field(description="The merges of this page.")
    next_cursor: NextCursor = None


@router.post(
    "/npcs/{ref}/merge",
    operation_id="npc_merge",
    summary="Merge another record of an NPC into it",
    response=NPCMergeOut,
)
def merge_into(request: HttpRequest, ref: Reference, entry: Body[NPCMergeIn]) -> NPCMergeOut:
    """Dispositions with their ledger, episodes, facts, secrets, pictures and what the other one was
    told go over; the other one goes into the trash. `If-Match` takes the tag of the NPC that
    stays."""
    caller = require_whole_world(request)
    kept = find_npc(caller.world, ref)
    merged = find_npc(caller.world, entry.other)
    with expecting(request, kept.version) as version:
        merge = merge_npcs(
            merged,
            into=kept,
            reason=entry.reason,
            by=name_of(caller),
            with_profile=entry.with_profile,
            expected_version=version,
        )
    return NPCMergeOut.of(merge)


@router.get(
    "/npc-merges", operation_id="npc_merge_list", summary="List merges", response=NPCMergePage
)
def list_merges(
    request: HttpRequest, response: HttpResponse, query: Query[ListQuery]
) -> dict[str, Any]:
    """Those that stand and those that were undone. A merge whose other record was deleted for good
    is not listed any more."""
    rows: Any = NPCMerge.objects.filter(world=require_whole_world(request).world)
    rows = rows.select_related("kept", "merged")
    page = page_of(request, response, rows, query, SORTS)
    return page.answer("merges", NPCMergeOut.of)


@router.post(
    "/npc-merges/{uuid:merge_id}/undo",
    operation_id="npc_merge_undo",
    summary="Undo a merge",
    response=NPCMergeOut,
)
def undo(request: HttpRequest, merge_id: UUID) -> NPCMergeOut:
    """Both records have again what each had; what was recorded since stays with the one that was
    kept. 409 when it was undone before, or the kept one was deleted or merged itself."""
    caller = require_whole_world(request)
    merges = NPCMerge.objects.filter(world=caller.world).select_related("kept", "merged")
    merge = find_by_id(merges, merge_id, what="merge")
    undone = undo_merge(merge, by=name_of(caller))
    return NPCMergeOut.of(undone)
