"""The steps of an import: read the upload, check (a dry run), import. Each is one call on the
worker and all or nothing; the run says how far it is."""

import logging
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from knowledge.importers.drafts import ImportProblem
from knowledge.importers.field_map import Choice, survey
from knowledge.importers.run import ImportReading, read_upload
from memory_site.imports.options import ImportOptions
from memory_site.imports.report import WriteReport, problems_json, reading_json, written_json
from memory_site.imports.rules import write_rule_book
from memory_site.imports.write import write_reading
from memory_site.run_lock import IMPORTS, LOST_AFTER, MOST_TRIES, run_lock
from memory_site.run_progress import ProgressWriter, part
from retrieval.errors import Conflict, Invalid, Problem
from retrieval.tasks import embed_soon
from worlds.models import ImportedRow, ImportRun

logger = logging.getLogger(__name__)

State = ImportRun.State
Step = Callable[[ImportRun], None]
BUSY = (State.READING, State.CHECKING, State.IMPORTING, State.UNDOING)
"""Steps that the worker carries out."""
SHARE_OF_READING = 0.15
STATE_AFTER_FAILURE: dict[str, str] = {
    State.CHECKING: State.READY,
    State.IMPORTING: State.CHECKED,
    State.UNDOING: State.DONE,
}


def read_run(run_id: UUID) -> None:
    """Recognise the files and collect the words that a mapping can decide on."""
    carry_out(run_id, State.READING, _read)


def check_run(run_id: UUID) -> None:
    """Import everything and roll it back: the report tells what an import would do."""
    carry_out(run_id, State.CHECKING, _check)


def import_run(run_id: UUID) -> None:
    carry_out(run_id, State.IMPORTING, _import)


def start_step(run: ImportRun, state: str, *, allowed: tuple[str, ...]) -> None:
    """Put the run into the state of a step that is about to begin. Raises `Conflict` when it is in
    another one by now."""
    values: dict[str, Any] = {"state": state, "progress": 0, "tries": 0}
    values |= {"started_at": timezone.now(), "finished_at": None}
    if not ImportRun.objects.filter(pk=run.pk, state__in=allowed).update(**values):
        raise Conflict(_("This import is in another step by now: load the page again."))
    run.refresh_from_db()


def carry_out(run_id: UUID, state: str, step: Step) -> None:
    """Carry out a step if the run is in its state: a message may come twice, and comes again when
    its worker died. A step that fails leaves nothing but its message."""
    options = ImportRun.objects.filter(pk=run_id).values_list("options", flat=True).first() or {}
    language = ImportOptions.model_validate(options).language
    with translation.override(language), run_lock(run_id, IMPORTS) as is_ours:
        if not is_ours:
            return
        try:
            _count_try(run_id, state)
            with transaction.atomic():
                runs = ImportRun.objects.select_related("world", "user")
                if run := runs.filter(pk=run_id, state=state).first():
                    step(run)
        except Problem as problem:
            _fail(run_id, state, problem.detail)
        except Exception:
            logger.exception("import %s failed", run_id)
            message = _("The import stopped with an unexpected error. Nothing was changed.")
            _fail(run_id, state, message)


def _count_try(run_id: UUID, state: str) -> None:
    """Count an attempt before it begins, where a worker that dies cannot take the number back.
    Raises `Conflict` when there were too many."""
    runs = ImportRun.objects.filter(pk=run_id, state=state)
    if runs.filter(tries__gte=MOST_TRIES).exists():
        raise Conflict(_("The worker stopped each time that it did this work."))
    runs.update(tries=F("tries") + 1, progress=0)


def unfinished_runs() -> list[ImportRun]:
    """The runs whose message may be lost; one that another worker has is among them."""
    runs = ImportRun.objects.filter(state__in=BUSY).alias(
        asked_at=Coalesce("started_at", "created_at")
    )
    return list(runs.filter(asked_at__lt=timezone.now() - LOST_AFTER).only("state"))


def _fail(run_id: UUID, state: str, message: str) -> None:
    """Put the run back to the step before, with the message of what failed."""
    run = ImportRun.objects.filter(pk=run_id, state=state).first()
    if run:
        run.state = STATE_AFTER_FAILURE.get(state, State.FAILED)
        run.report = {**run.report, "failure": message}
        run.finished_at = timezone.now()
        run.save(update_fields=["state", "report", "finished_at"])


def finish_step(run: ImportRun, state: str, **report: Any) -> None:
    run.state, run.progress, run.finished_at = state, 100, timezone.now()
    run.report = {**run.report, "failure": "", **report}
    run.save(update_fields=["state", "progress", "report", "finished_at", "undone_at", "file"])


# --- the steps


def _read(run: ImportRun) -> None:
    options = options_of(run)
    with upload_of(run) as path:
        reading = read_upload(path, name=run.file_name, format=options.format)
    words = survey(reading.drafts)
    asked = {
        **{group: _choices(choices) for group, choices in words.kinds.items()},
        "callouts": _choices(words.callouts),
        "fields": _choices(words.fields),
    }
    finish_step(run, State.READY, reading=reading_json(reading), asked=asked)


def _choices(choices: Iterable[Choice]) -> list[list[Any]]:
    return [[each.word, each.count, each.guess, each.example] for each in choices]


def _check(run: ImportRun) -> None:
    with transaction.atomic():
        written = _write(run)
        transaction.set_rollback(True)
    finish_step(run, State.CHECKED, **written)


def _import(run: ImportRun) -> None:
    written = _write(run, is_kept=True)
    embed_soon("srd" if options_of(run).target == "rules" else "lore")
    finish_step(run, State.DONE, **written)


def _write(run: ImportRun, *, is_kept: bool = False) -> dict[str, Any]:
    """Read and write everything. Raises `Invalid` for a bad file that the options refuse."""
    options = options_of(run)
    with ProgressWriter(run) as progress, upload_of(run) as path:
        is_rules = options.target == "rules"
        mapping = None if is_rules else options.mapping
        reading = read_upload(path, name=run.file_name, format=options.format, mapping=mapping)
        progress(SHARE_OF_READING)
        rest = part(progress, SHARE_OF_READING, 1.0)
        if is_rules:
            report = write_rule_book(
                run.world, reading, options, file_name=run.file_name, progress=rest
            )
        else:
            author = run.user.get_username() if run.user else ""
            report = write_reading(
                run.world, reading, options, author=author, progress=rest, is_kept=is_kept
            )
    problems = problems_of(reading, report)
    if is_kept and options.bad_files == "refuse":
        refuse_faults(problems)
    if not report.rows:
        raise Invalid(_("Nothing in the upload can be imported."))
    if is_kept:
        keep_rows(run, report)
    return {
        "reading": reading_json(reading),
        "problems": problems_json(problems),
        "written": written_json(report),
    }


def problems_of(reading: ImportReading, report: WriteReport) -> list[ImportProblem]:
    return [*reading.problems, *report.problems]


def refuse_faults(problems: Iterable[ImportProblem]) -> None:
    """Raise `Invalid`, naming the first fault, if there is one."""
    errors = [problem for problem in problems if problem.is_error]
    if errors:
        message = ngettext(
            "Nothing was imported, because of %(count)d fault. %(fault)s",
            "Nothing was imported, because of %(count)d faults. The first: %(fault)s",
            len(errors),
        )
        raise Invalid(message % {"count": len(errors), "fault": errors[0]})


def keep_rows(run: ImportRun, report: WriteReport) -> None:
    """Store what was written to which row, so that it can be undone."""
    for row in report.rows:
        row.run = run
    ImportedRow.objects.bulk_create(report.rows, batch_size=1_000)


def options_of(run: ImportRun) -> ImportOptions:
    return ImportOptions.model_validate(run.options)


@contextmanager
def upload_of(run: ImportRun) -> Iterator[Path]:
    """Yield a local copy of the uploaded file; the storage may be far away."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "upload"
        with run.file.open("rb") as stored, path.open("wb") as copy:
            shutil.copyfileobj(stored, copy)
        yield path
