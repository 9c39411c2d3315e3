"""Looking through the whole database for something that should be gone. Knows no model, so that it misses none."""

from typing import Any
from uuid import UUID

from django.db import connection
from psycopg import sql

from memories.erasure.lineage import MIN_QUOTE_LENGTH
from retrieval.embedders import text_hash

COLUMNS = """
SELECT c.table_name, c.column_name, c.udt_name FROM information_schema.columns c
JOIN information_schema.tables t USING (table_schema, table_name)
WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE'
  AND c.udt_name IN ('text', 'varchar', 'json', 'jsonb', 'uuid', '_uuid', '_text', '_varchar', 'bytea')
ORDER BY 1, 2
"""
HAS_NAMESPACE = """
SELECT table_name FROM information_schema.columns
WHERE table_schema = current_schema() AND column_name = 'namespace_id' AND table_name LIKE 'memories\\_%%'
"""
WORDLESS = {"uuid", "_uuid", "bytea"}
ALLOWED = {"memories_tombstone", "memories_erasurereceipt"}

HOLDS_ID = "SELECT count(*) FROM {table} WHERE {column}::text LIKE ANY(%(ids)s)"
IS_ID = "SELECT count(*) FROM {table} WHERE {column} = ANY(%(ids)s::uuid[])"
SAYS = """
SELECT count(*) FROM {table} WHERE namespace_id = %(namespace)s AND (
    {column}::text = ANY(%(texts)s)
    OR EXISTS (SELECT 1 FROM unnest(%(sure)s::text[]) said WHERE strpos({column}::text, said) > 0))
"""


def leftovers(namespace_id: UUID, ids: list[UUID], texts: list[str]) -> list[str]:
    """Name every place that still holds one of `ids`, or, within the namespace and the caches, one of `texts`."""
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS)
        columns = [row for row in cursor.fetchall() if row[0] not in ALLOWED]
        cursor.execute(HAS_NAMESPACE)
        own = {table for (table,) in cursor.fetchall()}
        found = [
            _report(table, column, "an id")
            for table, column, kind in columns
            if _has_id(cursor, table, column, kind, ids)
        ]
        found += [
            _report(table, column, "a text")
            for table, column, kind in columns
            if table in own
            and kind not in ("uuid", "_uuid", "bytea")
            and _says(cursor, table, column, namespace_id, texts)
        ]
        return found + _cached(cursor, texts)


def _has_id(cursor: Any, table: str, column: str, kind: str, ids: list[UUID]) -> bool:
    """Ids stand as such, or inside JSON, text and stored answers."""
    if not ids:
        return False
    if kind == "uuid":
        statement, values = IS_ID, {"ids": ids}
    elif kind == "bytea":
        return _in_bytes(cursor, table, column, ids)
    else:
        statement, values = HOLDS_ID, {"ids": [f"%{pk}%" for pk in ids]}  # type: ignore[misc]
    cursor.execute(_for(statement, table, column), values)
    return bool(cursor.fetchone()[0])


def _in_bytes(cursor: Any, table: str, column: str, ids: list[UUID]) -> bool:
    statement = """SELECT count(*) FROM {table} WHERE EXISTS (
        SELECT 1 FROM unnest(%(ids)s::text[]) id WHERE position(convert_to(id, 'UTF8') IN {column}) > 0)"""
    cursor.execute(_for(statement, table, column), {"ids": [str(pk) for pk in ids]})
    return bool(cursor.fetchone()[0])


def _says(cursor: Any, table: str, column: str, namespace_id: UUID, texts: list[str]) -> bool:
    if not texts:
        return False
    values = {
        "namespace": namespace_id,
        "texts": texts,
        "sure": [text for text in texts if len(text) >= MIN_QUOTE_LENGTH],
    }
    cursor.execute(_for(SAYS, table, column), values)
    return bool(cursor.fetchone()[0])


def _cached(cursor: Any, texts: list[str]) -> list[str]:
    if not texts:
        return []
    cursor.execute(
        "SELECT count(*) FROM retrieval_cachedvector WHERE text_hash = ANY(%s)",
        [[text_hash(text) for text in texts]],
    )
    return (
        [_report("retrieval_cachedvector", "vector", "the vector of a text")]
        if cursor.fetchone()[0]
        else []
    )


def _for(statement: str, table: str, column: str) -> sql.Composed:
    return sql.SQL(statement).format(table=sql.Identifier(table), column=sql.Identifier(column))


def _report(table: str, column: str, what: str) -> str:
    return f"{table}.{column} holds {what}"
