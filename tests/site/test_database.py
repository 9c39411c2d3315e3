"""Connections from the pool: looked at before each request, and replaced when the server ended them."""

from typing import Any

import psycopg
import pytest
from django.db import connection

from memory_site.database import base
from memory_site.database.base import stands

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


def test_an_idle_connection_is_asked_once_and_then_looked_at(idle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    check = base.ConnectionPool.check_connection
    monkeypatch.setattr(base.ConnectionPool, "check_connection", lambda one: asked.append(one) or check(one))
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
