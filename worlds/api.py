"""REST for engines: the reveal log of the key's world."""

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Body, Query, Router, Status

from worlds import reveals
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.lookup import find_by_id
from worlds.models import Reveal
from worlds.rest import NeedsKey, require_gm
from worlds.rest_rows import require_unchanged, set_location, with_tag
from worlds.schemas import RevealEntryIn, RevealEntryOut, RevealLog
from worlds.tool_args import AUDIENCE

router = Router(tags=["world"], auth=NeedsKey(Scope.WORLD_WRITE))
PAGE = 100


@router.post(
    "/reveals",
    operation_id="reveal_create",
    summary="Reveal a row to a party or NPC",
    response={201: RevealEntryOut},
)
def create_reveal(
    request: HttpRequest, response: HttpResponse, entry: Body[RevealEntryIn]
) -> Status[RevealEntryOut]:
    """From now on the audience finds the row: a whole one, or with `secret` one of its secrets
    (`{"kind": "lore", "id": "find-ysk", "secret": 1, …}`). A search hit names its block as
    `passage`: `{"kind": "lorepassage", "id": "0190…", …}`. Revealing it again returns the existing
    entry."""
    caller = require_gm(request)
    subject = reveals.find_subject(
        caller.world, entry.kind, entry.id, secret=entry.secret, campaign=caller.campaign
    )
    details = entry.model_dump(exclude={"kind", "id", "secret", "audience"})
    audience = caller.as_audience(entry.audience).audience
    row = reveals.reveal(subject, audience, by=str(caller.key or ""), **details)
    set_location(response, f"world/reveals/{row.pk}")
    return Status(201, with_tag(response, present_reveal(row)))


@router.get(
    "/reveals",
    operation_id="reveal_list",
    summary="Who learned what, latest first",
    response=RevealLog,
)
def list_reveals(
    request: HttpRequest,
    audience: Annotated[str | None, Query(max_length=120, pattern=AUDIENCE)] = None,
    cursor: UUID | None = None,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = 50,
) -> dict[str, Any]:
    """Undone reveals are listed too, with `undone_at`."""
    caller = require_gm(request)
    entries = reveals.entries_of(caller.world, caller.campaign).order_by("-id")
    if audience:
        entries = entries.filter(audience=str(caller.as_audience(audience).audience))
    if cursor:
        entries = entries.filter(id__lt=cursor)
    page = list(entries[: limit + 1])
    return {
        "reveals": page[:limit],
        "next_cursor": str(page[limit - 1].id) if len(page) > limit else None,
    }


@router.get(
    "/reveals/{uuid:entry_id}",
    operation_id="reveal_get",
    summary="Get a reveal",
    response=RevealEntryOut,
)
def get_reveal(request: HttpRequest, response: HttpResponse, entry_id: UUID) -> RevealEntryOut:
    """An entry of the log: who learned of which row, when, and whether that was taken back."""
    return with_tag(response, present_reveal(_entry(require_gm(request), entry_id)))


@router.delete(
    "/reveals/{uuid:entry_id}",
    operation_id="reveal_undo",
    summary="Take a reveal back",
    response=RevealEntryOut,
)
def undo_reveal(request: HttpRequest, response: HttpResponse, entry_id: UUID) -> RevealEntryOut:
    """The audience no longer finds the row by this reveal; the log keeps the entry, marked as
    undone."""
    row = _entry(require_gm(request), entry_id)
    with require_unchanged(request, row, present_reveal):
        row = reveals.undo_reveal(row)
    return with_tag(response, present_reveal(row))


def present_reveal(row: Reveal) -> RevealEntryOut:
    return RevealEntryOut.model_validate(row)


def _entry(caller: Caller, entry_id: UUID) -> Reveal:
    rows = reveals.entries_of(caller.world, caller.campaign)
    return find_by_id(rows.select_related("world"), entry_id, what="reveal")
