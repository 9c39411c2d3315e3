"""A passage table for measuring and for tests of the retrieval core: all of its machinery, no domain's columns."""

from typing import ClassVar

from django.db import connection, models

from retrieval.domains import Searched
from retrieval.installing import install
from retrieval.models import Passage


class BenchPassage(Passage):
    """Not in INSTALLED_APPS, so no migration makes its table: `create_table` does."""

    searched = Searched("bench", scope="tenant")

    key = models.CharField(max_length=120, db_index=True)
    tenant = models.CharField(max_length=80, default="", db_index=True)
    visibility = models.CharField(max_length=10, default="public")

    objects: ClassVar[models.Manager["BenchPassage"]]

    class Meta(Passage.Meta):
        app_label = "bench"
        db_table = "bench_passage"


def create_table() -> None:
    with connection.schema_editor() as editor:
        editor.create_model(BenchPassage)
    install(BenchPassage, connection)
