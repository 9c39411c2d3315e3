"""REST for archives: make one of a world and download it, restore one as a new world, and export
what an audience may know as a vault. Archives are made and restored by the worker; `state` and
`progress` say how far it is."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Body, File, Form, Query, Router, Status, UploadedFile
from pydantic import Field

from episodes.field_types import Storable
from memory_site import tasks
from memory_site.archive import runs
from memory_site.archive.downloads import as_download, download
from memory_site.archive.vault import write_vault
from memory_site.site_task import send_after_commit
from retrieval.errors import Conflict, NotFound
from worlds.archive_run import ArchiveRun
from worlds.base_schemas import ResponseModel, StrictModel
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.rest import NeedsInstallationKey, NeedsKey, key_of, require_whole_world
from worlds.rest_lists import ListQuery, TimeSort, page_of
from worlds.rest_rows import require_unchanged, set_location, with_tag
from worlds.schemas import NextCursor, Slug

router = Router(tags=["archives"], auth=NeedsKey(Scope.ADMIN))
restorations = Router(tags=["archives"], auth=NeedsInstallationKey())
ARCHIVE = "/archives/{uuid:archive_id}"
RESTORATION = "/restorations/{uuid:restoration_id}"
SORTS = {"created": "id", "updated": "created_at"}
StateName = Literal["waiting", "working", "done", "failed"]
ZIP = {
    "description": "The zip file.",
    "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
}
FILE = {"responses": {200: ZIP}}
FINISHED_FILE = {"responses": {200: ZIP, 409: {}}}
"""With a conflict before the file is finished; the document fills in its codes."""


class ArchiveOut(ResponseModel):
    """An archive of the world: everything in it, as one zip file that can be restored."""

    id: UUID
    file_name: str
    state: StateName
    progress: int
    failure: str
    size: int
    created_at: datetime
    finished_at: datetime | None


class ArchivePage(ResponseModel):
    """A page of archives of the world."""

    archives: list[ArchiveOut]
    next_cursor: NextCursor = None


class RestorationOut(ResponseModel):
    """An uploaded archive that becomes a new world."""

    id: UUID
    file_name: str
    state: StateName
    progress: int
    failure: str
    world_id: str | None = Field(
        description="Slug of the new world; before it is there, the one that was asked for."
    )
    left_out: dict[str, int]
    created_at: datetime
    finished_at: datetime | None


class RestorationPage(ResponseModel):
    """A page of uploaded archives."""

    restorations: list[RestorationOut]
    next_cursor: NextCursor = None


class RestorationIn(StrictModel):
    """At which address the archive becomes a world."""

    world_id: Slug | None = Field(
        default=None, description="Slug of the new world; left out: the one that it had."
    )


class ArchiveListQuery(ListQuery):
    sort: TimeSort = "-created"


# --- archives of a world


@router.get("/archives", operation_id="archive_list", summary="List archives", response=ArchivePage)
def list_archives(
    request: HttpRequest, response: HttpResponse, query: Query[ArchiveListQuery]
) -> dict[str, Any]:
    """The latest first, those that people made too. They are deleted after some days."""
    rows = archives_of(require_whole_world(request))
    page = page_of(request, response, rows, query, SORTS)
    return page.answer("archives", present_archive)


@router.post(
    "/archives",
    operation_id="archive_create",
    summary="Archive the world",
    response={200: ArchiveOut, 201: ArchiveOut},
)
def post_archive(request: HttpRequest, response: HttpResponse) -> Status[ArchiveOut]:
    """The worker makes it. While one is being made, that one is the answer (200)."""
    caller = require_whole_world(request)
    waiting = {row.pk for row in archives_of(caller).filter(state__in=runs.UNFINISHED)}
    run = runs.ask_for_archive(caller.world, key=caller.key)
    send_after_commit(tasks.make_archive, run)
    set_location(response, f"world/archives/{run.pk}")
    status = 200 if run.pk in waiting else 201
    return Status(status, with_tag(response, present_archive(run)))


@router.get(ARCHIVE, operation_id="archive_get", summary="Get an archive", response=ArchiveOut)
def get_archive(request: HttpRequest, response: HttpResponse, archive_id: UUID) -> ArchiveOut:
    """How far it is. `…/file` downloads it once `state` is `done`."""
    row = find_archive(require_whole_world(request), archive_id)
    return with_tag(response, present_archive(row))


@router.get(
    f"{ARCHIVE}/file",
    operation_id="archive_file",
    summary="Download an archive",
    openapi_extra=FINISHED_FILE,
)
def get_archive_file(request: HttpRequest, archive_id: UUID) -> HttpResponse:
    """It holds all secrets of the world. 409 until `state` is `done`."""
    row = find_archive(require_whole_world(request), archive_id)
    if row.state != ArchiveRun.State.DONE:
        raise Conflict(f"This archive is {row.state}: download it when its state is done.")
    try:
        file = row.file.open("rb")
    except (FileNotFoundError, ValueError):
        raise NotFound("The file of this archive is gone: make a new one.") from None
    response = as_download(file, row.file_name)
    response["ETag"] = f'"{row.pk}"'  # it is made once
    return response


@router.delete(
    ARCHIVE, operation_id="archive_delete", summary="Delete an archive", response={204: None}
)
def delete_archive(request: HttpRequest, archive_id: UUID) -> Status[None]:
    """With its file. 409 while the worker makes it."""
    row = find_archive(require_whole_world(request), archive_id)
    with require_unchanged(request, row, present_archive):
        delete_finished(row)
    return Status(204, None)


@router.get(
    "/vault",
    operation_id="vault_export",
    summary="Export a vault",
    openapi_extra=FILE,
)
def get_vault(
    request: HttpRequest,
    audience: Annotated[
        str,
        Query(max_length=120, description="Whose knowledge: `gm`, `public` or `party:<slug>`."),
        Storable,
    ] = "gm",
) -> HttpResponse:
    """A zip file of notes that Obsidian opens: a note for each thing that the audience may know."""
    reader = require_whole_world(request).as_audience(audience)
    name = reader.audience.slug or reader.audience.kind
    return download(
        f"{reader.world.slug}-{name}-vault.zip",
        lambda path: write_vault(
            reader.world, path, audience=reader.audience, campaign=reader.campaign
        ),
    )


# --- restorations


@restorations.get(
    "/restorations",
    operation_id="restoration_list",
    summary="List restorations",
    response=RestorationPage,
)
def list_restorations(
    request: HttpRequest, response: HttpResponse, query: Query[ArchiveListQuery]
) -> dict[str, Any]:
    """Archives that keys uploaded, the latest first. Those of people are their own."""
    page = page_of(request, response, uploaded_by_keys(), query, SORTS)
    return page.answer("restorations", present_restoration)


@restorations.post(
    "/restorations",
    operation_id="restoration_create",
    summary="Restore an archive as a new world",
    response={201: RestorationOut},
)
def post_restoration(
    request: HttpRequest,
    response: HttpResponse,
    file: File[UploadedFile],
    fields: Form[RestorationIn],
) -> Status[RestorationOut]:
    """As multipart/form-data: `file` is an archive that this program made. The worker restores it,
    all or nothing, without the people and keys of the archive."""
    run = runs.ask_for_restoration(file, key=key_of(request), slug=fields.world_id or "")
    send_after_commit(tasks.restore_archive, run)
    set_location(response, f"restorations/{run.pk}")
    return Status(201, with_tag(response, present_restoration(run)))


@restorations.get(
    RESTORATION,
    operation_id="restoration_get",
    summary="Get a restoration",
    response=RestorationOut,
)
def get_restoration(
    request: HttpRequest,  # noqa: ARG001 - django-ninja passes it
    response: HttpResponse,
    restoration_id: UUID,
) -> RestorationOut:
    """How far it is, and what was wrong; `world_id` is the new world once `state` is `done`."""
    return with_tag(response, present_restoration(find_restoration(restoration_id)))


@restorations.post(
    f"{RESTORATION}/retry",
    operation_id="restoration_retry",
    summary="Restore an archive at another address",
    response=RestorationOut,
)
def retry_restoration(
    request: HttpRequest, response: HttpResponse, restoration_id: UUID, entry: Body[RestorationIn]
) -> RestorationOut:
    """After it failed, such as because the slug was taken. 409 in any other state."""
    run = find_restoration(restoration_id)
    with require_unchanged(request, run, present_restoration):
        runs.ask_again(run, slug=entry.world_id or "", key=key_of(request))
        send_after_commit(tasks.restore_archive, run)
    return with_tag(response, present_restoration(find_restoration(restoration_id)))


@restorations.delete(
    RESTORATION,
    operation_id="restoration_delete",
    summary="Delete an uploaded archive",
    response={204: None},
)
def delete_restoration(request: HttpRequest, restoration_id: UUID) -> Status[None]:
    """The world that was made of it stays. 409 while the worker restores it."""
    run = find_restoration(restoration_id)
    with require_unchanged(request, run, present_restoration):
        delete_finished(run)
    return Status(204, None)


def delete_finished(run: ArchiveRun) -> None:
    if run.is_unfinished:
        raise Conflict(
            "The worker is still processing this archive; delete it after it has finished."
        )
    runs.delete_run(run)


def archives_of(caller: Caller) -> "QuerySet[ArchiveRun]":
    return ArchiveRun.objects.filter(world=caller.world, kind=ArchiveRun.Kind.ARCHIVE)


def find_archive(caller: Caller, archive_id: UUID) -> ArchiveRun:
    row = archives_of(caller).filter(pk=archive_id).first()
    if row is None:
        raise NotFound(f"There is no archive {archive_id} of this world.")
    return row


def uploaded_by_keys() -> "QuerySet[ArchiveRun]":
    rows = ArchiveRun.objects.filter(kind=ArchiveRun.Kind.RESTORATION, key__isnull=False)
    return rows.select_related("world")


def find_restoration(restoration_id: UUID) -> ArchiveRun:
    row = uploaded_by_keys().filter(pk=restoration_id).first()
    if row is None:
        raise NotFound(f"There is no restoration {restoration_id}.")
    return row


def present_archive(run: ArchiveRun) -> ArchiveOut:
    names = ("file_name", "state", "progress", "failure", "size", "created_at", "finished_at")
    return ArchiveOut(id=run.pk, **{name: getattr(run, name) for name in names})


def present_restoration(run: ArchiveRun) -> RestorationOut:
    names = ("file_name", "state", "progress", "failure", "left_out", "created_at", "finished_at")
    return RestorationOut(
        id=run.pk,
        world_id=run.world.slug if run.world else run.slug or None,
        **{name: getattr(run, name) for name in names},
    )
