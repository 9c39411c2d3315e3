"""Statements sent ahead: they arrive together, are transactions of their own, and leave the connection as it was."""

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import DataError, connection, transaction
from django.db.utils import DatabaseError, ProgrammingError
from django.test.utils import CaptureQueriesContext

from retrieval.ahead import send

pytestmark = pytest.mark.django_db(transaction=True)

ALIAS = "default"


class Refused(Exception):
    pass


@pytest.fixture(autouse=True)
def table() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS sent_ahead (number int PRIMARY KEY)")
        cursor.execute("TRUNCATE sent_ahead")
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE sent_ahead")


def put(number: Any) -> Any:
    return send(ALIAS, ("INSERT INTO sent_ahead VALUES (%(number)s) RETURNING number", {"number": number}))


def stored() -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT number FROM sent_ahead ORDER BY number")
        return [number for (number,) in cursor.fetchall()]


def seen_by_another() -> list[int]:
    with psycopg.connect(connection.connection.info.dsn, autocommit=True) as other:
        return [number for (number,) in other.execute("SELECT number FROM sent_ahead ORDER BY number")]


def in_pipeline() -> bool:
    return connection.connection.info.pipeline_status != psycopg.pq.PipelineStatus.OFF


def test_rows_come_in_any_order_of_asking() -> None:
    first, second = put(1), put(2)
    assert second.rows() == [(2,)]
    assert first.rows() == [(1,)]
    assert first.rows() == [(1,)]


def test_each_send_is_a_transaction_that_waits_for_nobody() -> None:
    put(1).rows()
    put(2)
    for _try in range(200):
        if seen_by_another() == [1, 2]:
            break
        threading.Event().wait(0.01)
    assert in_pipeline()
    assert seen_by_another() == [1, 2]


def test_a_cursor_waits_for_what_is_under_way_and_leaves_the_pipeline() -> None:
    heard: list[Any] = []
    send(ALIAS, ("SELECT 7 AS seven", {}), then=heard.append)
    put(1)
    assert in_pipeline()
    assert stored() == [1]
    assert not in_pipeline()
    assert heard == [[(7,)]]


def test_a_transaction_waits_for_what_is_under_way() -> None:
    sent = put(1)
    with transaction.atomic():
        assert not in_pipeline()
        put(2)
        transaction.set_rollback(True)
    assert sent.rows() == [(1,)]
    assert stored() == [1]


def test_what_several_statements_set_holds_for_them_alone() -> None:
    limit: Any = ("SELECT set_config('statement_timeout', '4321ms', true)", {})
    shown: Any = ("SELECT current_setting('statement_timeout')", {})
    for _way in ("first", "prepared", "prepared again"):
        assert send(ALIAS, limit, shown).rows() == [("4321ms",)]
        assert send(ALIAS, shown).rows() != [("4321ms",)]
    with transaction.atomic():
        assert send(ALIAS, limit, shown).rows() == [("4321ms",)]


def test_a_failed_batch_changes_nothing_and_the_next_one_works() -> None:
    put(1).rows()
    with pytest.raises(DatabaseError, match="duplicate key"):
        send(
            ALIAS, ("INSERT INTO sent_ahead VALUES (5)", {}), ("INSERT INTO sent_ahead VALUES (1) RETURNING 1", {})
        ).rows()
    assert put(2).rows() == [(2,)]
    assert stored() == [1, 2]


def test_a_failure_is_told_to_whoever_asked_and_asks() -> None:
    before, faulty, after = put(1), put(1), put(2)
    for one in (after, faulty, before):
        with pytest.raises(DatabaseError, match="duplicate key"):
            one.rows()
    assert stored() == [1, 2]


def test_a_statement_that_cannot_be_sent_leaves_no_answer_to_wait_for() -> None:
    with pytest.raises((ProgrammingError, DataError)):
        send(ALIAS, ("SELECT 1", {}), ("SELECT %(what)s", {"what": object()}))
    assert put(1).rows() == [(1,)]
    assert stored() == [1]


def test_a_then_that_refuses_stops_what_comes_after() -> None:
    def refuse(_rows: Any) -> None:
        raise Refused

    counted = send(ALIAS, ("INSERT INTO sent_ahead VALUES (1) RETURNING 1", {}), then=refuse)
    named = send(ALIAS, ("SELECT 2 AS two", {}))
    with pytest.raises(Refused):
        named.rows()
    assert counted.rows() == [(1,)]
    assert stored() == [1]


def test_a_then_is_heard_by_the_next_cursor() -> None:
    def refuse(_rows: Any) -> None:
        raise Refused

    send(ALIAS, ("SELECT 1 AS one", {}), then=refuse)
    with pytest.raises(Refused):
        stored()
    assert stored() == []


def test_within_a_transaction_then_is_heard_when_its_rows_are_asked_for() -> None:
    heard: list[Any] = []
    with transaction.atomic():
        sent = send(ALIAS, ("SELECT 1 AS one", {}), then=heard.append)
        assert send(ALIAS, ("SELECT 2 AS two", {})).rows() == [(2,)]
        assert not heard
        sent.rows()
        sent.rows()
    assert heard == [[(1,)]]


def test_nothing_under_way_is_left_when_the_connection_is_closed() -> None:
    heard: list[Any] = []
    raw = connection.connection
    send(ALIAS, ("SELECT 1 AS one", {}), then=heard.append)
    put(1)
    connection.close()
    assert raw.info.pipeline_status == psycopg.pq.PipelineStatus.OFF
    assert not heard
    assert stored() == [1]


def test_a_lost_connection_is_an_error_not_a_wait() -> None:
    put(1).rows()
    with psycopg.connect(connection.connection.info.dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.connection.info.backend_pid])
    with pytest.raises(DatabaseError):
        put(2).rows()
    connection.close()
    assert stored() == [1]


def test_asking_whether_the_connection_is_usable_leaves_nothing_to_wait_for() -> None:
    put(1)
    assert connection.is_usable()
    assert stored() == [1]
    put(2).rows()
    connection.connection.execute("SELECT 1")  # past Django, into the pipeline
    assert stored() == [1, 2]


def test_who_watches_statements_sees_those_sent_ahead() -> None:
    with CaptureQueriesContext(connection) as watched:
        put(1).rows()
    assert ["INSERT INTO sent_ahead" in query["sql"] for query in watched] == [True]


@pytest.mark.parametrize("megabytes", [1, 20])
def test_what_no_buffer_holds_is_sent_and_answered_whole(megabytes: int) -> None:
    big = "x" * (megabytes << 20)
    first, second = (send(ALIAS, ("SELECT %(big)s::text AS big", {"big": big + mark})) for mark in "ab")
    assert first.rows() == [(big + "a",)]
    assert second.rows() == [(big + "b",)]
    assert stored() == []
