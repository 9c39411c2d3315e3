"""Connections from the pool: looked at before each request, and replaced when the server ended them."""

import gc
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, cast
from weakref import WeakSet

import psycopg
import pytest
from django.db import (
    DEFAULT_DB_ALIAS,
    DataError,
    close_old_connections,
    connection,
    connections,
    transaction,
)
from django.test.utils import CaptureQueriesContext
from pgvector import HalfVector

from memory_site.database import base
from memory_site.database.base import DatabaseWrapper, stands
from retrieval.ahead import send

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


def test_an_idle_connection_is_asked_once_and_then_looked_at(
    idle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    check = base.ConnectionPool.check_connection
    monkeypatch.setattr(
        base.ConnectionPool, "check_connection", lambda one: asked.append(one) or check(one)
    )
    assert stands(idle)
    assert stands(idle)
    assert asked == [idle]
    monkeypatch.setattr(base, "ASK_AGAIN", 0)
    assert stands(idle)
    assert asked == [idle, idle]


def test_what_the_server_ended_does_not_stand_though_it_was_asked_a_moment_ago(idle: Any) -> None:
    assert stands(idle)
    end(idle.info.backend_pid)
    assert not stands(idle)


def test_what_we_closed_ourselves_does_not_stand(idle: Any) -> None:
    assert stands(idle)
    idle.close()
    assert not stands(idle)


def ours() -> DatabaseWrapper:
    return cast(DatabaseWrapper, connections[DEFAULT_DB_ALIAS])


@pytest.fixture
def resting() -> Iterator[DatabaseWrapper]:
    """This thread's connection, kept after a call."""
    backend()
    ours().rest()
    assert ours().is_resting
    yield ours()
    connection.close()


def test_a_connection_stays_with_its_thread_from_call_to_call(resting: DatabaseWrapper) -> None:
    raw = resting.connection
    resting.resume()
    send(DEFAULT_DB_ALIAS, ("SELECT 1 AS one", {})).rows()
    resting.rest()
    assert resting.connection is raw


def test_a_request_of_django_gives_it_back(resting: DatabaseWrapper) -> None:
    close_old_connections()
    assert resting.connection is None
    assert not resting.is_resting


def test_what_the_server_ended_meanwhile_is_replaced_before_the_next_call(
    resting: DatabaseWrapper,
) -> None:
    send(DEFAULT_DB_ALIAS, ("SELECT 1 AS one", {})).rows()
    with psycopg.connect(resting.connection.info.dsn, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(%s, 5000)", [resting.connection.info.backend_pid]
        )
    resting.resume()
    assert send(DEFAULT_DB_ALIAS, ("SELECT 1 AS one", {})).rows() == [(1,)]


def test_what_was_not_asked_for_a_while_goes_back_to_the_pool(
    resting: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "ASK_AGAIN", 0)
    resting.resume()
    assert resting.connection is None


@pytest.mark.parametrize("trouble", ["under way", "error"])
def test_nothing_of_a_call_is_left_to_the_next(resting: DatabaseWrapper, trouble: str) -> None:
    if trouble == "under way":
        send(DEFAULT_DB_ALIAS, ("SELECT 1 AS one", {}))
    else:
        resting.errors_occurred = True
    resting.rest()
    assert resting.connection is None
    assert not resting.is_resting


def test_within_a_transaction_it_stays_whatever_happens() -> None:
    with transaction.atomic():
        raw = ours().connection
        ours().rest()
        assert not ours().is_resting
        assert ours().connection is raw


@pytest.fixture
def nobody_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads of a server that another test started may keep connections; they are not counted."""
    monkeypatch.setattr(DatabaseWrapper, "_resting", WeakSet())


@pytest.mark.usefixtures("nobody_rests")
def test_a_thread_that_ends_gives_its_connection_back() -> None:
    def call() -> int:
        pid = backend()
        send(DEFAULT_DB_ALIAS, ("SELECT 1 AS one", {})).rows()
        ours().rest()
        assert ours().is_resting
        return pid

    pool = ours().pool
    for _thread in range(
        2 * pool.max_size
    ):  # each would wait for a connection in vain, were they lost
        with ThreadPoolExecutor(1) as threads:
            threads.submit(call).result()
        gc.collect()
    assert not list(DatabaseWrapper._resting)


@pytest.mark.usefixtures("nobody_rests")
def test_at_most_half_of_the_pool_rests() -> None:
    most = ours().pool.max_size // 2

    def call(_number: int) -> bool:
        backend()
        ours().rest()
        barrier.wait(30)
        kept = ours().is_resting
        ours().close()
        return kept

    barrier = threading.Barrier(most + 2)
    with ThreadPoolExecutor(most + 2) as threads:
        assert sum(threads.map(call, range(most + 2))) == most
    with ThreadPoolExecutor(1) as threads:
        barrier = threading.Barrier(1)
        assert threads.submit(call, 0).result()


@pytest.mark.usefixtures("nobody_rests")
def test_the_only_connection_of_a_pool_never_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    backend()
    monkeypatch.setattr(ours().pool, "_max_size", 1)
    ours().rest()
    assert not ours().is_resting
    assert ours().connection is None


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
