"""REST for engines: the versions of a lore entry, and the comments of its reviewers.

The operations are added to the router of `knowledge.api`."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Body, Path, Query, Status
from pydantic import StringConstraints

from knowledge.api import Reference, router
from knowledge.editing_models import EntryComment
from knowledge.entry_store import restore_entry
from knowledge.list_api import find_deletable_entry
from knowledge.models import Lore
from knowledge.presenters import lore_to_out
from knowledge.schemas import LoreOut
from knowledge.upsert import find_lore_entry
from retrieval.errors import NotFound
from retrieval.tasks import embed_soon
from worlds.base_schemas import ResponseModel, StrictModel
from worlds.callers import Caller
from worlds.rest import expecting, require_gm, tag
from worlds.rest_history import (
    VersionList,
    VersionListQuery,
    find_version,
    versions_of,
)
from worlds.rest_rows import require_unchanged, set_location, with_tag

LONGEST_COMMENT = 10_000
VersionId = Annotated[int, Path(ge=1, lt=2**31)]
MOST_COMMENTS = 500


class CommentIn(StrictModel):
    text: Annotated[
        str,
        StringConstraints(
            min_length=1, max_length=LONGEST_COMMENT, strip_whitespace=True, pattern=r"^[^\x00]*$"
        ),
    ]


class CommentChange(StrictModel):
    resolved: bool


class CommentOut(ResponseModel):
    """A remark about an entry, for game masters alone."""

    id: UUID
    author: str
    text: str
    created_at: datetime
    resolved_at: datetime | None
    resolved_by: str


class CommentList(ResponseModel):
    comments: list[CommentOut]


# --- versions


@router.get(
    "/lore/{ref}/versions",
    operation_id="lore_version_list",
    summary="List the versions of a lore entry",
    response=VersionList,
)
def list_versions(
    request: HttpRequest, ref: Reference, query: Query[VersionListQuery]
) -> VersionList:
    """The present one first. Every save that changed something has stored one."""
    caller = require_gm(request)
    entry = find_lore_entry(caller.world, ref, campaign=caller.campaign)
    return versions_of(entry, limit=query.limit)


@router.post(
    "/lore/{ref}/versions/{version_id}/restore",
    operation_id="lore_version_restore",
    summary="Restore a version of a lore entry",
    response=LoreOut,
)
def restore_version(
    request: HttpRequest, response: HttpResponse, ref: Reference, version_id: VersionId
) -> LoreOut:
    """Its content is written as a new version; who knows the entry stays as it is."""
    caller = require_gm(request)
    entry = find_deletable_entry(caller, ref)
    record = find_version(entry, version_id)
    with expecting(request, entry.version):
        restore_entry(entry, record, reason=f"restored version {version_id}")
        embed_soon("lore")
    row = Lore.objects.get(pk=entry.pk)
    tag(response, row.version)
    return lore_to_out(row, caller)


# --- comments


@router.get(
    "/lore/{ref}/comments",
    operation_id="comment_list",
    summary="List the comments on a lore entry",
    response=CommentList,
)
def list_comments(request: HttpRequest, ref: Reference) -> CommentList:
    """The oldest first; resolved ones too."""
    rows = comments_of(require_gm(request), ref).order_by("created_at", "pk")[:MOST_COMMENTS]
    return CommentList(comments=[present_comment(row) for row in rows])


@router.post(
    "/lore/{ref}/comments",
    operation_id="comment_create",
    summary="Comment on a lore entry",
    response={201: CommentOut},
)
def post_comment(
    request: HttpRequest, response: HttpResponse, ref: Reference, entry: Body[CommentIn]
) -> Status[CommentOut]:
    """For whoever edits it next. Neither players nor models are shown comments."""
    caller = require_gm(request)
    lore = find_lore_entry(caller.world, ref, campaign=caller.campaign)
    author = str(caller.key or "site")[:150]
    row = EntryComment.objects.create(lore=lore, author=author, text=entry.text)
    set_location(response, f"world/lore/{lore.slug}/comments/{row.pk}")
    return Status(201, with_tag(response, present_comment(row)))


@router.get(
    "/lore/{ref}/comments/{uuid:comment_id}",
    operation_id="comment_get",
    summary="Get a comment",
    response=CommentOut,
)
def get_comment(
    request: HttpRequest, response: HttpResponse, ref: Reference, comment_id: UUID
) -> CommentOut:
    """Who wrote it, and who resolved it."""
    return with_tag(response, present_comment(find_comment(require_gm(request), ref, comment_id)))


@router.patch(
    "/lore/{ref}/comments/{uuid:comment_id}",
    operation_id="comment_change",
    summary="Resolve a comment or open it again",
    response=CommentOut,
)
def patch_comment(
    request: HttpRequest,
    response: HttpResponse,
    ref: Reference,
    comment_id: UUID,
    change: Body[CommentChange],
) -> CommentOut:
    """It stays listed, with who resolved it."""
    caller = require_gm(request)
    row = find_comment(caller, ref, comment_id)
    with require_unchanged(request, row, present_comment):
        row.resolved_at = timezone.now() if change.resolved else None
        row.resolved_by = str(caller.key or "site")[:150] if change.resolved else ""
        row.save(update_fields=["resolved_at", "resolved_by"])
    return with_tag(response, present_comment(row))


def comments_of(caller: Caller, reference: str) -> "QuerySet[EntryComment]":
    entry = find_lore_entry(caller.world, reference, campaign=caller.campaign)
    return EntryComment.objects.filter(lore=entry)


def find_comment(caller: Caller, reference: str, comment_id: UUID) -> EntryComment:
    row = comments_of(caller, reference).filter(pk=comment_id).first()
    if row is None:
        raise NotFound(f"There is no comment {comment_id} on this entry.")
    return row


def present_comment(row: EntryComment) -> CommentOut:
    return CommentOut(
        id=row.pk,
        author=row.author,
        text=row.text,
        created_at=row.created_at,
        resolved_at=row.resolved_at,
        resolved_by=row.resolved_by,
    )
