"""Write one world into a zip file: the same world gives the same bytes."""

import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from django.core.files.storage import default_storage
from django.db import connection, transaction

from art.models import Picture
from memory_site.archive.inventory import tables
from memory_site.archive.lines import lines_of
from memory_site.version import VERSION
from worlds.models import World

FORMAT, FORMAT_VERSION = "memory37-archive", 1
MANIFEST = "manifest.json"
FIRST_DAY_OF_ZIP = (1980, 1, 1, 0, 0, 0)
BLOCK = 1024 * 1024
Progress = Callable[[int], Any]
"""Called with the percentage that is done."""


def archive_world(world: World, path: Path, *, progress: Progress = lambda _percent: None) -> None:
    """Write `world` into the file `path`, which appears when it is complete."""
    folder = path.resolve().parent
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as part:
        temporary = Path(part.name)
    try:
        is_outermost = not connection.in_atomic_block
        with transaction.atomic():
            if is_outermost:
                use_one_snapshot()
            with zipfile.ZipFile(temporary, "w") as archive:
                Writer(archive, world, progress).write()
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def use_one_snapshot() -> None:
    """See one state of the database throughout; only as the first statement of a transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")


class Writer:
    def __init__(self, archive: zipfile.ZipFile, world: World, progress: Progress) -> None:
        self._archive, self._world, self._progress = archive, world, progress
        self._members: dict[str, dict[str, Any]] = {}

    def write(self) -> None:
        counts = {}
        every_table = tables()
        for place, table in enumerate(every_table):
            lines = CountedLines(lines_of(table, self._world))
            self._add(table.member, lines)
            counts[table.label] = lines.count
            self._progress(80 * (place + 1) // len(every_table))
        missing = [name for name in picture_files(self._world) if not self._add_file(name)]
        manifest = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "product": VERSION,
            "world": {"slug": self._world.slug, "name": self._world.name},
            "counts": counts,
            "missing_files": missing,
            "members": dict(sorted(self._members.items())),
        }
        text = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
        self._archive.writestr(entry(MANIFEST), text.encode())
        self._progress(100)

    def _add(self, name: str, blocks: Iterable[bytes]) -> None:
        digest, size = hashlib.sha256(), 0
        with self._archive.open(entry(name), "w", force_zip64=True) as target:
            for block in blocks:
                target.write(block)
                digest.update(block)
                size += len(block)
        self._members[name] = {"sha256": digest.hexdigest(), "size": size}

    def _add_file(self, name: str) -> bool:
        if not default_storage.exists(name):
            return False
        with default_storage.open(name) as file:
            self._add(f"files/{name}", iter(lambda: file.read(BLOCK), b""))
        return True


class CountedLines:
    """Lines as bytes, with how many there were."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines, self.count = lines, 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self._lines:
            self.count += 1
            yield line.encode() + b"\n"


def entry(name: str) -> zipfile.ZipInfo:
    """A member with nothing of the machine or the moment in it."""
    info = zipfile.ZipInfo(name, FIRST_DAY_OF_ZIP)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system, info.external_attr = 3, 0o644 << 16
    return info


def picture_files(world: World) -> list[str]:
    """The names in the storage of the files of all pictures, sorted."""
    rows = Picture._base_manager.filter(world=world)
    names = rows.values_list("file", "preview", "thumbnail")
    return sorted({name for row in names for name in row if name})
