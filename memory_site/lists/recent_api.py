"""REST: what changed lately, of lore, rules and NPCs."""

from datetime import datetime
from typing import Annotated, Literal

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.dateparse import parse_datetime
from ninja import Query, Router
from pydantic import Field

from memory_site.lists.recent_changes import FEWEST, History, RecentChange, read_changes
from retrieval.errors import Invalid
from worlds.base_schemas import ResponseModel
from worlds.keys import Scope
from worlds.rest import NeedsKey, require_whole_world
from worlds.rest_lists import PageQuery, link_to_next
from worlds.schemas import NextCursor

router = Router(tags=["knowledge"], auth=NeedsKey(Scope.WORLD_WRITE))


class RecentChangeOut(ResponseModel):
    """A change of one row, or of many rows by one import or one change of many entries."""

    at: datetime = Field(description="When it was made; of many rows, the last of them.")
    since: datetime = Field(description="Of many rows, the first of them; else as `at`.")
    kinds: list[Literal["lore", "rule", "npc"]] = Field(description="What kinds of rows changed.")
    ref: str | None = Field(description="Slug, or id of the rule; null: many rows.")
    title: str | None = Field(description="Title or name of the row; null: many rows.")
    count: int = Field(description="How many versions of rows were written.")
    is_new: bool = Field(description="Whether the row was created by it.")
    who: str = Field(description="User name of the person; empty: a program, whom `reason` names.")
    reason: str = Field(description="Why it was made, as far as it was said.")


class RecentChangePage(ResponseModel):
    """A page of changes, the latest first."""

    changes: list[RecentChangeOut] = Field(description="The changes of this page.")
    next_cursor: NextCursor = None


class RecentChangeQuery(PageQuery):
    since: Annotated[datetime | None, Field(description="Changes made since then (RFC 3339).")] = (
        None
    )
    reason: Annotated[
        str | None,
        Field(
            max_length=400,
            pattern=r"^[^\x00]*$",
            description="Changes made for this reason, each row of them alone.",
        ),
    ] = None


@router.get(
    "/recent-changes",
    operation_id="recent_change_list",
    summary="List the latest changes",
    response=RecentChangePage,
)
def list_recent(
    request: HttpRequest, response: HttpResponse, query: Query[RecentChangeQuery]
) -> RecentChangePage:
    """Of lore, rules and NPCs that are not in the trash, the latest first. What one import or one
    change of many entries wrote is one row with a count. Changes of one moment stay together, so
    that a page may hold a few more than `limit`."""
    world = require_whole_world(request).world
    salt = f"recent_change_list:{world.pk}"
    before = read_cursor(query.cursor, salt) if query.cursor else None
    history = History(world, before=before, since=query.since, reason=query.reason or "")
    page, has_more = page_of_changes(history, query.limit)
    cursor = None
    if has_more:
        # No time is signed: else each answer would have another tag.
        signer = signing.Signer(salt=salt)
        cursor = signer.sign_object(min(each.since for each in page).isoformat())
        link_to_next(request, response, cursor)
    return RecentChangePage(changes=[present_recent(each) for each in page], next_cursor=cursor)


def page_of_changes(history: History, limit: int) -> tuple[list[RecentChange], bool]:
    """Return at least `limit` changes, if there are as many, and whether there are older ones. All
    that was written since the oldest of them is among them, so that the next page begins before."""
    most = limit + FEWEST
    while True:
        found = read_changes(history, most=most)
        count, larger = 0, min(limit, len(found))
        while larger > count:
            count = larger
            oldest = min(each.since for each in found[:count])
            larger = sum(each.at >= oldest for each in found)
        if count < len(found) or len(found) < most:
            return found[:count], count < len(found)
        most *= 2  # as many at one moment: read on until that moment ends


def read_cursor(cursor: str, salt: str) -> datetime | None:
    try:
        return parse_datetime(signing.Signer(salt=salt).unsign_object(cursor))
    except signing.BadSignature as error:
        raise Invalid(
            "This cursor is not of this list: leave `cursor` out to begin again.",
            errors=[{"loc": ["cursor"], "msg": "not of this list"}],
        ) from error


def present_recent(change: RecentChange) -> RecentChangeOut:
    is_one = bool(change.ref)
    return RecentChangeOut(
        at=change.at,
        since=change.since,
        kinds=list(change.codes),
        ref=change.ref or None,
        title=change.title if is_one else None,
        count=change.count,
        is_new=change.is_new,
        who=change.who,
        reason=change.reason,
    )
