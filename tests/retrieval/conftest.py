"""Passage tables of the retrieval core's own, made once for the test database."""

import pytest

from bench.passages import create_tables


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: object) -> None:
    with django_db_blocker.unblock():  # type: ignore[attr-defined]
        create_tables()
