"""The derived indexes of passage tables. They are not in migrations, because the embedding model
may change on a live system."""

import hashlib

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql

from retrieval.indexing.locks import exclusive
from retrieval.models import Passage

ROWS_WORTH_A_VECTOR_INDEX = 5_000
"""Below it, comparing every vector takes under 20 ms and has full recall."""

# Without fastupdate: a pending list would slow down the searches after a large write.
WORDS = (
    "CREATE INDEX IF NOT EXISTS {name} ON {table} USING gin (search_vector) WITH (fastupdate = off)"
)
METADATA = "CREATE INDEX IF NOT EXISTS {name} ON {table} USING gin (metadata jsonb_path_ops)"
STALE = "CREATE INDEX IF NOT EXISTS {name} ON {table} (embed_after) WHERE embedded_rev < rev"
CHANGED = "CREATE INDEX IF NOT EXISTS {name} ON {table} (updated_at)"
VECTORS = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {table}
USING hnsw ((embedding::halfvec({dims})) halfvec_cosine_ops) WHERE embedding_model = {embedder}
"""
WORD_INDEXES = {"words": WORDS, "metadata": METADATA, "stale": STALE, "changed": CHANGED}
VECTOR_INDEXES = """
SELECT indexrelid::regclass::text FROM pg_index
WHERE indrelid = %s::regclass AND indexrelid::regclass::text LIKE %s
"""


def create_word_indexes(model: type[Passage], connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        for suffix, statement in WORD_INDEXES.items():
            # IF NOT EXISTS locks out writers before it looks.
            cursor.execute("SELECT to_regclass(%s) IS NULL", [f'"{_name(model, suffix)}"'])
            if cursor.fetchone()[0]:
                cursor.execute(_compose(statement, model, suffix))


def drop_word_indexes(model: type[Passage], connection: BaseDatabaseWrapper) -> None:
    """Drop the word indexes before a large load: indexing the full table is four times faster."""
    with connection.cursor() as cursor:
        for suffix in WORD_INDEXES:
            cursor.execute(f'DROP INDEX IF EXISTS "{_name(model, suffix)}"')


def create_vector_index(
    model: type[Passage], *, embedder: str, dims: int, using: str = "default"
) -> str | None:
    """Create the index of the vectors of `embedder` without blocking readers and writers; call it
    outside a transaction. Return the name of the index, or None while another process builds it."""
    name = vector_index_name(model, embedder)
    literals = {"dims": sql.Literal(dims), "embedder": sql.Literal(embedder)}
    statement = _compose(VECTORS, model, _suffix(embedder), **literals)
    with exclusive(name, using=using) as is_alone, connections[using].cursor() as cursor:
        # To drop what another process is building would wait for it, and hold up every reader.
        if not is_alone:
            return None
        # An interrupted build leaves an invalid index, which IF NOT EXISTS would take for ours.
        if not has_vector_index(model, embedder, using):
            cursor.execute(_drop(name))
        cursor.execute(statement)
    return name


def drop_vector_indexes(
    model: type[Passage], *, keep: str = "", using: str = "default"
) -> list[str]:
    """Drop the vector indexes of `model`, except that of the embedder `keep`."""
    kept_name = vector_index_name(model, keep) if keep else ""
    with connections[using].cursor() as cursor:
        cursor.execute(VECTOR_INDEXES, [model._meta.db_table, f"%{model._meta.db_table}_vectors_%"])
        names = [text.strip('"') for (text,) in cursor.fetchall()]
        dropped_names = [name for name in names if name != kept_name]
        for name in dropped_names:
            cursor.execute(_drop(name))
    return dropped_names


def _drop(name: str) -> sql.Composed:
    # Concurrently: else a long search makes this wait, and every later search waits behind it.
    return sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name))


def has_vector_index(model: type[Passage], embedder: str, using: str = "default") -> bool:
    statement = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid"
    with connections[using].cursor() as cursor:
        cursor.execute(statement, [vector_index_name(model, embedder)])
        return cursor.fetchone() is not None


def word_index_names(model: type[Passage]) -> list[str]:
    return [_name(model, suffix) for suffix in WORD_INDEXES]


def vector_index_name(model: type[Passage], embedder: str) -> str:
    return _name(model, _suffix(embedder))


def _suffix(embedder: str) -> str:
    return f"vectors_{hashlib.sha256(embedder.encode()).hexdigest()[:8]}"


def _name(model: type[Passage], suffix: str) -> str:
    # PostgreSQL cuts names after 63 bytes; the end tells them apart.
    return f"{model._meta.db_table}_{suffix}"[-63:]


def _compose(
    statement: str, model: type[Passage], suffix: str, **literals: sql.Literal
) -> sql.Composed:
    table, name = sql.Identifier(model._meta.db_table), sql.Identifier(_name(model, suffix))
    return sql.SQL(statement).format(table=table, name=name, **literals)
