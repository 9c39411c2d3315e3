"""Statements executed in one round trip are one transaction, inside and outside the caller's
own."""

from contextlib import nullcontext
from typing import Any

import pytest
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    IntegrityError,
    OperationalError,
    connection,
    transaction,
)

from retrieval.search import execute_together

pytestmark = pytest.mark.django_db(transaction=True)
LIMIT: Any = ("SELECT set_config('statement_timeout', '4321ms', true)", {})
SHOW: Any = ("SELECT current_setting('statement_timeout')", {})


def run(statement: str) -> Any:
    """Run it on the thread's present connection: a failed batch outside a transaction closes it."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone() if cursor.description else None


@pytest.fixture
def table() -> Any:
    run("CREATE TABLE together (number int PRIMARY KEY)")
    yield
    run("DROP TABLE together")


def fetch_last(*statements: Any) -> Any:
    return execute_together(DEFAULT_DB_ALIAS, *statements).fetchall()


def test_a_setting_holds_for_the_statements_after_it_and_no_longer() -> None:
    for _time in ("first", "prepared", "prepared again"):
        assert fetch_last(LIMIT, SHOW) == [("4321ms",)]
        assert fetch_last(SHOW) != [("4321ms",)]
    with transaction.atomic():
        assert fetch_last(LIMIT, SHOW) == [("4321ms",)]


@pytest.mark.parametrize("block", [nullcontext, transaction.atomic])
@pytest.mark.usefixtures("table")
def test_a_failed_statement_undoes_those_before_it(block: Any) -> None:
    one = ("INSERT INTO together VALUES (1)", {})
    with block():
        with pytest.raises(IntegrityError, match="duplicate key"):
            execute_together(DEFAULT_DB_ALIAS, one, one)
        assert run("SELECT count(*) FROM together") == (0,)


@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_after_a_failure_the_same_statement_can_be_prepared_again(times: int) -> None:
    connection.close()  # a connection that has not prepared the statement for another test
    number: Any = ("SELECT %(n)s::int AS n", {"n": 4})
    for _time in range(times - 1):
        fetch_last(number)
    with pytest.raises(DatabaseError, match="division by zero"):
        fetch_last(("SELECT 1 / %(n)s::int", {"n": 0}), number)
    for _time in range(4):
        assert fetch_last(number) == [(4,)]


@pytest.mark.parametrize("block", [nullcontext, transaction.atomic])
def test_a_cancelled_statement_leaves_a_usable_connection(block: Any) -> None:
    limit: Any = ("SELECT set_config('statement_timeout', '50ms', true)", {})
    with block():
        with pytest.raises(OperationalError, match="statement timeout"):
            fetch_last(limit, ("SELECT pg_sleep(5)", {}))
        assert fetch_last(("SELECT 1", {})) == [(1,)]
