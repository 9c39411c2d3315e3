"""The vector indexes, built by whoever writes enough: a plain script has no worker.

Those of callers' own clients, one for each width, are in no migration: the widths are the callers'.
"""

import json
import logging

from django.db import DatabaseError, connection
from psycopg import sql

from memories.models import ClientVector, MemoryItem, Namespace
from memories.vectors import WIDEST_HALFVEC, indexed_type
from retrieval.indexing import exclusive, index_vectors

logger = logging.getLogger(__name__)

ROWS_WORTH_AN_INDEX = 1_000
"""Client vectors of one width from which they are indexed; memories of a namespace from which the
planner has to know their number."""

COUNT = """
SELECT count(*) FROM (
    SELECT FROM memories_clientvector WHERE vector_dims(vector) = %s LIMIT %s
) AS enough
"""
IS_VALID = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid"
DROP_INVALID = "DROP INDEX CONCURRENTLY IF EXISTS {name}"
# Smaller than the defaults (16 and 64): an add writes ten vectors and reads ten times three to five
# neighbours, and the writes cost most of its time.
CREATE = """
CREATE INDEX CONCURRENTLY {name} ON memories_clientvector
USING hnsw ((vector::{type}({dims})) {operators}) WITH (m = 8, ef_construction = 32)
WHERE vector_dims(vector) = {dims}
"""
# Only the column that tells how many rows a namespace has: statistics of the others would read far
# more. A table that is being indexed is left out, because a writer must not wait for that.
ANALYZE = "ANALYZE (SKIP_LOCKED) {table} (namespace_id)"


def index_if_large(namespace: Namespace) -> str | None:
    """Create the index of the namespace's vectors if there are enough of their kind; return its
    name. Readers and writers are not blocked, and a failure is logged: the index is no data."""
    # CONCURRENTLY is impossible inside a transaction: the next write comes here again.
    if connection.in_atomic_block:
        return None
    try:
        update_row_statistics(namespace)
        if namespace.dims is None:
            return index_vectors(MemoryItem)
        return index_client_vectors(namespace.dims)
    except DatabaseError:
        logger.exception("The vector index of %s was not created", namespace)
        return None


def update_row_statistics(namespace: Namespace) -> None:
    """Update PostgreSQL's statistics if the namespace has twice the rows that the planner expects.
    Until autovacuum comes, the planner takes a new namespace for nearly empty and compares all its
    vectors instead of using the index."""
    rows = namespace.words_counted + namespace.words_uncounted
    if rows < ROWS_WORTH_AN_INDEX:
        return
    model = ClientVector if namespace.has_own_vectors else MemoryItem
    plan = json.loads(model.objects.filter(namespace=namespace).values("pk").explain(format="json"))
    if 2 * plan[0]["Plan"]["Plan Rows"] < rows:
        table = sql.Identifier(model._meta.db_table)
        with connection.cursor() as cursor:
            cursor.execute(sql.SQL(ANALYZE).format(table=table))


def index_client_vectors(dims: int) -> str | None:
    name = f"memory_client_vectors_{dims}"
    if dims > WIDEST_HALFVEC or has_index(name) or not is_worth_an_index(dims):
        return None
    kind = indexed_type(dims)
    parts = {
        "name": sql.Identifier(name),
        "type": sql.SQL(kind),
        "operators": sql.SQL(f"{kind}_cosine_ops"),
        "dims": sql.Literal(dims),
    }
    with exclusive(name) as is_alone, connection.cursor() as cursor:
        if not is_alone:
            return None
        # An interrupted build leaves an invalid index.
        cursor.execute(sql.SQL(DROP_INVALID).format(**parts))
        cursor.execute(sql.SQL(CREATE).format(**parts))
    return name


def has_index(name: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(IS_VALID, [name])
        return cursor.fetchone() is not None


def is_worth_an_index(dims: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [dims, ROWS_WORTH_AN_INDEX])
        return bool(cursor.fetchone()[0] >= ROWS_WORTH_AN_INDEX)
