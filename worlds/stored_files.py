"""Files in the storage that no row names: of uploads that failed halfway, and of deleted worlds."""

from collections.abc import Iterable
from datetime import timedelta

from django.core.files.storage import default_storage
from django.utils import timezone

GRACE = timedelta(days=1)
"""Younger files may belong to an upload that has not been committed yet."""


def list_folder(folder: str) -> tuple[list[str], list[str]]:
    """Return the names of folders and files in `folder` of the storage. Nothing is in a folder that
    is not there; whether it is there cannot be asked, because S3 has no folders."""
    try:
        return default_storage.listdir(folder)
    except FileNotFoundError:
        return [], []


def delete_files_without_row(folder: str, names: Iterable[str] = ()) -> int:
    """Delete the files in `folder` that are older than a day and not among `names`, which rows
    have (`imports/1.zip`). Returns how many."""
    stray = {f"{folder}/{name}" for name in list_folder(folder)[1]} - set(names)
    before = timezone.now() - GRACE
    old = [name for name in sorted(stray) if default_storage.get_modified_time(name) < before]
    for name in old:
        default_storage.delete(name)
    return len(old)
