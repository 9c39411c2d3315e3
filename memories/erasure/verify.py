"""Search every table of the database for erased ids and texts. It reads the catalog and not the
models, so that it cannot miss a table."""

from collections.abc import Sequence
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
  AND c.udt_name IN
    ('text', 'varchar', 'json', 'jsonb', 'uuid', '_uuid', '_text', '_varchar', 'bytea')
ORDER BY 1, 2
"""
TABLES_WITH_NAMESPACE = """
SELECT table_name FROM information_schema.columns
WHERE table_schema = current_schema() AND column_name = 'namespace_id'
  AND table_name LIKE 'memories\\_%%'
"""
TYPES_WITHOUT_TEXT = {"uuid", "_uuid", "bytea"}
KEEPS_IDS = {"memories_tombstone", "memories_erasurereceipt"}

# An id can be a column of its own, or part of JSON, of a text, or of a stored answer (bytea).
IS_ID = "SELECT count(*) FROM {table} WHERE {column} = ANY(%(ids)s::uuid[])"
CONTAINS_ID = "SELECT count(*) FROM {table} WHERE {column}::text LIKE ANY(%(patterns)s)"
BYTES_CONTAIN_ID = """
SELECT count(*) FROM {table} WHERE EXISTS (
    SELECT 1 FROM unnest(%(names)s::text[]) id
    WHERE position(convert_to(id, 'UTF8') IN {column}) > 0)
"""
CONTAINS_TEXT = """
SELECT count(*) FROM {table} WHERE namespace_id = ANY(%(namespaces)s) AND (
    {column}::text = ANY(%(texts)s)
    OR EXISTS (
        SELECT 1 FROM unnest(%(quotable)s::text[]) quoted WHERE strpos({column}::text, quoted) > 0))
"""
ID_STATEMENTS = {"uuid": IS_ID, "bytea": BYTES_CONTAIN_ID}
CACHED_TEXTS = "SELECT count(*) FROM retrieval_cachedvector WHERE text_hash = ANY(%(hashes)s)"


def search_leftovers(
    namespaces: list[UUID], ids: list[UUID], texts: Sequence[str], *, texts_in_cache: Sequence[str]
) -> list[str]:
    """Name each column that still holds one of `ids`, in the namespaces one of `texts`, or in the
    vector cache one of `texts_in_cache`."""
    values: dict[str, Any] = {
        "ids": ids,
        "patterns": [f"%{pk}%" for pk in ids],
        "names": [str(pk) for pk in ids],
        "namespaces": namespaces,
        "texts": list(texts),
        "quotable": [text for text in texts if len(text) >= MIN_QUOTE_LENGTH],
        "hashes": [text_hash(text) for text in texts_in_cache],
    }
    with connection.cursor() as cursor:

        def has_match(statement: str, table: str, column: str) -> bool:
            query = sql.SQL(statement).format(
                table=sql.Identifier(table), column=sql.Identifier(column)
            )
            cursor.execute(query, values)
            return bool(cursor.fetchone()[0])

        cursor.execute(TABLES_WITH_NAMESPACE)
        own_tables = {table for (table,) in cursor.fetchall()}
        cursor.execute(COLUMNS)
        places, text_places = [], []
        for table, column, kind in cursor.fetchall():
            if table in KEEPS_IDS:
                continue
            if ids and has_match(ID_STATEMENTS.get(kind, CONTAINS_ID), table, column):
                places.append(f"{table}.{column} holds an id")
            may_hold_text = table in own_tables and kind not in TYPES_WITHOUT_TEXT
            if texts and may_hold_text and has_match(CONTAINS_TEXT, table, column):
                text_places.append(f"{table}.{column} holds a text")
        if texts_in_cache and has_match(CACHED_TEXTS, "retrieval_cachedvector", "vector"):
            text_places.append("retrieval_cachedvector.vector holds the vector of a text")
    return places + text_places
