"""Archives made and restored by the worker; the run says how far it is. What fails leaves nothing
but its message."""

import logging
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from memory_site.archive.restore import restore_world
from memory_site.archive.write import archive_world
from memory_site.run_lock import ARCHIVES, LOST_AFTER, MOST_TRIES, run_lock
from memory_site.run_progress import ProgressWriter
from retrieval.errors import Conflict, Invalid, Problem, TooLarge
from retrieval.text import clean_text
from worlds.archive_run import ArchiveRun
from worlds.models import ApiKey, Membership, World
from worlds.stored_files import delete_files_without_row

logger = logging.getLogger(__name__)

Kind, State = ArchiveRun.Kind, ArchiveRun.State
UNFINISHED = (State.WAITING, State.WORKING)
FOLDER = "archives"
LONGEST_NAME = 200


@transaction.atomic
def ask_for_archive(world: World, *, user: Any = None, key: ApiKey | None = None) -> ArchiveRun:
    """Return the run that is to archive `world`: the one that waits already, or a new one."""
    # One at a time: two that find none would make two.
    World.objects.select_for_update(no_key=True).get(pk=world.pk)
    waiting = ArchiveRun.objects.filter(world=world, kind=Kind.ARCHIVE, state__in=UNFINISHED)
    return waiting.first() or ArchiveRun.objects.create(
        kind=Kind.ARCHIVE,
        world=world,
        user=user,
        key=key,
        file_name=f"{world.slug}-{timezone.now():%Y-%m-%d}.zip",
        language=get_language() or "en",
    )


def ask_for_restoration(
    file: Any, *, user: Any = None, key: ApiKey | None = None, slug: str = ""
) -> ArchiveRun:
    """Store the upload and return the run that is to restore it as `slug`, or at the address that
    the world had. Raises `TooLarge` and `Invalid` for files that need no second look."""
    if file.size > settings.UPLOAD_MAX_MB * 1_000_000:
        message = _("The upload is too large: at most %(count)d MB.")
        raise TooLarge(message % {"count": settings.UPLOAD_MAX_MB})
    if not file.size:
        raise Invalid(_("The file is empty."))
    run = ArchiveRun(
        kind=Kind.RESTORATION,
        user=user,
        key=key,
        slug=slug,
        size=file.size,
        file_name=clean_text(file.name or "archive.zip")[-LONGEST_NAME:],
        language=get_language() or "en",
    )
    run.file.save(f"{run.pk}.zip", file, save=False)
    run.save(force_insert=True)
    return run


def ask_again(run: ArchiveRun, *, slug: str, key: ApiKey | None = None) -> None:
    """Restore an archive at another address, after it failed; `key` is the one that asks for it, if
    it is no person. Raises `Conflict` when it did not fail, or when its file is gone."""
    values: dict[str, Any] = {"state": State.WAITING, "progress": 0, "tries": 0}
    values |= {"slug": slug, "failure": ""}
    values |= {"key": key} if key else {}
    failed = ArchiveRun.objects.filter(pk=run.pk, kind=Kind.RESTORATION, state=State.FAILED)
    if not failed.exclude(file="").update(**values):
        raise Conflict(_("This archive is in another step by now: load the page again."))


def archive(run_id: UUID) -> None:
    carry_out(run_id, Kind.ARCHIVE, _archive)


def restore(run_id: UUID) -> None:
    carry_out(run_id, Kind.RESTORATION, _restore)


def carry_out(run_id: UUID, kind: str, step: Callable[[ArchiveRun], None]) -> None:
    """Carry out a run once: a message may come twice, and comes again when its worker died."""
    with run_lock(run_id, ARCHIVES) as is_ours:
        runs = ArchiveRun.objects.select_related("world", "user", "key")
        run = runs.filter(pk=run_id, kind=kind, state__in=UNFINISHED).first()
        if not is_ours or run is None:
            return
        begun = {"state": State.WORKING, "progress": 0, "tries": run.tries + 1}
        ArchiveRun.objects.filter(pk=run_id).update(**begun)
        with translation.override(run.language):
            try:
                if run.tries >= MOST_TRIES:
                    raise Conflict(_("The worker stopped each time that it did this work."))
                step(run)
            except Problem as problem:
                finish(run, State.FAILED, failure=problem.detail)
            except Exception:
                logger.exception("work on archive %s failed", run_id)
                failure = _("The work stopped with an unexpected error. Nothing was changed.")
                finish(run, State.FAILED, failure=failure)


def finish(run: ArchiveRun, state: str, **values: Any) -> bool:
    """Return whether the run is still there: its world may have been deleted."""
    rows = ArchiveRun.objects.filter(pk=run.pk)
    return bool(rows.update(state=state, progress=100, finished_at=timezone.now(), **values))


def _archive(run: ArchiveRun) -> None:
    assert run.world
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "world.zip"
        with ProgressWriter(run) as progress:
            archive_world(run.world, path, progress=lambda percent: progress(percent / 100))
        with path.open("rb") as made:
            run.file.save(f"{run.pk}.zip", File(made), save=False)
        size = path.stat().st_size
    if not finish(run, State.DONE, file=run.file.name, size=size):
        run.file.delete(save=False)


def _restore(run: ArchiveRun) -> None:
    """The new world belongs to whoever uploaded the archive; what a key has uploaded, like a world
    that a key creates, belongs to nobody yet. The people of the archive are left out, because a
    name may belong to somebody else on this site."""
    by_key = run.key is not None and run.key.revoked_at is None
    if run.user is None and not by_key:
        raise Conflict(_("Whoever uploaded this archive has no account or key here any more."))
    with local_copy(run) as path, transaction.atomic():
        with ProgressWriter(run) as progress:
            restored = restore_world(
                path,
                as_slug=run.slug,
                with_people=False,
                name=run.file_name,
                progress=lambda percent: progress(percent / 100),
            )
        if run.user:
            role = Membership.Role.DESIGNER
            Membership.objects.create(user=run.user, world=restored.world, role=role)
        finish(run, State.DONE, world=restored.world, left_out=restored.left_out, file="")
        delete_file_after_commit(run)


@contextmanager
def local_copy(run: ArchiveRun) -> Iterator[Path]:
    """Yield a copy of the file on this machine; the storage may be far away."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "archive.zip"
        with run.file.open("rb") as stored, path.open("wb") as copy:
            shutil.copyfileobj(stored, copy)
        yield path


def delete_run(run: ArchiveRun) -> None:
    """Delete a run with its file."""
    delete_file_after_commit(run)
    run.delete()


def delete_file_after_commit(run: ArchiveRun) -> None:
    if name := run.file.name:
        transaction.on_commit(lambda: default_storage.delete(name), robust=True)


def unfinished_runs() -> list[ArchiveRun]:
    """The runs whose message may be lost; one that another worker has is among them."""
    before = timezone.now() - LOST_AFTER
    return list(ArchiveRun.objects.filter(state__in=UNFINISHED, created_at__lt=before))


def delete_old_runs() -> dict[str, int]:
    """Delete what is older than `ARCHIVE_KEEP_DAYS`, and files without a run (of a deleted world).
    Returns how many of each."""
    before = timezone.now() - timedelta(days=settings.ARCHIVE_KEEP_DAYS)
    old = list(ArchiveRun.objects.filter(created_at__lt=before))
    for run in old:
        delete_run(run)
    names = ArchiveRun.objects.exclude(file="").values_list("file", flat=True)
    return {"archives": len(old), "files": delete_files_without_row(FOLDER, names)}
