"""Uploaded files become a run: one file as it is, several as one archive."""

import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings
from django.core.files import File
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from retrieval.errors import Invalid, TooLarge
from retrieval.text import clean_text
from worlds.models import ImportRun, World

LONGEST_NAME = 200
MOST_FILES = 2_000


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


def _pack(archive: Any, files: Sequence[Any], names: Sequence[str]) -> None:
    taken: set[str] = set()
    with zipfile.ZipFile(archive, "w") as packed:
        for number, (file, name) in enumerate(zip(files, names, strict=True)):
            unique = name if name not in taken else f"{number}/{name}"
            taken.add(unique)
            with packed.open(unique, "w") as member:
                for chunk in file.chunks():
                    member.write(chunk)
