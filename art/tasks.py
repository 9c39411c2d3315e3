"""Daily upkeep of uploaded pictures."""

from celery import shared_task

from art.picture_purge import delete_expired_pictures, delete_files_without_picture


@shared_task
def purge_pictures() -> dict[str, int]:
    """Delete for good what was deleted `PICTURE_KEEP_DAYS` ago, and files without a row. Returns
    how many of each."""
    files = delete_files_without_picture()
    return {"pictures": delete_expired_pictures(), "files": files}
