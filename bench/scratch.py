"""A scratch database for benches. It is kept, because its cached vectors save minutes."""

import os
from typing import cast

import django
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper


def connect(name: str = "memory37_bench", *, migrate: bool = True) -> None:
    """Set Django up on the scratch database; create and migrate it if needed."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    django.setup()
    from django.core.management import call_command

    from bench.passages import create_tables

    if not _exists(name):
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {connection.ops.quote_name(name)} TEMPLATE template0")
    assert name != connection.settings_dict["NAME"]
    connection.close()
    # The pool belongs to the connection of PostgreSQL, which Django types as any database's.
    cast(DatabaseWrapper, connection).close_pool()
    connection.settings_dict["NAME"] = name
    if migrate:
        call_command("migrate", verbosity=0)
        create_tables()


def _exists(name: str) -> bool:
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
        return cursor.fetchone() is not None
