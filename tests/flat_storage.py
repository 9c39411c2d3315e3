"""A storage as S3 is one: it has names of files, and no folders."""

from datetime import datetime
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from django.utils import timezone


class FlatStorage(Storage):
    def __init__(self) -> None:
        self.files: dict[str, tuple[bytes, datetime]] = {}

    def _save(self, name: str, content: Any) -> str:
        self.files[name] = content.read(), timezone.now()
        return name

    def _open(self, name: str, mode: str = "rb") -> Any:
        return ContentFile(self.files[name][0], name=name)

    def exists(self, name: str) -> bool:
        return name in self.files

    def delete(self, name: str) -> None:
        self.files.pop(name, None)

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        start = f"{path}/"
        below = [name.removeprefix(start) for name in self.files if name.startswith(start)]
        folders = {name.partition("/")[0] for name in below if "/" in name}
        return sorted(folders), [name for name in below if "/" not in name]

    def get_modified_time(self, name: str) -> datetime:
        return self.files[name][1]


FLAT_STORAGE = {"BACKEND": f"{__name__}.FlatStorage"}
