"""A passage table of the retrieval core's own, made once for the test database."""

import pytest
from django.db import connection

from bench.passages import BenchPassage, create_table


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: object) -> None:
    with django_db_blocker.unblock():  # type: ignore[attr-defined]
        if BenchPassage._meta.db_table not in connection.introspection.table_names():
            create_table()
