"""Database objects of passage tables: functions, trigger, storage options and derived indexes.

All of them derive from the model class, so they are installed after every `migrate`, for every
passage model, and not repeated in each app's migrations (docs/decisions/0010).
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from retrieval.domains import SearchConfig
from retrieval.indexing.model_switch import record_serving_model
from retrieval.indexing.passage_indexes import create_word_indexes
from retrieval.models import Passage, ServingModel

SQL = Path(__file__).parent / "sql"
WORDS = SQL / "words.sql"
FUNCTIONS = (WORDS, SQL / "scores_and_caches.sql")

TRIGGER = """
CREATE OR REPLACE TRIGGER memory37_passage BEFORE INSERT OR UPDATE ON {table}
FOR EACH ROW EXECUTE FUNCTION memory37_passage({context_times}, {text_times})
"""

DELETION_TRIGGER = """
CREATE OR REPLACE TRIGGER memory37_forget_vectors AFTER DELETE ON {table}
REFERENCING OLD TABLE AS deleted_passages
FOR EACH STATEMENT EXECUTE FUNCTION memory37_forget_vectors('{domain}')
"""

STORAGE = """
ALTER TABLE {table} SET (toast_tuple_target = 8160),
  ALTER COLUMN search_vector SET STORAGE MAIN, ALTER COLUMN embedding SET STORAGE MAIN
"""

TRIGGER_ON_TABLE = """
SELECT pg_get_triggerdef(oid) FROM pg_trigger
WHERE tgrelid = %s::regclass AND tgname = %s
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
    for model in stored_passage_models(sender, tables):
        install_passage_table(model, connection)
        if ServingModel._meta.db_table in tables:
            record_serving_model(model)


def stored_passage_models(app: AppConfig, tables: Collection[str]) -> Iterator[type[Passage]]:
    """Yield the passage models of `app` whose tables are among `tables`: one is missing while a
    migration of an earlier state runs."""
    for model in app.get_models():
        is_searchable = isinstance(getattr(model, "search_config", None), SearchConfig)
        if is_searchable and issubclass(model, Passage) and model._meta.db_table in tables:
            yield model


def install_functions(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        for file in FUNCTIONS:
            # One by one: a prepared statement may hold only one command.
            for part in file.read_text().split("CREATE OR REPLACE FUNCTION")[1:]:
                cursor.execute(f"CREATE OR REPLACE FUNCTION{part}")


def install_passage_table(
    model: type[Passage], connection: BaseDatabaseWrapper, *, with_indexes: bool = True
) -> None:
    """Install the triggers, storage options and word indexes of the table of `model`. Idempotent.

    What is there is not made again: that would lock out writers, or wait for an index that is being
    built and make all writers wait behind it.
    """
    table, config = model._meta.db_table, model.search_config
    name, text_times = connection.ops.quote_name(table), config.text_weight
    times = {"context_times": config.context_weight * text_times, "text_times": text_times}
    with connection.cursor() as cursor:
        definition = trigger_on(cursor, table, "memory37_passage")
        if not definition.endswith("('{context_times}', '{text_times}')".format(**times)):
            cursor.execute(TRIGGER.format(table=name, **times))
        if not trigger_on(cursor, table, "memory37_forget_vectors"):
            cursor.execute(DELETION_TRIGGER.format(table=name, domain=config.domain))
        cursor.execute(STORED_INLINE, [table])
        if not cursor.fetchone()[0]:
            cursor.execute(STORAGE.format(table=name))
    if with_indexes:
        create_word_indexes(model, connection)


def trigger_on(cursor: CursorWrapper, table: str, name: str) -> str:
    """Return the definition of a trigger, empty if the table has none of that name."""
    cursor.execute(TRIGGER_ON_TABLE, [table, name])
    return "".join(text for (text,) in cursor.fetchall())
