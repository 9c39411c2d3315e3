"""Set up Django for a plain script; importing this module is enough.

The script needs no server and names no settings module: the embedded database starts with the
first connection.
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

IS_SCRIPT = False
"""Whether this module set Django up: then it also has to keep the tables up to date."""

if not apps.ready:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    # A notebook has a running event loop, and Django would refuse the blocking calls of a script.
    os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    django.setup()
    IS_SCRIPT = True


@cache
def ensure_tables() -> None:
    """Migrate the database if it has no tables or a script finds pending migrations."""
    is_ready = has_tables() and not (IS_SCRIPT and has_pending_migrations())
    if connection.in_atomic_block or is_ready:
        return
    # Two scripts that start at once take turns; the second finds the work done.
    with (settings.VAR_DIR / "migrate.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if not has_tables() or has_pending_migrations():
            call_command("migrate", verbosity=0, interactive=False)


def has_tables() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('memories_namespace') IS NOT NULL")
        return bool(cursor.fetchone()[0])


def has_pending_migrations() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
