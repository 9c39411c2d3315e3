"""Django for a plain script: importing this module sets it up when nobody has.

No server has to be started and no settings module named: the embedded database starts with the first connection.
"""

import fcntl
import os
from functools import cache

import django
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

WE_SET_UP = False

if not apps.ready:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    os.environ.setdefault(
        "DJANGO_ALLOW_ASYNC_UNSAFE", "true"
    )  # a script that calls blocking code means it
    django.setup()
    WE_SET_UP = True


@cache
def ensure_tables() -> None:
    """Create or update the tables where a script is the first to want them; two scripts at once take turns."""
    if connection.in_atomic_block or (_has_tables() and not (WE_SET_UP and _is_behind())):
        return
    with (settings.VAR_DIR / "migrate.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if not _has_tables() or _is_behind():
            call_command("migrate", verbosity=0, interactive=False)


def release_connection() -> None:
    """Give this thread's connection back to the pool, unless a transaction of the caller's is open."""
    if not connection.in_atomic_block:
        connection.close()


def _has_tables() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('memories_namespace') IS NOT NULL")
        return bool(cursor.fetchone()[0])


def _is_behind() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
