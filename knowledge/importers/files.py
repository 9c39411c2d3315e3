"""The files of a folder, of a zip archive, or one file alone; text only, within bounds."""

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from retrieval.errors import Invalid

LARGEST_FILE, LARGEST_TOTAL = 20_000_000, 300_000_000
SKIPPED = (".", "__MACOSX", "_templates")


@dataclass(frozen=True)
class TextFile:
    """`name` is its path inside the folder or archive, with forward slashes."""

    name: str
    text: str

    @property
    def path(self) -> PurePosixPath:
        return PurePosixPath(self.name)

    def json(self) -> Any:
        """Return what the file holds; raises `Invalid` when that is not JSON."""
        try:
            return json.loads(self.text)
        except (json.JSONDecodeError, RecursionError) as problem:
            raise Invalid(f"{self.name} is not valid JSON: {problem}.") from problem


def text_files(path: Path, *suffixes: str) -> list[TextFile]:
    """Return the files with one of `suffixes`, by name. Raises `Invalid` for a path that is not there or too large."""
    if not path.exists():
        raise Invalid(f"There is no file or folder {path}.")
    found: list[TextFile] = []
    total = 0
    for name, content in _contents(path, suffixes):
        total += len(content)
        if len(content) > LARGEST_FILE or total > LARGEST_TOTAL:
            raise Invalid(
                f"{name} is too large: at most {LARGEST_FILE:,} bytes a file, {LARGEST_TOTAL:,} together."
            )
        found.append(TextFile(name, _decoded(name, content)))
    return sorted(found, key=lambda file: file.name)


def _contents(path: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for each in sorted(path.rglob("*")):
            name = each.relative_to(path).as_posix()
            if each.is_file() and not each.is_symlink() and _wanted(name, suffixes):
                yield name, each.read_bytes()
    elif zipfile.is_zipfile(path):
        yield from _unpacked(path, suffixes)
    else:
        yield path.name, path.read_bytes()


def _unpacked(path: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if not member.is_dir() and _wanted(member.filename, suffixes):
                    if member.file_size > LARGEST_FILE:
                        raise Invalid(
                            f"{member.filename} is too large: at most {LARGEST_FILE:,} bytes a file."
                        )
                    yield member.filename, archive.read(member)
    except (zipfile.BadZipFile, RuntimeError, OSError) as problem:
        raise Invalid(f"{path.name} cannot be unpacked: {problem}.") from problem


def _wanted(name: str, suffixes: tuple[str, ...]) -> bool:
    parts = PurePosixPath(name).parts
    return name.lower().endswith(suffixes) and not any(part.startswith(SKIPPED) for part in parts)


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise Invalid(
            f"{name} is not UTF-8 text (byte {problem.start}): save it as UTF-8."
        ) from problem
