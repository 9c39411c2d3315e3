"""The search statement: compiled for a queryset, and executed under a time limit."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import orjson
from django.db import Error, OperationalError, connections, transaction
from django.utils.translation import gettext as _
from pgvector import HalfVector
from psycopg import sql
from psycopg.errors import QueryCanceled

from retrieval.errors import SearchTimeout
from retrieval.models import Passage
from retrieval.presets import Preset
from retrieval.search.compiled_rows import SEARCH_COLUMNS, CompiledRows, named_parameters

MOST_TEXTS = 1_000
"""Statements whose text and columns a process keeps."""
JSONB = 3802  # its type's number in every PostgreSQL
HIT_COLUMNS = ("id", "text", "context", "metadata", "payload", "language", "updated_at")
"""The columns that a hit brings, whatever it is asked for."""

EXACT = "passage.embedding <=> %(vector)s::halfvec"
INDEXED = "passage.embedding::halfvec({dims}) <=> %(vector)s::halfvec({dims})"

BEST_OF_EACH = "row_number() OVER (PARTITION BY owner ORDER BY score DESC, id)"

LIMITS = """
SELECT set_config('statement_timeout', %(timeout)s, true),
  set_config('hnsw.ef_search', %(ef_search)s, true),
  set_config('hnsw.iterative_scan', 'strict_order', true),
  set_config('plan_cache_mode', 'force_generic_plan', true)
"""
"""What holds for the search alone. Planning such a statement anew takes two milliseconds and
changes nothing: whether the vector index is used is decided here, and the rest does not hang on the
values."""


@dataclass(frozen=True)
class QueryVector:
    """What the embedder made of the question."""

    model: str
    dims: int
    vector: HalfVector


@dataclass(frozen=True)
class Statement:
    """Search within `rows`. Values are parameters; only names, the model and its width stand in the
    text, because the planner must see those to use the partial vector index."""

    rows: CompiledRows
    vector: QueryVector | None
    fields: tuple[str, ...] = ()
    one_of: str = ""
    """A column of the passage: of each of its values, only the best passage is a hit."""

    def text(self, *, exact: bool) -> str:
        model, dims = (self.vector.model, self.vector.dims) if self.vector else ("", 1)
        nearest = EXACT if exact else INDEXED.format(dims=int(dims))
        return build_text(
            self.rows.model,
            self.rows.sql(*SEARCH_COLUMNS)[0],
            self.fields,
            self.one_of,
            model,
            nearest,
        )

    def run(self, text: str, parameters: Mapping[str, Any], preset: Preset) -> list[dict[str, Any]]:
        """Return the rows found, as dictionaries."""
        limits = {"timeout": f"{int(preset.timeout * 1000)}ms", "ef_search": str(preset.ef_search)}
        try:
            values = {**self.rows.sql(*SEARCH_COLUMNS)[1], **parameters}
            return fetch_dictionaries(
                execute_together(self._db, (LIMITS, limits), (text, values)), text
            )
        except OperationalError as error:
            if not isinstance(error.__cause__, QueryCanceled):
                raise
            raise SearchTimeout(
                _("The search was stopped after %.0f seconds: ask a shorter question or narrow it.")
                % preset.timeout
            ) from error

    def words(self, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return what each word of the question was worth."""
        with connections[self._db].cursor() as cursor:
            text = read_sql("explain").format(words=read_sql("words"))
            cursor.execute(text, parameters)
            return fetch_dictionaries(cursor, text)

    @property
    def _db(self) -> str:
        return self.rows.queryset.db


@lru_cache(MOST_TEXTS)
def build_text(
    model: type[Passage],
    rows: str,
    fields: tuple[str, ...],
    one_of: str,
    embedder: str,
    nearest: str,
) -> str:
    return read_sql("search").format(
        words=read_sql("words"),
        rows=rows,
        table=sql.Identifier(model._meta.db_table).as_string(None),
        model=sql.Literal(embedder).as_string(None).replace("%", "%%"),
        nearest=nearest,
        owner=sql.Identifier(one_of or "id").as_string(None),
        place=BEST_OF_EACH if one_of else "1",
        shown=hit_columns_sql(model, fields),
    )


@cache
def hit_columns_sql(model: type[Passage], fields: tuple[str, ...]) -> str:
    """The rows to show: what a hit brings, and `fields`, which may lead to other tables
    (`rule__title`)."""
    names = dict.fromkeys((*HIT_COLUMNS, *fields))
    return named_parameters(model._base_manager.all(), *names)[0]


def fetch_dictionaries(cursor: Any, text: str) -> list[dict[str, Any]]:
    """What `text` answered. Django leaves JSON as text outside the ORM: it is decoded here."""
    columns = column_types(text, cursor)
    return [
        {
            name: orjson.loads(value) if is_json and isinstance(value, str) else value
            for (name, is_json), value in pairs
        }
        for pairs in (zip(columns, row, strict=True) for row in cursor.fetchall())
    ]


_columns_by_text: dict[str, list[tuple[str, bool]]] = {}


def column_types(text: str, cursor: Any) -> list[tuple[str, bool]]:
    """The names of the columns that `text` answers, and which hold JSON: the same each time, so
    described once."""
    columns = _columns_by_text.get(text)
    if columns is None:
        if len(_columns_by_text) >= MOST_TEXTS:
            _columns_by_text.clear()
        columns = _columns_by_text[text] = [
            (column.name, column.type_code == JSONB) for column in cursor.description
        ]
    return columns


@cache
def read_sql(name: str) -> str:
    """Return one of the statements in `retrieval/sql/`."""
    return (Path(__file__).parent / "sql" / f"{name}.sql").read_text()


def execute_together(db: str, *statements: tuple[Any, Mapping[str, Any]]) -> Any:
    """Execute `statements` in one transaction and one round trip, by psycopg's pipeline mode.

    Each is SQL (text or what psycopg composes) with its named values. Return the last one's cursor,
    whose rows have arrived.

    What `set_config(…, true)` sets in one statement holds for those after it.
    """
    link = connections[db]
    link.ensure_connection()
    # Within the caller's transaction a savepoint: a statement that is cancelled must not end that
    # transaction.
    savepoint = transaction.atomic(db) if link.in_atomic_block else nullcontext()
    try:
        with savepoint, link.wrap_database_errors, link.connection.pipeline():
            for text, values in statements:
                cursor = link.cursor()
                cursor.execute(text, values)
    except Error:
        # psycopg (3.3) goes on to use the name of a statement whose preparation was skipped because
        # one before it had failed. A rollback makes it forget the names; without a transaction to
        # roll back the connection is not used again.
        if not link.in_atomic_block and link.connection:
            link.connection.close()
            link.close()
        raise
    return cursor
