"""The rows of a test database, copied once and put back for each test that starts with them."""

from dataclasses import dataclass

from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction


@dataclass(frozen=True)
class SavedRows:
    """The rows of every table that has some, as PostgreSQL's `COPY` writes them."""

    tables: dict[str, bytes]

    @classmethod
    def read(cls) -> "SavedRows":
        """Copy what the current transaction sees. What waits for its commit is done before: events
        get their position then."""
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
            found = {}
            for table in full_tables():
                with cursor.copy(f'COPY "{table}" TO STDOUT (FORMAT binary)') as copy:
                    found[table] = b"".join(map(bytes, copy))
        return cls(found)

    def write(self) -> None:
        """Replace every row of the database by the saved ones; no trigger and no check runs."""
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            for table in full_tables():
                cursor.execute(f'DELETE FROM "{table}"')
            for table, rows in self.tables.items():
                with cursor.copy(f'COPY "{table}" FROM STDIN (FORMAT binary)') as copy:
                    copy.write(rows)
            cursor.execute("SET LOCAL session_replication_role = origin")
        ContentType.objects.clear_cache()


def full_tables() -> list[str]:
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    if not names:  # no test of this run uses the database
        return []
    looks = (f"SELECT '{name}' WHERE EXISTS (SELECT FROM \"{name}\")" for name in names)
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(looks))
        return sorted(name for (name,) in cursor.fetchall())
