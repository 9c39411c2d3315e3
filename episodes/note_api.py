"""REST endpoints for the notes of game masters and for loose ends."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Body, Query, Router, Status
from pydantic import Field

from episodes import loose_ends
from episodes.api import name_of
from episodes.lookup import find_session
from episodes.notes import LONGEST_NOTE, add_note, find_note, notes_of
from episodes.report_models import LooseEnd, SessionNote
from worlds.base_schemas import ResponseModel, StrictModel
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.lookup import find_party
from worlds.rest import NeedsKey, require_gm
from worlds.rest_lists import ListQuery, TimeSort, page_of
from worlds.rest_rows import require_unchanged, set_location, with_tag
from worlds.schemas import NextCursor

router = Router(tags=["episodes"], auth=NeedsKey(Scope.WORLD_WRITE))
SORTS = {"created": "id", "updated": "updated_at"}
NOTE = "/notes/{uuid:note_id}"
LOOSE_END = "/loose-ends/{uuid:loose_end_id}"
OfParty = Annotated[str | None, Field(max_length=200, description="Of this party alone.")]


class NoteIn(StrictModel):
    """A note made during play, for game masters only."""

    text: str = Field(min_length=1, max_length=LONGEST_NOTE, pattern=r"^[^\x00]*$")
    party_id: str | None = Field(default=None, max_length=200)
    session_id: str | None = Field(default=None, max_length=200)


class NoteOut(ResponseModel):
    """`used`: a session report has been made of it."""

    id: UUID
    text: str
    author: str
    party_id: str | None
    session_id: str | None
    used: bool
    created_at: datetime

    @classmethod
    def of(cls, row: SessionNote) -> Self:
        return cls(
            id=row.pk,
            text=row.text,
            author=row.author,
            party_id=row.party.slug if row.party else None,
            session_id=row.session.external_id if row.session else None,
            used=row.report_id is not None,
            created_at=row.created_at,
        )


class NotePage(ResponseModel):
    notes: list[NoteOut]
    next_cursor: NextCursor = None


class LooseEndOut(ResponseModel):
    """What an episode left open."""

    id: UUID
    text: str
    party_id: str
    summary_id: str
    closed_at: datetime | None
    closed_by: str
    created_at: datetime

    @classmethod
    def of(cls, row: LooseEnd) -> Self:
        return cls(
            id=row.pk,
            text=row.text,
            party_id=row.party.slug,
            summary_id=row.episode.external_id,
            closed_at=row.closed_at,
            closed_by=row.closed_by,
            created_at=row.created_at,
        )


class LooseEndPage(ResponseModel):
    loose_ends: list[LooseEndOut]
    next_cursor: NextCursor = None


class NoteListQuery(ListQuery):
    sort: TimeSort = "-created"
    party_id: OfParty = None
    session_id: Annotated[
        str | None, Field(max_length=200, description="Of this session alone.")
    ] = None
    used: Annotated[
        bool | None, Field(description="false: those that no session report has used yet.")
    ] = None


class LooseEndListQuery(ListQuery):
    sort: TimeSort = "-created"
    party_id: OfParty = None
    open: Annotated[bool | None, Field(description="true: not closed yet; false: closed.")] = None


@router.post("/notes", operation_id="note_create", summary="Make a note", response={201: NoteOut})
def post_note(request: HttpRequest, response: HttpResponse, entry: Body[NoteIn]) -> Status[NoteOut]:
    """During play, by hand or by an engine. It is offered as material when the game master writes
    down what happened."""
    caller = require_gm(request)
    party = find_party(caller.world, entry.party_id, caller.campaign) if entry.party_id else None
    session = None
    if entry.session_id:
        session = find_session(caller.world, entry.session_id, campaign=caller.campaign)
    row = add_note(
        caller.world,
        entry.text,
        author=name_of(caller),
        party=party,
        session=session,
        campaign=caller.campaign,
    )
    set_location(response, f"world/notes/{row.pk}")
    return Status(201, with_tag(response, NoteOut.of(row)))


@router.get("/notes", operation_id="note_list", summary="List notes", response=NotePage)
def list_notes(
    request: HttpRequest, response: HttpResponse, query: Query[NoteListQuery]
) -> dict[str, Any]:
    """The latest first."""
    caller = require_gm(request)
    rows = notes_of(caller.world, caller.campaign)
    if query.party_id:
        rows = rows.filter(party=find_party(caller.world, query.party_id, caller.campaign))
    if query.session_id:
        session = find_session(caller.world, query.session_id, campaign=caller.campaign)
        rows = rows.filter(session=session)
    if query.used is not None:
        rows = rows.filter(report__isnull=not query.used)
    return page_of(request, response, rows, query, SORTS).answer("notes", NoteOut.of)


@router.get(NOTE, operation_id="note_get", summary="Get a note", response=NoteOut)
def get_note(request: HttpRequest, response: HttpResponse, note_id: UUID) -> NoteOut:
    caller = require_gm(request)
    return with_tag(response, NoteOut.of(find_note(caller.world, note_id, caller.campaign)))


@router.delete(NOTE, operation_id="note_delete", summary="Delete a note", response={204: None})
def delete_note(request: HttpRequest, note_id: UUID) -> Status[None]:
    """For good."""
    caller = require_gm(request)
    row = find_note(caller.world, note_id, caller.campaign)
    with require_unchanged(request, row, NoteOut.of):
        row.delete()
    return Status(204, None)


@router.get(
    "/loose-ends",
    operation_id="loose_end_list",
    summary="List loose ends",
    response=LooseEndPage,
)
def list_loose_ends(
    request: HttpRequest, response: HttpResponse, query: Query[LooseEndListQuery]
) -> dict[str, Any]:
    """What episodes left open, the latest first. Those of retracted episodes are left out."""
    caller = require_gm(request)
    party = find_party(caller.world, query.party_id, caller.campaign) if query.party_id else None
    rows = loose_ends.loose_ends_in_force(caller.world, party=party, campaign=caller.campaign)
    if query.open is not None:
        rows = rows.filter(closed_at__isnull=query.open)
    return page_of(request, response, rows, query, SORTS).answer("loose_ends", LooseEndOut.of)


@router.post(
    f"{LOOSE_END}/close",
    operation_id="loose_end_close",
    summary="Close a loose end",
    response=LooseEndOut,
)
def close_loose_end(
    request: HttpRequest, response: HttpResponse, loose_end_id: UUID
) -> LooseEndOut:
    """Doing it again changes nothing."""
    caller = require_gm(request)
    row = find_callers_loose_end(caller, loose_end_id)
    with require_unchanged(request, row, LooseEndOut.of):
        row = loose_ends.close_loose_end(row, by=name_of(caller))
    return with_tag(response, LooseEndOut.of(row))


@router.post(
    f"{LOOSE_END}/reopen",
    operation_id="loose_end_reopen",
    summary="Reopen a loose end",
    response=LooseEndOut,
)
def reopen_loose_end(
    request: HttpRequest, response: HttpResponse, loose_end_id: UUID
) -> LooseEndOut:
    row = find_callers_loose_end(require_gm(request), loose_end_id)
    with require_unchanged(request, row, LooseEndOut.of):
        row = loose_ends.reopen_loose_end(row)
    return with_tag(response, LooseEndOut.of(row))


def find_callers_loose_end(caller: Caller, pk: UUID) -> LooseEnd:
    return loose_ends.find_loose_end(caller.world, pk, caller.campaign)
