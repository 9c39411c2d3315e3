"""Restore a backup: check all of it first, then replace the database in one transaction."""

import json
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pyrage
from django.conf import settings
from django.core.files.base import File
from django.core.management import call_command
from django.db import connection, connections

from memory_site.backup.errors import BackupError
from memory_site.backup.programs import run_program
from memory_site.backup.workspace import workspace
from memory_site.backup.write import (
    DUMP,
    FILES,
    FORMAT,
    FORMAT_VERSION,
    MANIFEST,
    SECRET,
    Manifest,
    digest_of,
    stored_files,
)
from memory_site.broker import conninfo
from memory_site.migration_state import known_migrations
from memory_site.version import VERSION
from worlds.models import World

AGE_HEADER = b"age-encryption.org/"
OTHERS = """
SELECT count(*), to_regclass('worlds_world') IS NOT NULL FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
EXTENSIONS = ("vector", "pg_trgm", "unaccent", "btree_gin")
"""Those that migrations create."""
DROP_ALL = """
DROP SCHEMA IF EXISTS pgmq CASCADE;
DO $$
DECLARE
  statement text;
BEGIN
  -- The statements are written down first: CASCADE takes objects that come later.
  FOREACH statement IN ARRAY ARRAY(
    SELECT format('DROP %s IF EXISTS %s CASCADE', object.type, object.identity)
    FROM (
      SELECT 'pg_class'::regclass, oid FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
      UNION ALL SELECT 'pg_proc'::regclass, oid FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace
      UNION ALL SELECT 'pg_type'::regclass, oid FROM pg_type
        WHERE typnamespace = 'public'::regnamespace AND typtype IN ('e', 'd')
      UNION ALL SELECT 'pg_ts_config'::regclass, oid FROM pg_ts_config
        WHERE cfgnamespace = 'public'::regnamespace
      UNION ALL SELECT 'pg_ts_dict'::regclass, oid FROM pg_ts_dict
        WHERE dictnamespace = 'public'::regnamespace
    ) AS own (class, id), pg_identify_object(own.class, own.id, 0) AS object
    WHERE NOT EXISTS (
      SELECT FROM pg_depend
      WHERE classid = own.class AND objid = own.id AND deptype IN ('e', 'i'))
  ) LOOP
    EXECUTE statement;
  END LOOP;
END $$;
"""
"""Extensions stay: only a superuser may create that of vectors again, and the site need not be one.
"""


def restore_backup(
    source: Path, *, identity: Path | None = None, replace: bool = False
) -> Manifest:
    """Make this installation what it was when `source` was written, and migrate it to this version.

    `identity` is the file of the secret key of an encrypted backup. Worlds that are there are
    deleted only with `replace`. Raises `BackupError`; until everything is checked nothing changes.
    """
    with open_backup(source, identity) as folder:
        manifest = read_manifest(folder)
        refuse_newer(manifest)
        refuse_in_use(replace=replace)
        replace_database(folder)
        replace_secret(folder)
        copy_files(folder)
    call_command("migrate", verbosity=0)
    return manifest


@contextmanager
def open_backup(source: Path, identity: Path | None) -> Iterator[Path]:
    for path, what in ((source, "the backup"), (identity, "the secret key (--identity)")):
        if path is not None and not path.is_file():
            raise BackupError(f"There is no file {path.absolute()} with {what}.")
    try:
        with workspace() as folder:
            packed = decrypt(source, identity, folder)
            with tarfile.open(packed) as archive:
                archive.extractall(folder / "content", filter="data")
            yield folder / "content"
    except tarfile.TarError as error:
        raise BackupError(f"{source} is no backup, or is damaged: {error}") from error


def decrypt(source: Path, identity: Path | None, folder: Path) -> Path:
    with source.open("rb") as file:
        if not file.read(len(AGE_HEADER)).startswith(AGE_HEADER):
            return source
    if identity is None:
        raise BackupError("The backup is encrypted: name the file of its key by --identity.")
    target = folder / "decrypted.tar"
    try:
        pyrage.decrypt_file(str(source), str(target), [read_identity(identity)])
    except pyrage.DecryptError as error:
        raise BackupError(f"The key in {identity} does not open the backup: {error}") from error
    except OSError as error:
        if error.errno is not None:  # of the file system: no such file, no room
            raise
        raise BackupError(
            f"{source} is damaged or not whole ({error}): nothing was changed. Copy it again, or "
            "restore another backup."
        ) from error
    return target


def read_identity(path: Path) -> pyrage.x25519.Identity:
    lines = [line.strip() for line in path.read_text().splitlines()]
    for line in lines:
        if line.startswith("AGE-SECRET-KEY-"):
            return pyrage.x25519.Identity.from_str(line)
    raise BackupError(f"{path} holds no secret key of age (AGE-SECRET-KEY-…).")


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest; raise `BackupError` unless every member is whole."""
    try:
        manifest = Manifest(**json.loads((folder / MANIFEST).read_text()))
    except (FileNotFoundError, ValueError, TypeError) as error:
        raise BackupError("The file is no backup of Memory37.") from error
    if (manifest.format, manifest.version) != (FORMAT, FORMAT_VERSION):
        raise BackupError(f"Unknown format: {manifest.format} {manifest.version}.")
    for name, digest in manifest.members.items():
        path = folder / name
        if not path.is_file() or digest_of(path) != digest:
            raise BackupError(f"The backup is damaged: {name} is missing or was changed.")
    return manifest


def refuse_newer(manifest: Manifest) -> None:
    if newer := sorted(set(manifest.migrations) - known_migrations()):
        raise BackupError(
            f"The backup is of a newer version ({manifest.product}) than this one ({VERSION}): it "
            f"has {newer[0]}. Install that version and restore again."
        )


def refuse_in_use(*, replace: bool) -> None:
    connection.close()
    pool: Any = connection
    pool.close_pool()  # its connections would count as others
    with psycopg.connect(conninfo(), autocommit=True) as raw:
        count, has_tables = raw.execute(OTHERS).fetchone() or (0, False)
    if count:
        raise BackupError(
            f"{count} other connections use the database: stop web, worker and scheduler first."
        )
    if has_tables and World.objects.exists() and not replace:
        raise BackupError(
            "This installation has worlds: --replace deletes them. Make a backup of them before."
        )


def replace_database(folder: Path) -> None:
    """One transaction drops everything and makes what the dump holds, or nothing happens."""
    connections.close_all()
    script = folder / "restore.sql"
    # Comments are those of extensions, which only their owner may write.
    options = ("--no-owner", "--no-privileges", "--no-comments", f"--file={script}")
    run_program("pg_restore", *options, str(folder / DUMP))
    with (folder / "all.sql").open("wb") as target, script.open("rb") as dump:
        target.write(DROP_ALL.encode())
        target.writelines(line for line in dump if is_ours(line))
        target.write(b"\nANALYZE;\n")
    once = ("--single-transaction", "--set=ON_ERROR_STOP=1", "--quiet", "--output=/dev/null")
    run_program("psql", *once, f"--file={folder / 'all.sql'}")


def is_ours(line: bytes) -> bool:
    """Whether a line of a dump is the site's: a database may have extensions that its operator put
    there, such as pg_stat_statements, which another server need not have."""
    if line.startswith(b"CREATE EXTENSION "):
        return any(f" {name} ".encode() in line for name in EXTENSIONS)
    return not line.startswith(b"CREATE SCHEMA public")


def replace_secret(folder: Path) -> None:
    """Signatures and encrypted secrets of webhooks are of the backup's key. Where SECRET_KEY is set
    in the environment, that one goes on being used."""
    target = settings.VAR_DIR / SECRET
    target.parent.mkdir(parents=True, exist_ok=True)
    building = target.with_suffix(".new")
    building.unlink(missing_ok=True)
    with os.fdopen(os.open(building, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write((folder / SECRET).read_text())
    building.replace(target)


def copy_files(folder: Path) -> None:
    for each in stored_files():
        path = folder / FILES / each.name
        if path.is_file() and not each.storage.exists(each.name):
            with path.open("rb") as file:
                each.storage.save(each.name, File(file))
