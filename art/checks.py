"""System checks of the storage of pictures, each with an id and a hint that says what to do."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def pictures_can_be_stored(**_kwargs: Any) -> list[CheckMessage]:
    """S3 needs its package and a bucket, the local folder must be writable."""
    if settings.PICTURE_STORAGE == "s3":
        return check_s3()
    if settings.PICTURE_STORAGE != "local":
        problem = f"PICTURE_STORAGE is {settings.PICTURE_STORAGE!r}."
        return [Error(problem, hint="Use local or s3.", id="art.E001")]
    folder = Path(settings.MEDIA_ROOT)
    nearest = next(each for each in (folder, *folder.parents) if each.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK):
        return []
    problem = f"Pictures cannot be stored: {nearest} is not a folder that can be written to."
    hint = "Set MEDIA_ROOT to a folder that the user of the web process may write to."
    return [Error(problem, hint=hint, id="art.E002")]


def check_s3() -> list[CheckMessage]:
    messages: list[CheckMessage] = []
    if find_spec("storages") is None or find_spec("boto3") is None:
        problem = "PICTURE_STORAGE=s3 needs the packages django-storages and boto3."
        hint = "Run: pip install -r requirements-s3.txt"
        messages.append(Error(problem, hint=hint, id="art.E003"))
    if not settings.S3_BUCKET:
        problem = "PICTURE_STORAGE=s3 needs the name of a bucket."
        hint = "Set S3_BUCKET to a private bucket: the site itself decides who sees a picture."
        messages.append(Error(problem, hint=hint, id="art.E004"))
    return messages
