"""Several SQL statements in one round trip, by psycopg's pipeline mode."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from django.db import connections, transaction

Statement = tuple[Any, Mapping[str, Any]]
"""SQL (text or what psycopg composes) and its named values."""


def execute_together(db: str, *statements: Statement) -> Any:
    """Execute `statements` as one transaction and return the last one's cursor, whose rows have
    arrived.

    What `set_config(…, true)` sets in one statement holds for those after it.
    """
    link = connections[db]
    link.ensure_connection()
    # Within the caller's transaction a savepoint: a statement that is cancelled must not end that
    # transaction.
    savepoint = transaction.atomic(db) if link.in_atomic_block else nullcontext()
    with savepoint, link.wrap_database_errors, link.connection.pipeline():
        for text, values in statements:
            cursor = link.cursor()
            cursor.execute(text, values)
    return cursor
