"""Pictures that were deleted long ago go for good, and so do files without a row."""

from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from art.models import Picture, PictureUse
from worlds.lookup import as_uuid
from worlds.stored_files import delete_files_without_row, list_folder

FOLDER = "pictures"


def delete_expired_pictures() -> int:
    """Delete for good what was deleted `PICTURE_KEEP_DAYS` ago. Returns how many pictures."""
    before = timezone.now() - timedelta(days=settings.PICTURE_KEEP_DAYS)
    PictureUse.objects.filter(removed_at__lt=before).delete()
    expired = Picture.objects.filter(deleted_at__lt=before)
    # One by one, so that the files of each are deleted after its own commit.
    return len([picture.delete() for picture in expired.iterator()])


def delete_files_without_picture() -> int:
    """An upload that failed between writing its files and its row leaves these. Returns how many
    files."""
    worlds = (f"{FOLDER}/{world}" for world in list_folder(FOLDER)[0])
    return sum(
        delete_files_without_row(f"{world}/{picture}")
        for world in worlds
        for picture in ids_without_row(list_folder(world)[0])
    )


def ids_without_row(names: Iterable[str]) -> list[str]:
    """Return those of `names` that are ids of no picture; a folder with another name is somebody
    else's."""
    ids = {key: name for name in names if (key := as_uuid(name))}
    present = set(Picture.objects.filter(pk__in=ids).values_list("pk", flat=True))
    return [name for key, name in ids.items() if key not in present]
