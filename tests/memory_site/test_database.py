"""Connections from the pool: checked before each request, and replaced when the server ended
them.
"""

from datetime import UTC, datetime
from errno import ENOSPC
from typing import Any

import psycopg
import pytest
from django.db import DataError, connection
from django.test.utils import CaptureQueriesContext
from pgvector import HalfVector

from memory_site.broker import conninfo
from memory_site.database import base
from memory_site.database.base import is_usable

pytestmark = pytest.mark.django_db(transaction=True)


def backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def end(pid: int) -> None:
    connection.ensure_connection()
    with psycopg.connect(connection.connection.info.dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


@pytest.fixture
def idle() -> Any:
    """A connection of its own, as it lies in the pool."""
    connection.ensure_connection()
    with psycopg.connect(connection.connection.info.dsn, autocommit=True) as own:
        yield own


def test_a_connection_that_the_server_ended_is_replaced() -> None:
    first = backend()
    raw = connection.connection
    connection.close()
    with psycopg.connect(raw.info.dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [first])
    assert backend() != first


def test_an_idle_connection_is_queried_once_and_then_polled(
    idle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    queried: list[Any] = []
    check = base.ConnectionPool.check_connection
    monkeypatch.setattr(
        base.ConnectionPool, "check_connection", lambda one: queried.append(one) or check(one)
    )
    assert is_usable(idle)
    assert is_usable(idle)
    assert queried == [idle]
    monkeypatch.setattr(base, "CHECK_SECONDS", 0)
    assert is_usable(idle)
    assert queried == [idle, idle]


def test_a_connection_that_the_server_ended_is_unusable_although_it_was_queried_a_moment_ago(
    idle: Any,
) -> None:
    assert is_usable(idle)
    end(idle.info.backend_pid)
    assert not is_usable(idle)


def test_a_closed_connection_is_unusable(idle: Any) -> None:
    assert is_usable(idle)
    idle.close()
    assert not is_usable(idle)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-11-22 08:29:02.123456+00", datetime(2026, 11, 22, 8, 29, 2, 123456, UTC)),
        ("2026-11-22 08:29:02.5+00", datetime(2026, 11, 22, 8, 29, 2, 500000, UTC)),
        ("0877-01-02 03:04:05+00", datetime(877, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("9999-12-31 23:59:59.999999+00", datetime(9999, 12, 31, 23, 59, 59, 999999, UTC)),
    ],
)
def test_times_are_read_as_they_were_written(written: str, meant: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz", [written])
        assert cursor.fetchone() == (meant,)
        cursor.execute("SET TIME ZONE 'Asia/Seoul'")
        try:
            cursor.execute("SELECT '2026-11-22 17:29:02+09'::timestamptz")
            assert cursor.fetchone()[0] == datetime(2026, 11, 22, 8, 29, 2, tzinfo=UTC)
        finally:
            cursor.execute("SET TIME ZONE 'UTC'")


def test_a_time_that_python_has_none_for_is_refused() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT '0044-03-15 12:00 BC'::timestamptz")
        with pytest.raises(DataError, match="before year 1"):
            cursor.fetchone()


def test_a_vector_can_be_written_into_the_log_of_statements() -> None:
    """As with DEBUG on."""
    with CaptureQueriesContext(connection) as watched, connection.cursor() as cursor:
        cursor.execute("SELECT %s::halfvec(2) <=> '[1,0]'", [HalfVector([1, 0])])
        assert cursor.fetchone() == (0.0,)
    assert "[1.0,0.0]" in watched[0]["sql"]


def test_an_embedded_server_that_does_not_start_is_a_database_that_is_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class FullDisk:
        def host(self) -> str:
            raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(base, "embedded_server", FullDisk)
    monkeypatch.setitem(connection.settings_dict, "EMBEDDED", True)
    with pytest.raises(psycopg.OperationalError, match="No space left"):
        conninfo()
