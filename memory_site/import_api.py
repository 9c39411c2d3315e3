"""REST for imports: upload files, check what they would do, write them, undo it. Each step is
carried out by the worker; `state` and `progress` of the run say how far it is."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Body, File, Query, Router, Status, UploadedFile
from pydantic import ConfigDict, Field

from memory_site import tasks
from memory_site.imports.options import ImportOptions
from memory_site.imports.runs import start_step
from memory_site.imports.undo import EVERYTHING
from memory_site.imports.uploads import create_run, delete_upload_after_commit
from memory_site.site_task import send_after_commit
from retrieval.errors import Conflict
from worlds.base_schemas import ResponseModel, StrictModel
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.lookup import find_by_id
from worlds.models import ImportedRow, ImportRun
from worlds.rest import NeedsKey, require_whole_world
from worlds.rest_lists import ListQuery, PageQuery, TimeSort, page_of
from worlds.rest_rows import require_unchanged, set_location, with_tag
from worlds.schemas import NextCursor

router = Router(tags=["imports"], auth=NeedsKey(Scope.WORLD_WRITE))
State = ImportRun.State
RUN = "/imports/{uuid:run_id}"
SORTS = {"created": "id", "updated": "created_at"}
MOST_CONFIRMED = 1_000
StateName = Literal[
    "reading",
    "ready",
    "checking",
    "checked",
    "importing",
    "done",
    "failed",
    "undoing",
    "undone",
]


class ImportOptionsWrite(ImportOptions):
    model_config = ConfigDict(extra="forbid")


class ImportCheck(StrictModel):
    """How the files are to be read. What is left out keeps its default."""

    options: ImportOptionsWrite = ImportOptionsWrite()


class ImportUndo(StrictModel):
    also: list[UUID] = Field(default=[], max_length=MOST_CONFIRMED)
    everything: bool = False


class ImportOut(ResponseModel):
    """An import of files into the world."""

    id: UUID
    file_name: str
    state: StateName
    progress: int
    failure: str
    options: ImportOptions
    report: dict[str, Any]
    created_at: datetime
    finished_at: datetime | None
    undone_at: datetime | None


class ImportPage(ResponseModel):
    imports: list[ImportOut]
    next_cursor: NextCursor = None


class ImportedRowOut(ResponseModel):
    """What an import did to one row."""

    id: UUID
    kind: str
    row: UUID | None
    name: str
    slug: str
    source: str
    outcome: Literal["created", "changed", "unchanged", "skipped"]
    undone: bool


class ImportedRowPage(ResponseModel):
    rows: list[ImportedRowOut]
    next_cursor: NextCursor = None


class ImportListQuery(ListQuery):
    sort: TimeSort = "-created"
    state: Annotated[StateName | None, Field(description="Imports in this step alone.")] = None


class ImportedRowQuery(PageQuery):
    outcome: Annotated[
        Literal["created", "changed", "unchanged", "skipped"] | None,
        Field(description="Rows to which this was done; left out: all but the unchanged ones."),
    ] = None


@router.get("/imports", operation_id="import_list", summary="List imports", response=ImportPage)
def list_imports(
    request: HttpRequest, response: HttpResponse, query: Query[ImportListQuery]
) -> dict[str, Any]:
    """The latest first, those of people too."""
    rows = ImportRun.objects.filter(world=require_whole_world(request).world)
    if query.state:
        rows = rows.filter(state=query.state)
    return page_of(request, response, rows, query, SORTS).answer("imports", present_run)


@router.post(
    "/imports", operation_id="import_create", summary="Upload files", response={201: ImportOut}
)
def post_import(
    request: HttpRequest, response: HttpResponse, files: File[list[UploadedFile]]
) -> Status[ImportOut]:
    """As multipart/form-data: `files` are a zip archive or single files of one of the formats that
    docs/import.md lists. They are read at once; nothing is written before the import is checked
    and started."""
    run = create_run(require_whole_world(request).world, files, user=None)
    send_after_commit(tasks.read_import, run)
    set_location(response, f"world/imports/{run.pk}")
    return Status(201, with_tag(response, present_run(run)))


@router.get(RUN, operation_id="import_get", summary="Get an import", response=ImportOut)
def get_import(request: HttpRequest, response: HttpResponse, run_id: UUID) -> ImportOut:
    """Its step, and the report of what was found, what would be written or what was."""
    return with_tag(response, present_run(find_run(require_whole_world(request), run_id)))


@router.get(
    f"{RUN}/rows",
    operation_id="import_row_list",
    summary="List what an import wrote",
    response=ImportedRowPage,
)
def list_rows(
    request: HttpRequest, response: HttpResponse, run_id: UUID, query: Query[ImportedRowQuery]
) -> dict[str, Any]:
    """Row by row, in the order of writing. Empty before the import is done."""
    rows = find_run(require_whole_world(request), run_id).rows.defer("before")
    if query.outcome:
        rows = rows.filter(outcome=query.outcome)
    else:
        rows = rows.exclude(outcome=ImportedRow.Outcome.UNCHANGED)
    every = ListQuery(limit=query.limit, cursor=query.cursor, sort="created")
    page = page_of(request, response, rows, every, {"created": "id", "updated": "id"})
    return page.answer("rows", present_row)


@router.post(
    f"{RUN}/check", operation_id="import_check", summary="Check an import", response=ImportOut
)
def check_import(
    request: HttpRequest, response: HttpResponse, run_id: UUID, check: Body[ImportCheck]
) -> ImportOut:
    """Keeps the options and carries out a dry run: the report tells what the import would do."""
    run = find_run(require_whole_world(request), run_id)
    options = check.options.model_dump()
    is_reread = options["format"] != run.options.get("format", "")
    with require_unchanged(request, run, present_run):
        step, task = (
            (State.READING, tasks.read_import)
            if is_reread
            else (State.CHECKING, tasks.check_import)
        )
        start_step(run, step, allowed=(State.READY, State.CHECKED))
        run.options = options
        run.save(update_fields=["options"])
        send_after_commit(task, run)
    return with_tag(response, present_run(run))


@router.post(
    f"{RUN}/write", operation_id="import_write", summary="Carry out an import", response=ImportOut
)
def write_import(request: HttpRequest, response: HttpResponse, run_id: UUID) -> ImportOut:
    """All or nothing, after a check. 409 in any other step."""
    return start(request, response, run_id, State.IMPORTING, (State.CHECKED,))


@router.post(
    f"{RUN}/undo", operation_id="import_undo", summary="Undo an import", response=ImportOut
)
def undo_import(
    request: HttpRequest, response: HttpResponse, run_id: UUID, undo: Body[ImportUndo]
) -> ImportOut:
    """Deletes what the import created and gives changed rows their values back. What somebody
    changed since stays, and is listed as `kept` in the report; undo again with those rows in
    `also`, or with `everything`."""
    also = [EVERYTHING] if undo.everything else [str(each) for each in undo.also]
    return start(request, response, run_id, State.UNDOING, (State.DONE, State.UNDONE), also=also)


@router.delete(RUN, operation_id="import_delete", summary="Delete an upload", response={204: None})
def delete_import(request: HttpRequest, run_id: UUID) -> Status[None]:
    """One that was not carried out. 409 for others: they stay listed, so that they can be
    undone."""
    run = find_run(require_whole_world(request), run_id)
    with require_unchanged(request, run, present_run):
        if run.state not in (State.READY, State.CHECKED, State.FAILED):
            raise Conflict("This import has changed the world, or runs: undo it instead.")
        delete_upload_after_commit(run)
        run.delete()
    return Status(204, None)


TASKS = {State.IMPORTING: tasks.write_import, State.UNDOING: tasks.undo_import}


def start(
    request: HttpRequest,
    response: HttpResponse,
    run_id: UUID,
    step: State,
    allowed: tuple[str, ...],
    **report: Any,
) -> ImportOut:
    """Begin a step of the import, if it is in one of the steps `allowed`. Raises `Conflict`."""
    run = find_run(require_whole_world(request), run_id)
    with require_unchanged(request, run, present_run):
        start_step(run, step, allowed=allowed)
        run.report = {**run.report, **report}
        run.save(update_fields=["report"])
        send_after_commit(TASKS[step], run)
    return with_tag(response, present_run(run))


def find_run(caller: Caller, run_id: UUID) -> ImportRun:
    return find_by_id(ImportRun.objects.filter(world=caller.world), run_id, what="import")


def present_run(run: ImportRun) -> ImportOut:
    report = {name: value for name, value in run.report.items() if name != "failure"}
    return ImportOut(
        id=run.pk,
        file_name=run.file_name,
        state=run.state,
        progress=run.progress,
        failure=run.report.get("failure", ""),
        options=ImportOptions.model_validate(run.options),
        report=report,
        created_at=run.created_at,
        finished_at=run.finished_at,
        undone_at=run.undone_at,
    )


def present_row(row: ImportedRow) -> ImportedRowOut:
    names = ("id", "kind", "name", "slug", "source", "outcome", "undone")
    return ImportedRowOut(row=row.row_id, **{name: getattr(row, name) for name in names})
