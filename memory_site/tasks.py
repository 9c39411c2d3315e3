"""Background tasks of imports and archives; each does nothing if its run is in another step by
now."""

from uuid import UUID

from celery import shared_task

from episodes.report_models import SessionReport
from memory_site.archive import runs as archive_runs
from memory_site.imports import runs, undo, uploads
from memory_site.session_reports.store import read_report
from worlds.archive_run import ArchiveRun


@shared_task
def read_import(run: str) -> None:
    runs.read_run(UUID(run))


@shared_task
def check_import(run: str) -> None:
    runs.check_run(UUID(run))


@shared_task
def write_import(run: str) -> None:
    runs.import_run(UUID(run))


@shared_task
def undo_import(run: str) -> None:
    undo.undo_run(UUID(run))


@shared_task
def make_archive(run: str) -> None:
    archive_runs.archive(UUID(run))


@shared_task
def restore_archive(run: str) -> None:
    archive_runs.restore(UUID(run))


@shared_task
def resume_archives() -> None:
    """Carry out what no message has started, or what a worker left when it was stopped."""
    work = {ArchiveRun.Kind.ARCHIVE: make_archive, ArchiveRun.Kind.RESTORATION: restore_archive}
    for run in archive_runs.unfinished_runs():
        work[ArchiveRun.Kind(run.kind)].delay(str(run.pk))


@shared_task
def delete_old_archives() -> dict[str, int]:
    return archive_runs.delete_old_runs()


@shared_task
def delete_old_uploads() -> dict[str, int]:
    return uploads.delete_old_uploads()


@shared_task
def read_session_report(report: str) -> None:
    row = SessionReport.objects.select_related("party__world", "party__campaign").filter(pk=report)
    if (found := row.first()) and found.state == SessionReport.State.READING:
        read_report(found)
