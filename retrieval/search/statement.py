"""The search statement: compiled for a queryset, and executed under a time limit."""

import math
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
from django.db import Error, OperationalError, connections, transaction
from django.utils.translation import gettext as _
from pgvector import HalfVector
from psycopg import sql
from psycopg.errors import QueryCanceled

from retrieval.embedders.base import ScriptComparison
from retrieval.errors import SearchTimeout
from retrieval.models import Passage
from retrieval.presets import Preset
from retrieval.search.compiled_rows import (
    SEARCH_COLUMNS,
    CompiledRows,
    RowEstimate,
    named_parameters,
)

SQL = {path.stem: path.read_text() for path in (Path(__file__).parent / "sql").glob("*.sql")}
MOST_TEXTS = 1_000
"""Statements whose text and column types a process caches."""
JSONB = 3802  # its type's number in every PostgreSQL
HIT_COLUMNS = ("id", "text", "context", "metadata", "payload", "language", "updated_at")
"""The columns of every hit."""

DISTANCE = "passage.embedding <=> %(vector)s::halfvec"
IS_IN_ANOTHER_SCRIPT = (
    "(passage.language = ANY(%(other_scripts)s::text[])) = %(is_question_latin)s::bool"
)
DISTANCE_ACROSS_SCRIPTS = f"""CASE WHEN {IS_IN_ANOTHER_SCRIPT}
  THEN 1 - %(other_scale)s::float8 * (1 - (passage.embedding <=> %(other_vector)s::halfvec))
  ELSE {DISTANCE} END"""
INDEXED = "passage.embedding::halfvec({dims}) <=> %({vector})s::halfvec({dims})"
"""In the form that the vector index serves."""

CANDIDATE = "passage.search_vector @@ (SELECT candidates FROM terms)"
CANDIDATE_OF_FEW = f"({CANDIDATE}) IS TRUE"
"""No index serves this form. The index of words holds all worlds: to read where a common word
stands in each of them takes longer than to look at few rows."""

ROWS_OF_EF_SEARCH = 100_000
"""Up to so many rows of the table, `Preset.ef_search` is enough."""
MOST_EF_GROWTH = 4
MOST_EF_SEARCH = 1_000  # of pgvector

BEST_OF_EACH = "row_number() OVER (PARTITION BY owner ORDER BY score DESC, id)"

LIMITS = """
SELECT set_config('statement_timeout', %(timeout)s, true),
  set_config('hnsw.ef_search', %(ef_search)s, true),
  set_config('hnsw.iterative_scan', 'strict_order', true),
  set_config('synchronize_seqscans', 'off', true),
  set_config('plan_cache_mode', 'force_generic_plan', true)
"""
"""Settings of the search transaction alone. A plan for the given values would take two milliseconds
more and gain nothing: `nearest` decides about the vector index, the rest fits all values. Every
scan begins with the same row, so that equal questions have equal hits."""


@dataclass(frozen=True)
class QueryVector:
    """The vector of the query and the model that computed it."""

    model: str
    dims: int
    vector: HalfVector | None
    across_scripts: ScriptComparison | None = None
    """How the question is compared with passages in another script than its own, if there are
    some and they need it."""

    @property
    def distance(self) -> str:
        """The SQL of the distance to a passage, on one scale for all scripts."""
        return DISTANCE_ACROSS_SCRIPTS if self.across_scripts else DISTANCE

    @property
    def index_scans(self) -> tuple[tuple[str, str], ...]:
        """The order of each scan of the vector index, and a condition. In the order by the
        question's vector alone, passages in other scripts come late."""
        own = (INDEXED.format(dims=int(self.dims), vector="vector"), "")
        if self.across_scripts is None:
            return (own,)
        by_other = INDEXED.format(dims=int(self.dims), vector="other_vector")
        # A Latin question loses the part that other scripts lack, and they come first; a question
        # in one of these has the same vector, which passages like it are nearest to.
        is_latin = self.across_scripts.is_question_latin
        return own, (by_other, "" if is_latin else f" AND {IS_IN_ANOTHER_SCRIPT}")


@dataclass(frozen=True)
class Statement:
    """Search within `rows`. Values are parameters; only names, the model and its width are part of
    the text, because the planner needs them to use the partial vector index."""

    rows: CompiledRows
    vector: QueryVector | None
    fields: tuple[str, ...] = ()
    one_of: str = ""
    """A column of the passage: of each of its values, only the best passage is a hit."""

    def _text(self, *, exact: bool, few: bool) -> str:
        vector = self.vector or QueryVector("", 1, None)
        return build_text(
            self.rows.model,
            self.rows.sql(*SEARCH_COLUMNS)[0],
            self.fields,
            self.one_of,
            vector.model,
            vector.distance,
            ((vector.distance, ""),) if exact else vector.index_scans,
            CANDIDATE_OF_FEW if few else CANDIDATE,
        )

    def run(
        self, parameters: Mapping[str, Any], preset: Preset, estimate: RowEstimate
    ) -> list[dict[str, Any]]:
        """Execute the search within the preset's time limit; return its rows as dictionaries. The
        `estimate` of the rows tells which indexes are worth using."""
        text = self._text(exact=estimate.exact, few=estimate.are_few)
        limits = {
            "timeout": f"{int(preset.timeout * 1000)}ms",
            "ef_search": str(ef_search(preset, estimate.table_rows)),
        }
        try:
            values = {**self.rows.sql(*SEARCH_COLUMNS)[1], **parameters}
            return fetch_dictionaries(
                execute_together(self._db, (LIMITS, limits), (text, values)), text
            )
        except OperationalError as error:
            if not isinstance(error.__cause__, QueryCanceled):
                raise
            raise SearchTimeout(
                _(
                    "The search was stopped after %.0f seconds. Shorten the question or make it "
                    "more specific."
                )
                % preset.timeout
            ) from error

    def words(self, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return each word of the query with its counts and weight."""
        with connections[self._db].cursor() as cursor:
            text = SQL["explain"].format(words=SQL["words"])
            cursor.execute(text, parameters)
            return fetch_dictionaries(cursor, text)

    @property
    def _db(self) -> str:
        return self.rows.queryset.db


def ef_search(preset: Preset, table_rows: float) -> int:
    """Return how many candidates the vector index keeps in a table of so many rows, of all worlds:
    among more vectors a search of equal effort misses more of the nearest (docs/scaling.md)."""
    growth = math.sqrt(max(1.0, table_rows / ROWS_OF_EF_SEARCH))
    return min(int(preset.ef_search * min(growth, MOST_EF_GROWTH)), MOST_EF_SEARCH)


@lru_cache(MOST_TEXTS)
def build_text(
    model: type[Passage],
    rows: str,
    fields: tuple[str, ...],
    one_of: str,
    embedder: str,
    distance: str,
    scans: tuple[tuple[str, str], ...],
    is_candidate: str,
) -> str:
    # A field may be of a related table (`rule__title`).
    hit_columns = dict.fromkeys((*HIT_COLUMNS, *fields))
    embedder_name = sql.Literal(embedder).as_string(None).replace("%", "%%")
    nearest = [
        SQL["nearest"].format(
            rows=rows, model=embedder_name, distance=distance, order=order, condition=condition
        )
        for order, condition in scans
    ]
    return SQL["search"].format(
        words=SQL["words"],
        rows=rows,
        table=sql.Identifier(model._meta.db_table).as_string(None),
        model=embedder_name,
        distance=distance,
        nearest=" UNION ".join(nearest),
        is_candidate=is_candidate,
        owner=sql.Identifier(one_of or "id").as_string(None),
        place=BEST_OF_EACH if one_of else "1",
        shown=named_parameters(model._base_manager.all(), *hit_columns)[0],
    )


_columns_by_text: dict[str, list[tuple[str, bool]]] = {}
"""The name of each column of a statement, and whether it holds JSON."""


def fetch_dictionaries(cursor: Any, text: str) -> list[dict[str, Any]]:
    """Return the rows of `cursor`. Outside the ORM Django leaves JSON as text: decode it here."""
    columns = _columns_by_text.get(text)
    if columns is None:
        # Equal for each execution of `text`, and describing them takes time.
        if len(_columns_by_text) >= MOST_TEXTS:
            _columns_by_text.clear()
        columns = [(column.name, column.type_code == JSONB) for column in cursor.description]
        _columns_by_text[text] = columns
    return [
        {
            name: orjson.loads(value) if is_json and isinstance(value, str) else value
            for (name, is_json), value in pairs
        }
        for pairs in (zip(columns, row, strict=True) for row in cursor.fetchall())
    ]


def execute_together(db: str, *statements: tuple[Any, Mapping[str, Any]]) -> Any:
    """Execute `statements` in one transaction and one round trip, by psycopg's pipeline mode.

    Each is SQL, text or composed, with its named values; `set_config(…, true)` in one applies to
    those after it. Return the cursor of the last one, whose rows have arrived.
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
            # A replica that has gone: the primary answers. Django's own backend has none.
            leave_replica = getattr(link, "leave_replica", None)
            if leave_replica is not None and leave_replica():
                return execute_together(db, *statements)
            link.close()
        raise
    return cursor
