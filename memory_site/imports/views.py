"""Pages of imports: upload, mapping, check, report, undo. The work itself is done on the worker."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from knowledge.importers.formats import FORMATS, PICTURE
from memory_site import tasks
from memory_site.imports.forms import (
    audience_options,
    format_options,
    options_from,
    sections_of,
)
from memory_site.imports.options import ImportOptions
from memory_site.imports.rules import title_of_imported
from memory_site.imports.runs import BUSY, start_step
from memory_site.imports.undo import EVERYTHING
from memory_site.imports.uploads import create_run, delete_upload_after_commit
from memory_site.run_progress import progress_context, show_progress
from memory_site.site_task import send_after_commit
from retrieval.errors import Problem
from worlds.models import ImportedRow, ImportRun
from worlds.offered_systems import offered_systems
from worlds.pages import Viewer, gm_page, render_page

State = ImportRun.State
RUNS_PER_PAGE, ROWS_PER_PAGE = 20, 100


@gm_page
def import_list(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Upload files, and list earlier imports."""
    context: dict[str, Any] = {}
    if request.method == "POST":
        try:
            run = create_run(viewer.world, request.FILES.getlist("files"), user=request.user)
        except Problem as problem:
            context["problem"] = problem
        else:
            send_after_commit(tasks.read_import, run)
            return redirect("import-run", viewer.world.slug, run.pk)
    runs = ImportRun.objects.filter(world=viewer.world).defer("report").select_related("user")
    page = Paginator(runs, RUNS_PER_PAGE).get_page(request.GET.get("page"))
    formats = [str(each.label) for each in FORMATS.values()]
    context |= {"page_obj": page, "formats": formats, "most": settings.UPLOAD_MAX_MB}
    status = 400 if "problem" in context else 200
    response = render_page(request, viewer, "imports/list.html", **context)
    response.status_code = status
    return response


@gm_page
def run_page(request: HttpRequest, viewer: Viewer, run: UUID) -> HttpResponse:
    """One import, by its step: progress, mapping and what a check found, or the report."""
    row = _run(viewer, run)
    context: dict[str, Any] = {"run": row, "busy": row.state in BUSY}
    if row.state in (State.READY, State.CHECKED):
        context |= {
            "sections": sections_of(row),
            "options": ImportOptions.model_validate(row.options),
            "format_options": format_options(),
            "parties": audience_options(viewer.world),
            "system_names": offered_systems(viewer.world).values_list("name", flat=True),
            "book_title": title_of_imported(
                row.file_name, world=viewer.world, otherwise=row.report["reading"].get("book", "")
            ),
        }
    elif row.state in (State.DONE, State.UNDONE):
        context["page_obj"] = _written_rows(request, row)
        context["outcomes"] = ImportedRow.Outcome.choices
        context["outcome"] = request.GET.get("outcome", "")
    elif row.state in BUSY:
        context |= progress_context(row, **_addresses(row))
    context["formats"] = _formats(row)
    return render_page(request, viewer, "imports/run.html", **context)


def _formats(run: ImportRun) -> list[tuple[str, int]]:
    """The formats of the files and their number, by the labels that people read."""
    labels = {name: str(each.label) for name, each in FORMATS.items()}
    labels |= {PICTURE: _("Pictures"), "": _("Not recognised")}
    counts = run.report.get("reading", {}).get("formats", {})
    return [(labels.get(name, name), count) for name, count in counts.items()]


def _written_rows(request: HttpRequest, run: ImportRun) -> Any:
    rows = run.rows.exclude(outcome=ImportedRow.Outcome.UNCHANGED).defer("before")
    if (outcome := request.GET.get("outcome", "")) in ImportedRow.Outcome.values:
        rows = run.rows.filter(outcome=outcome).defer("before")
    return Paginator(rows, ROWS_PER_PAGE).get_page(request.GET.get("page"))


@gm_page
def progress(request: HttpRequest, viewer: Viewer, run: UUID) -> HttpResponse:
    row = _run(viewer, run)
    return show_progress(request, row, **_addresses(row), is_over=row.state not in BUSY)


def _addresses(run: ImportRun) -> dict[str, str]:
    keys = [run.world.slug, run.pk]
    return {"page": reverse("import-run", args=keys), "poll": reverse("import-progress", args=keys)}


@require_POST
@gm_page
def check(request: HttpRequest, viewer: Viewer, run: UUID) -> HttpResponse:
    """Keep the mapping and start the dry run; files that are to be read as another format are read
    again first."""
    row = _run(viewer, run)
    if row.state not in (State.READY, State.CHECKED):
        return _start(request, viewer, row, State.CHECKING, None, allowed=())
    options = options_from(row, request.POST)
    is_reread = options.get("format", "") != row.options.get("format", "")
    ImportRun.objects.filter(pk=row.pk).update(options=options)
    step, task = (
        (State.READING, tasks.read_import) if is_reread else (State.CHECKING, tasks.check_import)
    )
    return _start(request, viewer, row, step, task, allowed=(State.READY, State.CHECKED))


@require_POST
@gm_page
def write(request: HttpRequest, viewer: Viewer, run: UUID) -> HttpResponse:
    row, task = _run(viewer, run), tasks.write_import
    return _start(request, viewer, row, State.IMPORTING, task, allowed=(State.CHECKED,))


@require_POST
@gm_page
def undo(request: HttpRequest, viewer: Viewer, run: UUID) -> HttpResponse:
    """Undo the import; `also` are rows that go although somebody changed them since, with `all` all
    that stayed."""
    row, task = _run(viewer, run), tasks.undo_import
    also = [EVERYTHING] if "all" in request.POST else request.POST.getlist("also")
    report = {**row.report, "also": also}
    ImportRun.objects.filter(pk=row.pk).update(report=report)
    allowed = (State.DONE, State.UNDONE)
    return _start(request, viewer, row, State.UNDOING, task, allowed=allowed)


@require_POST
@gm_page
def delete(request: HttpRequest, viewer: Viewer, run: UUID) -> HttpResponse:
    """Throw an upload away that was not imported. Imports stay listed: they can be undone."""
    row = _run(viewer, run)
    if row.state in (State.READY, State.CHECKED, State.FAILED):
        delete_upload_after_commit(row)
        row.delete()
        messages.success(request, _("The upload was deleted."))
    return redirect("imports", viewer.world.slug)


def _run(viewer: Viewer, run: UUID) -> ImportRun:
    rows = ImportRun.objects.select_related("world", "user")
    return get_object_or_404(rows, pk=run, world=viewer.world)


def _start(
    request: HttpRequest,
    viewer: Viewer,
    run: ImportRun,
    state: str,
    task: Any,
    *,
    allowed: tuple[str, ...],
) -> HttpResponse:
    try:
        start_step(run, state, allowed=allowed)
    except Problem as problem:
        messages.error(request, problem.detail)
    else:
        send_after_commit(task, run)
    return redirect("import-run", viewer.world.slug, run.pk)
