"""Uploaded files become a run: one file as it is, several as one archive."""

import tempfile
import zipfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from retrieval.errors import Invalid, TooLarge
from retrieval.text import clean_text
from worlds.models import ImportRun, World
from worlds.stored_files import delete_files_without_row
from worlds.trash import DAYS_IN_TRASH

LONGEST_NAME = 200
MOST_FILES = 2_000
FOLDER = "imports"
WRITTEN = (ImportRun.State.DONE, ImportRun.State.UNDOING, ImportRun.State.UNDONE)
"""States of runs that have changed the world."""


def create_run(world: World, files: Sequence[Any], *, user: Any) -> ImportRun:
    """Store the upload and return its run, which is about to be read. Raises `Invalid` without a
    file and `TooLarge` for too many bytes."""
    if not files:
        raise Invalid(_("Choose a file first: a zip archive, or one or more single files."))
    size = sum(file.size or 0 for file in files)
    if size > settings.UPLOAD_MAX_MB * 1_000_000:
        message = _("The upload is too large: at most %(count)d MB.")
        raise TooLarge(message % {"count": settings.UPLOAD_MAX_MB})
    if not size:
        raise Invalid(_("The file is empty."))
    run = ImportRun(world=world, user=user, options={"language": get_language() or "en"})
    names = [clean_text(file.name or "file") for file in files]
    if len(files) == 1:
        run.file_name = names[0][-LONGEST_NAME:]
        run.file.save(f"{run.pk}{PurePosixPath(names[0]).suffix[:10]}", files[0], save=False)
    else:
        more = ngettext(
            "%(name)s and %(count)d more", "%(name)s and %(count)d more", len(names) - 1
        )
        label = more % {"name": names[0][:150], "count": len(names) - 1}
        run.file_name = label
        with tempfile.TemporaryFile() as archive:
            _pack(archive, files, names)
            archive.seek(0)
            run.file.save(f"{run.pk}.zip", File(archive), save=False)
    run.save(force_insert=True)
    return run


# --- deletion


def delete_upload_after_commit(run: ImportRun) -> None:
    """Delete the file of a run that does not need it any more. The caller saves the run."""
    if name := run.file.name:
        transaction.on_commit(lambda: default_storage.delete(name), robust=True)
    run.file = ""


def delete_old_uploads() -> dict[str, int]:
    """Delete the files of runs that are older than `DAYS_IN_TRASH`, runs among them that were never
    imported, and files without a run (of a deleted world). Returns how many of each. What was
    imported stays listed: it can be undone without its file."""
    before = timezone.now() - timedelta(days=DAYS_IN_TRASH)
    old = ImportRun.objects.filter(created_at__lt=before)
    abandoned = list(old.exclude(state__in=WRITTEN))
    for run in abandoned:
        with transaction.atomic():
            delete_upload_after_commit(run)
            run.delete()
    imported = list(old.exclude(file="").only("file"))
    for run in imported:
        with transaction.atomic():
            delete_upload_after_commit(run)
            run.save(update_fields=["file"])
    names = ImportRun.objects.exclude(file="").values_list("file", flat=True)
    return {
        "abandoned imports": len(abandoned),
        "uploads": len(abandoned) + len(imported),
        "files": delete_files_without_row(FOLDER, names),
    }


def _pack(archive: Any, files: Sequence[Any], names: Sequence[str]) -> None:
    taken: set[str] = set()
    with zipfile.ZipFile(archive, "w") as packed:
        for number, (file, name) in enumerate(zip(files, names, strict=True)):
            unique = name if name not in taken else f"{number}/{name}"
            taken.add(unique)
            with packed.open(unique, "w") as member:
                for chunk in file.chunks():
                    member.write(chunk)
