"""REST: what members typed into the forms of the site and have not saved yet."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Body, Query, Router, Status
from pydantic import Field

from knowledge.entry_drafts import EntryDraft, clean_draft_fields, save_draft
from knowledge.upsert import find_lore_entry
from worlds.base_schemas import ResponseModel, StrictModel
from worlds.keys import Scope
from worlds.lookup import find_by_id
from worlds.members import find_game_master
from worlds.rest import NeedsKey, require_whole_world
from worlds.rest_lists import ListQuery, TimeSort, page_of
from worlds.rest_rows import require_unchanged, set_location, with_tag
from worlds.schemas import NextCursor

router = Router(tags=["knowledge"], auth=NeedsKey(Scope.ADMIN))
DRAFT = "/drafts/{uuid:draft_id}"
SORTS = {"created": "id", "updated": "updated_at"}
Form = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[\w-]+$")]
FieldValue = str | bool | list[str] | None


class DraftIn(StrictModel):
    """The fields of a form as a member left them."""

    user: str = Field(max_length=150, description="User name of the designer or game master.")
    form: Form = Field("lore", description="Which form the fields belong to.")
    entry: str | None = Field(
        None, max_length=200, description="Slug or id of the entry; left out: of a new entry."
    )
    fields: dict[str, FieldValue] = Field(
        description="Names of the form's fields and what was typed.",
        examples=[{"title": "The Tin Heron", "body": "An inn by the pier."}],
    )
    base_version: int | None = Field(
        None, ge=1, lt=2**31, description="The version of the entry that was open."
    )


class DraftChange(StrictModel):
    """What the member typed since."""

    fields: dict[str, FieldValue] = Field(
        description="All fields of the form; what is left out is dropped."
    )


class DraftOut(ResponseModel):
    """What a member typed into a form and has not saved. On the site only its author reads it."""

    id: UUID
    user: str = Field(description="User name of the author.")
    form: str = Field(description="Which form the fields belong to.")
    title: str = Field(description="The title as it was typed; empty: none yet.")
    entry: str | None = Field(description="Slug of the entry; null: of a new entry.")
    base_version: int | None = Field(description="The version of the entry that was open.")
    fields: dict[str, Any] = Field(description="Names of the form's fields and what was typed.")
    updated_at: datetime


class DraftPage(ResponseModel):
    """A page of unsaved drafts."""

    drafts: list[DraftOut] = Field(description="The drafts of this page.")
    next_cursor: NextCursor = None


class DraftQuery(ListQuery):
    sort: TimeSort = "-updated"
    user: Annotated[
        str | None, Field(max_length=150, description="Those of this member alone.")
    ] = None


@router.get("/drafts", operation_id="draft_list", summary="List unsaved drafts", response=DraftPage)
def list_drafts(
    request: HttpRequest, response: HttpResponse, query: Query[DraftQuery]
) -> dict[str, Any]:
    """What members typed into forms of the site and have not saved, the latest first."""
    rows = drafts_in_world(request)
    if query.user:
        rows = rows.filter(user__username=query.user)
    return page_of(request, response, rows, query, SORTS).answer("drafts", present_draft)


@router.post(
    "/drafts", operation_id="draft_create", summary="Keep a draft", response={201: DraftOut}
)
def post_draft(
    request: HttpRequest, response: HttpResponse, entry: Body[DraftIn]
) -> Status[DraftOut]:
    """The member finds it in the form. Their draft of the same entry is replaced; of new entries
    each member has 50, and the oldest goes."""
    world = require_whole_world(request).world
    user = find_game_master(world, entry.user)
    lore = find_lore_entry(world, entry.entry) if entry.entry else None
    row = save_draft(
        user,
        world,
        fields=clean_draft_fields(entry.fields),
        entry_id=lore.pk if lore else None,
        target_kind=entry.form,
        base_version=entry.base_version,
    )
    set_location(response, f"world/drafts/{row.pk}")
    return Status(201, with_tag(response, present_draft(row)))


@router.get(DRAFT, operation_id="draft_get", summary="Get an unsaved draft", response=DraftOut)
def get_draft(request: HttpRequest, response: HttpResponse, draft_id: UUID) -> DraftOut:
    """All that was typed."""
    return with_tag(response, present_draft(find_draft(request, draft_id)))


@router.patch(
    DRAFT, operation_id="draft_change", summary="Change an unsaved draft", response=DraftOut
)
def patch_draft(
    request: HttpRequest, response: HttpResponse, draft_id: UUID, change: Body[DraftChange]
) -> DraftOut:
    """Replaces what was typed."""
    row = find_draft(request, draft_id)
    with require_unchanged(request, row, present_draft):
        row = save_draft(
            row.user,
            row.world,
            fields=clean_draft_fields(change.fields),
            entry_id=row.entry_id,
            draft_id=row.pk,
            target_kind=row.target_kind,
            base_version=row.base_version,
        )
    return with_tag(response, present_draft(row))


@router.delete(
    DRAFT, operation_id="draft_delete", summary="Delete an unsaved draft", response={204: None}
)
def delete_draft(request: HttpRequest, draft_id: UUID) -> Status[None]:
    """For good, as after the form was saved."""
    row = find_draft(request, draft_id)
    with require_unchanged(request, row, present_draft):
        row.delete()
    return Status(204, None)


def drafts_in_world(request: HttpRequest) -> "QuerySet[EntryDraft]":
    """Without those of entries in the trash, which come back with their entry."""
    rows = EntryDraft.objects.filter(world=require_whole_world(request).world)
    rows = rows.filter(Q(entry=None) | Q(entry__deleted_at=None))
    return rows.select_related("user", "world", "entry")


def find_draft(request: HttpRequest, draft_id: UUID) -> EntryDraft:
    return find_by_id(drafts_in_world(request), draft_id, what="draft")


def present_draft(row: EntryDraft) -> DraftOut:
    return DraftOut(
        id=row.pk,
        user=row.user.get_username(),
        form=row.target_kind,
        title=row.title,
        entry=row.entry.slug if row.entry else None,
        base_version=row.base_version,
        fields=row.fields,
        updated_at=row.updated_at,
    )
