"""The text files of a folder, of a zip archive, or a single file, within bounds of size."""

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from retrieval.errors import Invalid

LARGEST_FILE, LARGEST_TOTAL = 20_000_000, 300_000_000
IGNORED_PREFIXES = (".", "__MACOSX", "_templates")


@dataclass(frozen=True)
class TextFile:
    """`name` is its path inside the folder or archive, with forward slashes."""

    name: str
    text: str

    @property
    def path(self) -> PurePosixPath:
        return PurePosixPath(self.name)

    def json(self) -> Any:
        """Return the parsed content; raises `Invalid` when it is not JSON."""
        try:
            return json.loads(self.text)
        except (json.JSONDecodeError, RecursionError) as problem:
            raise Invalid(f"{self.name} is not valid JSON: {problem}.") from problem


def text_files(path: Path, *suffixes: str) -> list[TextFile]:
    """Return the files with one of `suffixes`, sorted by name. Raises `Invalid` for a path that
    does not exist, is too large or not UTF-8."""
    if not path.exists():
        raise Invalid(f"There is no file or folder {path}.")
    files: list[TextFile] = []
    total = 0
    for name, content in _contents(path, suffixes):
        _check_size(name, len(content))
        total += len(content)
        if total > LARGEST_TOTAL:
            raise Invalid(f"{path} is too large: at most {LARGEST_TOTAL:,} bytes together.")
        try:
            files.append(TextFile(name, content.decode("utf-8-sig")))
        except UnicodeDecodeError as problem:
            message = f"{name} is not UTF-8 text (byte {problem.start}): save it as UTF-8."
            raise Invalid(message) from problem
    return sorted(files, key=lambda file: file.name)


def _contents(path: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            name = file.relative_to(path).as_posix()
            # A link could lead out of the folder, to files that nobody means to import.
            if file.is_file() and not file.is_symlink() and _is_importable(name, suffixes):
                yield name, file.read_bytes()
    elif zipfile.is_zipfile(path):
        try:
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    if not member.is_dir() and _is_importable(member.filename, suffixes):
                        # Before unpacking: a small archive can hold gigabytes.
                        _check_size(member.filename, member.file_size)
                        yield member.filename, archive.read(member)
        except (zipfile.BadZipFile, RuntimeError, OSError) as problem:
            raise Invalid(f"{path.name} cannot be unpacked: {problem}.") from problem
    else:
        yield path.name, path.read_bytes()


def _check_size(name: str, size: int) -> None:
    if size > LARGEST_FILE:
        raise Invalid(f"{name} is too large: at most {LARGEST_FILE:,} bytes a file.")


def _is_importable(name: str, suffixes: tuple[str, ...]) -> bool:
    parts = PurePosixPath(name).parts
    is_ignored = any(part.startswith(IGNORED_PREFIXES) for part in parts)
    return name.lower().endswith(suffixes) and not is_ignored
