"""Passage tables for benches and for tests of the retrieval core, without the columns of any
domain.

They are not in INSTALLED_APPS, so `create_tables` creates them instead of a migration.
"""

from typing import Any, ClassVar

from django.db import connection, models

from retrieval.indexing import install_passage_table
from retrieval.models import Passage, SearchConfig


class BenchPassageBase(Passage):
    key = models.CharField(max_length=120, db_index=True)
    tenant = models.CharField(max_length=80, default="", db_index=True)
    visibility = models.CharField(max_length=10, default="public")

    objects: ClassVar[models.Manager[Any]]

    class Meta(Passage.Meta):
        abstract = True
        app_label = "bench"


class BenchPassage(BenchPassageBase):
    """Texts with the weights of rules and lore."""

    search_config = SearchConfig("bench", scope="tenant", context_weight=3)

    class Meta(BenchPassageBase.Meta):
        db_table = "bench_passage"


class BenchTurn(BenchPassageBase):
    """Turns of a dialogue, with the weights of agent memory."""

    search_config = SearchConfig("bench talk", scope="tenant", text_weight=3)

    class Meta(BenchPassageBase.Meta):
        db_table = "bench_turn"


def create_tables() -> None:
    """Create the tables that are missing or have other columns. Vectors are cached elsewhere, so
    nothing is lost."""
    for model in (BenchPassage, BenchTurn):
        if table_columns(model) != {field.column for field in model._meta.concrete_fields}:
            with connection.schema_editor() as editor:
                if table_columns(model):
                    editor.delete_model(model)
                editor.create_model(model)
        install_passage_table(model, connection)


def table_columns(model: type[models.Model]) -> set[str]:
    with connection.cursor() as cursor:
        if model._meta.db_table not in connection.introspection.table_names(cursor):
            return set()
        return {
            column.name
            for column in connection.introspection.get_table_description(
                cursor, model._meta.db_table
            )
        }
