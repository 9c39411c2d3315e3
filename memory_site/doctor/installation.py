"""Configuration, versions, database server, disk, processes."""

import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path

import django
from django.conf import settings
from django.core.checks import ERROR, run_checks
from django.db import connection

from memory_site import health
from memory_site.doctor.diagnoses import Diagnosis, error, ok, warning
from memory_site.migration_state import migration_state
from memory_site.version import VERSION

LEAST_FREE_SHARE, LEAST_FREE_BYTES = 0.05, 2 * 10**9
HTTPS_CHECKS = {"security.W004", "security.W008", "security.W012", "security.W016"}
"""What Django says of a site without HTTPS: one setting answers all of them."""
VERSIONS = """
SELECT current_setting('server_version'),
  (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
  pg_size_pretty(pg_database_size(current_database()))
"""
OLD_TRANSACTIONS = """
SELECT count(*), coalesce(max(extract(epoch FROM now() - xact_start)), 0)
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND state LIKE 'idle in transaction%' AND xact_start < now() - interval '10 minutes'
"""


def examine_versions() -> Iterator[Diagnosis]:
    with connection.cursor() as cursor:
        cursor.execute(VERSIONS)
        server, vector, size = cursor.fetchone()
    text = f"Memory37 {VERSION}, Python {platform.python_version()}, Django {django.__version__}"
    yield ok("versions", f"{text}, PostgreSQL {server}, pgvector {vector}, database {size}")


def examine_missing_database() -> Iterator[Diagnosis]:
    text = "it does not answer: processes and data were not examined"
    remedy = (
        "Start the server that DATABASE_URL names; of the embedded one the end of "
        "var/postgres/server.log says why it stopped. Then run doctor again."
    )
    yield error("database", text, remedy)


def examine_configuration() -> Iterator[Diagnosis]:
    """Everything that `check --deploy --database default` says."""
    found = run_checks(include_deployment_checks=True, databases=["default"])
    messages = [message for message in found if not message.is_silenced()]
    without_https = [message for message in messages if message.id in HTTPS_CHECKS]
    if without_https:
        names = ", ".join(sorted(str(message.id) for message in without_https))
        text = f"pages and cookies travel without encryption ({names})"
        yield warning("configuration", text, "Set HTTPS=true once a proxy with TLS is in front.")
    for message in messages:
        if message in without_https:
            continue
        make = error if message.level >= ERROR else warning
        yield make("configuration", f"{message.id}: {message.msg}", str(message.hint or ""))
    if not messages:
        yield ok("configuration", "no system check has anything to say")


def examine_migrations() -> Iterator[Diagnosis]:
    state = migration_state()
    if state.waiting:
        text = f"{len(state.waiting)} migrations are waiting, first {state.waiting[0]}"
        remedy = "Run manage.py migrate, then doctor again: processes and data were not examined."
        yield error("migrations", text, remedy)
    # A newer database is reported by the system check memory37.E008.
    if not state.waiting and not state.newer:
        yield ok("migrations", "the database is of this version")


def examine_parts() -> Iterator[Diagnosis]:
    """What `/health/ready` asks, with the error itself; migrations have an examination of their
    own."""
    for part, problem in health.examine_parts():
        if part.name == "migrations":
            continue
        if problem is None:
            yield ok(part.name, "works")
        else:
            make = error if part.is_required else warning
            yield make(part.name, str(problem) or type(problem).__name__, part.reason)


def examine_disk() -> Iterator[Diagnosis]:
    folders = {Path(settings.VAR_DIR).resolve(), Path(settings.MEDIA_ROOT).resolve()}
    for folder in sorted(each for each in folders if each.exists()):
        usage = shutil.disk_usage(folder)
        text = f"{usage.free / 1e9:.1f} of {usage.total / 1e9:.1f} GB are free at {folder}"
        if usage.free < max(LEAST_FREE_BYTES, LEAST_FREE_SHARE * usage.total):
            remedy = (
                "Make room or move MEMORY37_VAR: PostgreSQL refuses writes when the disk is full. "
                "AUDIT_DAYS, EVENT_DAYS and ARCHIVE_KEEP_DAYS decide what is kept."
            )
            yield warning("disk", text, remedy)
        else:
            yield ok("disk", text)
    yield from examine_permissions(folders)


def examine_permissions(folders: set[Path]) -> Iterator[Diagnosis]:
    """Name folders that this user may not write to: uploads fail there with an error of the server.
    A command that was run as root leaves such ones among those of pictures, imports and archives.
    """
    media = Path(settings.MEDIA_ROOT).resolve()
    below = {each for each in media.iterdir() if each.is_dir()} if media.is_dir() else set()
    for folder in sorted(each for each in folders | below if each.exists()):
        if not os.access(folder, os.W_OK | os.X_OK):
            text = f"this user may not write to {folder}, or the disk is read-only"
            remedy = "Give it to the user of the site (chown -R), and run doctor as that user."
            yield error("disk", text, remedy)


def examine_transactions() -> Iterator[Diagnosis]:
    with connection.cursor() as cursor:
        cursor.execute(OLD_TRANSACTIONS)
        count, seconds = cursor.fetchone()
    if count:
        text = f"{count} transactions are open and idle, the oldest for {seconds / 60:.0f} minutes"
        remedy = (
            "They keep PostgreSQL from removing old rows. Find their programs in pg_stat_activity; "
            "pg_terminate_backend(pid) ends one."
        )
        yield warning("transactions", text, remedy)
