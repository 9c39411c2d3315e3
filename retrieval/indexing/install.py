"""What a passage table needs beside its columns: functions, trigger, storage and derived indexes.

All of it is derived from the model class, so it is put in place after every `migrate`, for every
passage model, instead of being repeated in each app's migrations (docs/decisions/0010).
"""

from functools import cache
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from retrieval.domains import SearchConfig
from retrieval.indexing.passage_indexes import create_word_indexes
from retrieval.models import Passage

FUNCTIONS = Path(__file__).parent / "sql" / "functions.sql"

TRIGGER = """
CREATE OR REPLACE TRIGGER memory37_passage BEFORE INSERT OR UPDATE ON {table}
FOR EACH ROW EXECUTE FUNCTION memory37_passage({context_times}, {text_times})
"""

STORAGE = """
ALTER TABLE {table} SET (toast_tuple_target = 8160),
  ALTER COLUMN search_vector SET STORAGE MAIN, ALTER COLUMN embedding SET STORAGE MAIN
"""

STORED_INLINE = (
    "SELECT 'toast_tuple_target=8160' = ANY(reloptions) FROM pg_class WHERE oid = %s::regclass"
)


def install_after_migrate(sender: AppConfig, using: str = "default", **_kwargs: Any) -> None:
    """Handle `post_migrate`: the functions with this app, the rest with the app of each table."""
    connection = connections[using]
    if sender.label == "retrieval":
        install_functions(connection)
    tables = connection.introspection.table_names()
    for model in sender.get_models():
        if (
            issubclass(model, Passage)
            and isinstance(getattr(model, "search_config", None), SearchConfig)
            and model._meta.db_table in tables
        ):
            install_passage_table(model, connection)


def install_functions(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        for statement in _statements():
            cursor.execute(statement)


@cache
def _statements() -> list[str]:
    """Cut the file at its `CREATE`s: a prepared statement holds one command."""
    parts = FUNCTIONS.read_text().split("CREATE OR REPLACE FUNCTION")
    return [f"CREATE OR REPLACE FUNCTION{part}" for part in parts[1:]]


def install_passage_table(
    model: type[Passage], connection: BaseDatabaseWrapper, *, with_indexes: bool = True
) -> None:
    """Give the table of `model` its trigger, its storage and its indexes of words; doing it again
    changes nothing."""
    table = model._meta.db_table
    weights = model.search_config
    names = {"table": connection.ops.quote_name(table)}
    times = {
        "context_times": weights.context_weight * weights.text_weight,
        "text_times": weights.text_weight,
    }
    with connection.cursor() as cursor:
        cursor.execute(TRIGGER.format(**names, **times))
        cursor.execute(STORED_INLINE, [table])
        if not cursor.fetchone()[0]:
            cursor.execute(STORAGE.format(**names))
    if with_indexes:
        create_word_indexes(model, connection)
