"""Background tasks of imports and archives; each does nothing if its run is in another step by
now."""

from datetime import datetime
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from memory_site import sign_in_records
from memory_site.archive import runs as archive_runs
from memory_site.fact_proposals import store
from memory_site.fact_proposals.decide import decide_many
from memory_site.fact_proposals.lists import proposals_of
from memory_site.fact_proposals.sources import find_source
from memory_site.fact_proposals.store import read_source, read_world
from memory_site.imports import runs, undo, uploads
from memory_site.session_reports import store as reports
from retrieval.errors import NotFound
from worlds.archive_run import ArchiveRun
from worlds.models import ImportRun, World


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
def resume_imports() -> None:
    """Carry out what no message has started, or what a worker left when it was stopped."""
    work = {
        ImportRun.State.READING: read_import,
        ImportRun.State.CHECKING: check_import,
        ImportRun.State.IMPORTING: write_import,
        ImportRun.State.UNDOING: undo_import,
    }
    for run in runs.unfinished_runs():
        work[ImportRun.State(run.state)].delay(str(run.pk))


@shared_task
def delete_old_sign_ins() -> dict[str, int]:
    return sign_in_records.delete_old_sign_ins()


@shared_task
def read_session_report(report: str) -> None:
    reports.read_by_worker(UUID(report))


@shared_task
def resume_reports() -> None:
    """Read what no message has started, or what a worker left when it was stopped."""
    for report in reports.unread_reports():
        read_session_report.delay(str(report.pk))


@shared_task(is_bulk=True)
def read_texts_of_world(world: str) -> int:
    """Read every text of a world for facts. Return the number of new proposals."""
    row = World.objects.filter(pk=world).first()
    return read_world(row).new if row else 0


@shared_task
def read_text(world: str, kind: str, ref: str) -> int:
    """Read one text of a world for facts, by the language model as well. Return the number of new
    proposals; 0 when the text has been deleted meanwhile."""
    row = World.objects.filter(pk=world).first()
    if row is None:
        return 0
    try:
        source = find_source(row, kind, ref)
    except NotFound:
        return 0
    return read_source(row, source).new


@shared_task(is_bulk=True)
def read_saved_texts(world: str, begin: str) -> int:
    """Read what was saved in a world in the window from `begin` (ISO 8601). Return the number of
    new proposals."""
    row = World.objects.filter(pk=world).first()
    return store.read_saved_texts(row, datetime.fromisoformat(begin)).new if row else 0


@shared_task(is_bulk=True)
def read_unread_texts() -> int:
    """Read what was saved lately and no message had read. Return the number of new proposals."""
    return store.read_unread_texts(timezone.now()).new if settings.PROPOSE_AT_SAVE else 0


@shared_task
def decide_proposals(world: str, filters: dict[str, str], decision: str, by: str) -> int:
    """Decide all proposals of a world that fit `filters`. Return their number."""
    row = World.objects.filter(pk=world).first()
    if row is None:
        return 0
    return decide_many(proposals_of(row).filter(**filters), decision, by=by).decided
