"""Statements sent ahead: they arrive together, are transactions of their own, and leave the connection as it was."""

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import DataError, IntegrityError, OperationalError, connection, transaction
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
    return send(
        ALIAS, ("INSERT INTO sent_ahead VALUES (%(number)s) RETURNING number", {"number": number})
    )


def stored() -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT number FROM sent_ahead ORDER BY number")
        return [number for (number,) in cursor.fetchall()]


def seen_by_another() -> list[int]:
    with psycopg.connect(connection.connection.info.dsn, autocommit=True) as other:
        return [
            number for (number,) in other.execute("SELECT number FROM sent_ahead ORDER BY number")
        ]


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
            ALIAS,
            ("INSERT INTO sent_ahead VALUES (5)", {}),
            ("INSERT INTO sent_ahead VALUES (1) RETURNING 1", {}),
        ).rows()
    assert put(2).rows() == [(2,)]
    assert stored() == [1, 2]


@pytest.mark.parametrize("pause", [0, 0.1])
def test_a_failure_is_told_to_whoever_it_belongs_to(pause: float) -> None:
    before, faulty = put(1), put(1)
    threading.Event().wait(pause)  # so that it has come before the next one is sent
    after = put(2)
    assert after.rows() == [(2,)]
    for _time in range(2):
        with pytest.raises(IntegrityError, match="duplicate key"):
            faulty.rows()
    assert before.rows() == [(1,)]
    assert stored() == [1, 2]


def test_what_waits_for_a_failed_then_is_told_so_too() -> None:
    put(1).rows()
    heard: list[Any] = []
    counted = send(ALIAS, ("INSERT INTO sent_ahead VALUES (1) RETURNING 1", {}), then=heard.append)
    with pytest.raises(IntegrityError):
        put(2).rows()
    with pytest.raises(IntegrityError):
        counted.rows()
    assert not heard


@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_a_statement_that_failed_to_parse_can_be_asked_again(times: int) -> None:
    """psycopg notes a name for a statement before the server has parsed it."""
    shown: Any = ("SELECT %(n)s::int AS n", {"n": 4})
    for _time in range(times - 1):
        send(ALIAS, shown).rows()
    with pytest.raises(DatabaseError, match="division by zero"):
        send(ALIAS, ("SELECT 1 / %(n)s::int", {"n": 0}), shown).rows()
    for _time in range(4):
        assert send(ALIAS, shown).rows() == [(4,)]


def test_a_statement_that_cannot_be_sent_leaves_no_answer_to_wait_for() -> None:
    with pytest.raises((ProgrammingError, DataError)):
        send(
            ALIAS,
            ("INSERT INTO sent_ahead VALUES (9)", {}),
            ("SELECT %(what)s", {"what": object()}),
        )
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
        other.execute(
            "SELECT pg_terminate_backend(%s, 5000)", [connection.connection.info.backend_pid]
        )
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
    first, second = (
        send(ALIAS, ("SELECT %(big)s::text AS big", {"big": big + mark})) for mark in "ab"
    )
    assert first.rows() == [(big + "a",)]
    assert second.rows() == [(big + "b",)]
    assert stored() == []


def test_what_was_sent_over_a_closed_connection_has_no_rows() -> None:
    sent = put(1)
    connection.close()
    with pytest.raises(OperationalError, match="closed"):
        sent.rows()


def test_more_parameters_than_the_protocol_has_are_an_error_and_no_shift_of_answers() -> None:
    many = {f"p{n}": n for n in range(70_000)}
    with pytest.raises(DatabaseError):
        send(ALIAS, ("SELECT " + "+".join(f"%({name})s" for name in many), many)).rows()
    connection.close()
    assert put(1).rows() == [(1,)]


def test_rows_read_in_chunks_go_on_while_others_are_sent() -> None:
    put(1).rows()
    put(2).rows()
    with connection.chunked_cursor() as chunks:
        chunks.execute("SELECT number FROM sent_ahead ORDER BY number")
        assert chunks.fetchmany(1) == [(1,)]
        assert put(3).rows() == [(3,)]
        assert chunks.fetchmany(1) == [(2,)]
    put(4)
    assert in_pipeline()
    assert stored() == [1, 2, 3, 4]


def test_a_cursor_opened_before_can_be_used_after() -> None:
    with connection.cursor() as cursor:
        put(1)
        cursor.execute("INSERT INTO sent_ahead VALUES (2) RETURNING number")
        assert cursor.fetchone() == (2,)
    assert stored() == [1, 2]


def test_who_begins_to_watch_sees_what_comes_then() -> None:
    put(1)
    limit: Any = ("SELECT set_config('statement_timeout', '4321ms', true)", {})
    with CaptureQueriesContext(connection) as watched:
        assert send(ALIAS, limit, ("SELECT 2 AS two", {})).rows() == [(2,)]
    assert len(watched) == 2
    assert stored() == [1]
