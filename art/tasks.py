"""Daily upkeep of uploaded pictures."""

from datetime import timedelta
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.core.files.storage import default_storage
from django.utils import timezone

from art.models import Picture, PictureUse

FOLDER = "pictures"
GRACE = timedelta(days=1)
"""Younger files may belong to an upload that has not been committed yet."""


@shared_task
def purge_pictures() -> dict[str, int]:
    """Delete for good what was deleted `PICTURE_KEEP_DAYS` ago, and files without a row. Returns
    how many of each."""
    files = delete_files_without_row()
    before = timezone.now() - timedelta(days=settings.PICTURE_KEEP_DAYS)
    PictureUse.objects.filter(removed_at__lt=before).delete()
    expired = Picture.objects.filter(deleted_at__lt=before)
    # One by one, so that the files of each are deleted after its own commit.
    deleted = [picture.delete() for picture in expired.iterator()]
    return {"pictures": len(deleted), "files": files}


def delete_files_without_row() -> int:
    """An upload that failed between writing its files and its row leaves these."""
    if not default_storage.exists(FOLDER):
        return 0
    count = 0
    for world in default_storage.listdir(FOLDER)[0]:
        for picture in default_storage.listdir(f"{FOLDER}/{world}")[0]:
            if not has_row(picture):
                count += delete_old_files(f"{FOLDER}/{world}/{picture}")
    return count


def has_row(name: str) -> bool:
    try:
        return Picture.objects.filter(pk=UUID(name)).exists()
    except ValueError:
        return True  # somebody else's folder


def delete_old_files(folder: str) -> int:
    before = timezone.now() - GRACE
    names = [f"{folder}/{name}" for name in default_storage.listdir(folder)[1]]
    old = [name for name in names if default_storage.get_modified_time(name) < before]
    for name in old:
        default_storage.delete(name)
    return len(old)
