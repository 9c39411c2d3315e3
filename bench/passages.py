"""Passage tables for measuring and for tests of the retrieval core: all of its machinery, no domain's columns.

Not in INSTALLED_APPS, so no migration makes them: `create_tables` does.
"""

from typing import Any, ClassVar

from django.db import connection, models

from retrieval.indexing import install_passage_table
from retrieval.models import Passage, SearchConfig


class Shelved(Passage):
    key = models.CharField(max_length=120, db_index=True)
    tenant = models.CharField(max_length=80, default="", db_index=True)
    visibility = models.CharField(max_length=10, default="public")

    objects: ClassVar[models.Manager[Any]]

    class Meta(Passage.Meta):
        abstract = True
        app_label = "bench"


class BenchPassage(Shelved):
    """Texts that are weighed as rules and lore are."""

    search_config = SearchConfig("bench", scope="tenant", context_weight=3)

    class Meta(Shelved.Meta):
        db_table = "bench_passage"


class BenchTurn(Shelved):
    """Turns of talk, weighed as agent memory is."""

    search_config = SearchConfig("bench talk", scope="tenant", text_weight=3)

    class Meta(Shelved.Meta):
        db_table = "bench_turn"


def create_tables() -> None:
    """Make those tables that are missing or of an older shape; the vectors of their texts are remembered elsewhere."""
    for model in (BenchPassage, BenchTurn):
        if _columns(model) != {field.column for field in model._meta.concrete_fields}:
            with connection.schema_editor() as editor:
                if _columns(model):
                    editor.delete_model(model)
                editor.create_model(model)
        install_passage_table(model, connection)


def _columns(model: type[models.Model]) -> set[str]:
    with connection.cursor() as cursor:
        if model._meta.db_table not in connection.introspection.table_names(cursor):
            return set()
        return {
            column.name
            for column in connection.introspection.get_table_description(
                cursor, model._meta.db_table
            )
        }
