"""Passage tables of the retrieval core's own, made once for the test database."""

import pytest
from django.db import connection

from bench.passages import create_tables


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: object) -> None:
    # pytest-django makes no test database for a selection of tests that need none.
    if connection.settings_dict["NAME"].startswith("test_"):
        with django_db_blocker.unblock():  # type: ignore[attr-defined]
            create_tables()
