"""Background tasks of imports; each does nothing if its run is in another step by now."""

from uuid import UUID

from celery import shared_task

from memory_site.imports import runs, undo


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
