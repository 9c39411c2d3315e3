"""A database with every migration applied, which the test databases are copied from.

Applying the migrations takes 50 seconds of a core, copying a database less than one. So each state
of the migrations is applied once per database server, and each process of a test run copies it.
`make check` makes it (`python -m tests.migrated_template`) while the types are checked.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django
import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from psycopg import sql

PREFIX = "migrated_"
LOCK = 370_001
"""Key of the advisory lock under which one process builds a template while the others wait."""


def migrated_template() -> str:
    """Return the name of the template of the present migrations; build it if it is missing."""
    name = PREFIX + digest_of_migrations()
    with maintenance_connection() as server:
        server.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        if name not in existing_templates(server):
            build_template(name, server)
    return name


def main() -> None:
    django.setup()
    print(f"The tests copy their databases from {migrated_template()}.")


def digest_of_migrations() -> str:
    """Over the names and bytes of all migrations, and the requirements, which bring the migrations
    of other packages."""
    files = [*settings.BASE_DIR.glob("*/migrations/**/*"), settings.BASE_DIR / "requirements.txt"]
    digest = hashlib.sha256()
    for path in sorted(filter(is_source, files)):
        digest.update(str(path.relative_to(settings.BASE_DIR)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def is_source(path: Path) -> bool:
    return path.is_file() and path.suffix != ".pyc"


@contextmanager
def maintenance_connection() -> Iterator[psycopg.Connection]:
    """Connect to the database that every server has, because no database can be copied or renamed
    while somebody is connected to it."""
    params = {**connection.get_connection_params(), "dbname": "postgres"}
    own = {"cursor_factory", "server_side_binding", "prepare_threshold", "pool", "context"}
    plain = {key: value for key, value in params.items() if key not in own}
    with psycopg.connect(**plain, autocommit=True) as server:
        yield server


def existing_templates(server: psycopg.Connection) -> set[str]:
    rows = server.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [PREFIX + "%"])
    return {name for (name,) in rows}


def build_template(name: str, server: psycopg.Connection) -> None:
    """Migrate a new database and give it its name when it is whole; drop those of other states."""
    for old in existing_templates(server):
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(old)))
    building = f"{name}_new"
    server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(building)))
    original = connection.settings_dict["NAME"]
    connection.settings_dict["NAME"] = building
    try:
        call_command("migrate", verbosity=0, interactive=False)
    finally:
        connection.close()
        connection.close_pool()
        connection.settings_dict["NAME"] = original
    rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
    server.execute(rename.format(sql.Identifier(building), sql.Identifier(name)))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    main()
