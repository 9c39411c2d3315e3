"""Write the backup of an installation that runs meanwhile."""

import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pyrage
from django.apps import apps
from django.conf import settings
from django.core.files.storage import Storage
from django.db import connection, models, transaction
from django.db.migrations.recorder import MigrationRecorder

from memory_site.backup.errors import BackupError
from memory_site.backup.programs import run_program
from memory_site.backup.workspace import workspace
from memory_site.version import VERSION

FORMAT, FORMAT_VERSION = "memory37-backup", 1
MANIFEST, DUMP, SECRET, FILES = "manifest.json", "database.dump", "secret_key", "files/"
DUMP_OPTIONS = ("--format=custom", "--compress=6", "--no-owner", "--no-privileges")


@dataclass
class Manifest:
    format: str
    version: int
    product: str
    written_at: str
    server: str
    migrations: list[str]
    missing_files: list[str] = field(default_factory=list)
    """Files that rows name and the storage did not have."""
    members: dict[str, str] = field(default_factory=dict)
    """SHA-256 by the name of the member."""


@dataclass(frozen=True)
class StoredFile:
    name: str
    storage: Storage


@contextmanager
def one_snapshot() -> Iterator[str]:
    """See one state of the database throughout; yield the name by which pg_dump sees it too."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        yield str(cursor.fetchone()[0])


def write_backup(target: Path, *, recipient: str = "", snapshot: str = "") -> Manifest:
    """Write the backup into the file `target`, which appears when it is complete, for its owner
    alone. `recipient` is the public key (age1…) that it is encrypted to. Raises `BackupError`."""
    key = parse_recipient(recipient) if recipient else None
    if not target.absolute().parent.is_dir():
        raise BackupError(f"There is no folder {target.absolute().parent} for the backup: make it.")
    with workspace() as folder:
        if snapshot:
            manifest = collect(folder, snapshot)
        else:
            with one_snapshot() as name:
                manifest = collect(folder, name)
        packed = folder / "packed.tar"
        pack(folder, packed, manifest)
        if key is not None:
            encrypted = folder / "packed.age"
            pyrage.encrypt_file(str(packed), str(encrypted), [key])
            packed = encrypted
        publish(packed, target)
    return manifest


def publish(source: Path, target: Path) -> None:
    """Copy `source` to `target`, perhaps on another disk, where it appears as a whole."""
    # Such a file is readable for its owner alone.
    handle, name = tempfile.mkstemp(dir=target.resolve().parent, prefix=".backup-")
    building = Path(name)
    try:
        with os.fdopen(handle, "wb") as copy, source.open("rb") as packed:
            shutil.copyfileobj(packed, copy)
            copy.flush()
            os.fsync(copy.fileno())
        building.replace(target)
    finally:
        building.unlink(missing_ok=True)


def collect(folder: Path, snapshot: str) -> Manifest:
    """Put everything into `folder` as of the snapshot; return what it is."""
    run_program("pg_dump", *DUMP_OPTIONS, f"--snapshot={snapshot}", f"--file={folder / DUMP}")
    (folder / SECRET).write_text(settings.SECRET_KEY)
    missing = [each.name for each in stored_files() if not copy_file(each, folder / FILES)]
    migrations = MigrationRecorder(connection).applied_migrations()
    return Manifest(
        format=FORMAT,
        version=FORMAT_VERSION,
        product=VERSION,
        written_at=datetime.now(UTC).isoformat(timespec="seconds"),
        server=server_version(),
        migrations=sorted(f"{app}.{name}" for app, name in migrations if app in apps.app_configs),
        missing_files=sorted(missing),
    )


def server_version() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        return str(cursor.fetchone()[0])


def stored_files() -> Iterator[StoredFile]:
    """Every file that a row names, each once."""
    seen: set[str] = set()
    for model in apps.get_models():
        fields = [each for each in model._meta.local_fields if isinstance(each, models.FileField)]
        for each in fields:
            names = model._base_manager.exclude(**{each.name: ""}).values_list(each.name, flat=True)
            for name in names.iterator():
                if name and name not in seen:
                    seen.add(name)
                    yield StoredFile(name, each.storage)


def copy_file(file: StoredFile, folder: Path) -> bool:
    """Copy a file out of its storage; False if it is not there."""
    target = folder / file.name
    if not target.resolve().is_relative_to(folder.resolve()):
        raise BackupError(f"A row names a file outside of the storage: {file.name}")
    try:
        source = file.storage.open(file.name)
    except FileNotFoundError:
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    with source, target.open("wb") as copy:
        shutil.copyfileobj(source, copy)
    return True


def pack(folder: Path, target: Path, manifest: Manifest) -> None:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    members = {str(path.relative_to(folder)): path for path in paths}
    manifest.members = {name: digest_of(path) for name, path in members.items()}
    with tarfile.open(target, "w") as archive:
        text = json.dumps(asdict(manifest), ensure_ascii=False, indent=1).encode()
        info = tarfile.TarInfo(MANIFEST)
        info.size, info.mode = len(text), 0o600
        archive.addfile(info, io.BytesIO(text))
        for name, path in members.items():
            archive.add(path, arcname=name)


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def parse_recipient(text: str) -> pyrage.x25519.Recipient:
    try:
        return pyrage.x25519.Recipient.from_str(text.strip())
    except pyrage.RecipientError as error:
        raise BackupError(f"This is no public key of age (age1…): {text}") from error
