"""The readers of zip files take time in proportion to the file, whatever lies in it: no archive of
an upload, nor one of a world, keeps a process busy for longer than its size explains."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from knowledge.importers.files import open_bundle
from memory_site.archive.inventory import tables
from memory_site.archive.read import open_archive
from memory_site.archive.write import FORMAT, FORMAT_VERSION, MANIFEST
from retrieval.errors import Invalid

SMALL, TIMES = 1_000, 4
MOST_GROWTH = 2 * TIMES
"""A file that is four times as large takes four times as long; sixteen times would be the square
of it."""
SHORTEST = 0.02
"""Seconds of a processor. What takes less says nothing about its growth."""
Members = list[tuple[str, bytes]]
DEEP_ROW = b'{"a":' + b"[" * 300 + b"]" * 300 + b"}\n"
MARK = "\N{COMBINING ACUTE ACCENT}"
PICTURE = "files/pictures/{0:036x}/{0:036x}/original.png"


def archive_of_notes(count: int) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for number in range(count):
            archive.writestr(f"{number}.md", b"Note.")
    return content.getvalue()


UPLOADS: dict[str, Callable[[int], Members]] = {
    "many files": lambda n: [(f"{number}.md", b"") for number in range(n)],
    "one name": lambda n: [("a.md", b"x")] * n,
    "deep folders": lambda n: [(f"{'a/' * 200}{number}.md", b"") for number in range(n)],
    "climbing names": lambda n: [(f"{'../' * 200}{number}.md", b"") for number in range(n)],
    "letters and marks": lambda n: [(f"e{MARK * 200}{number}.md", b"") for number in range(n)],
    "names of old tools": lambda n: [(f"{'Ж' * 100}{number}.md", b"") for number in range(n)],
    "broken archives": lambda n: [(f"{number}.zip", b"PK\x05\x06") for number in range(n)],
    "archives": lambda n: [(f"{number}.zip", archive_of_notes(20)) for number in range(n // 20)],
    "pictures": lambda n: [(f"{number % 7}/a{number}.png", b"") for number in range(n)],
}
WORLDS: dict[str, Callable[[int], Members]] = {
    "many pictures": lambda n: [(PICTURE.format(number), b"") for number in range(n)],
    "blanks": lambda n: [(tables()[0].member, (b" " * 500 + b"{}\n") * n)],
    "rows": lambda n: [(tables()[0].member, b"{}\n" * n * 10)],
    "one long row": lambda n: [(tables()[0].member, b'{"a":[' + b"1," * n * 40 + b"1]}\n")],
    "deep rows": lambda n: [
        (tables()[0].member, (b'{"a":' + b"[" * 300 + b"]" * 300 + b"}\n") * n)
    ],
}


def pack(path: Path, members: Members) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content)
    return path


def pack_world(path: Path, members: Members) -> Path:
    """An archive whose manifest agrees with what is in it."""
    listed = {name: {"sha256": hashlib.sha256(content).hexdigest()} for name, content in members}
    manifest = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "members": listed,
        "world": {"slug": "pier"},
    }
    return pack(path, [(MANIFEST, json.dumps(manifest).encode()), *members])


def read_upload(path: Path) -> None:
    bundle = open_bundle(path)
    assert bundle.files or bundle.problems
    assert len(bundle.pictures) >= 0


def read_world(path: Path) -> None:
    try:
        with open_archive(path) as archive:
            assert isinstance(archive.file_names, list)
            for table in tables():
                for _line in archive.lines(table):
                    pass
    except Invalid:
        return


def limit(seconds_of_small: float) -> float:
    return MOST_GROWTH * max(seconds_of_small, SHORTEST)


def seconds_of(read: Callable[[Path], None], path: Path) -> float:
    """The least processor time of several tries: the machine is shared."""
    taken = []
    for _try in range(3):
        begin = process_time()
        read(path)
        taken.append(process_time() - begin)
    return min(taken)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("kind", UPLOADS)
def test_an_upload_takes_time_in_proportion_to_its_size(kind: str, tmp_path: Path) -> None:
    small, large = (
        pack(tmp_path / f"{count}.zip", UPLOADS[kind](count)) for count in (SMALL, SMALL * TIMES)
    )
    assert seconds_of(read_upload, large) < limit(seconds_of(read_upload, small))


@pytest.mark.parametrize("kind", WORLDS)
def test_an_archive_of_a_world_takes_time_in_proportion_to_its_size(
    kind: str, tmp_path: Path
) -> None:
    small, large = (
        pack_world(tmp_path / f"{count}.zip", WORLDS[kind](count))
        for count in (SMALL, SMALL * TIMES)
    )
    assert seconds_of(read_world, large) < limit(seconds_of(read_world, small))
