"""Django's PostgreSQL backend, with a pool whose connections are looked at before each request, not asked."""

import select
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from queue import Empty, SimpleQueue
from threading import Lock
from time import monotonic
from typing import Any
from weakref import WeakSet, finalize

import psycopg
from django.db.backends.postgresql import base, creation
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap
from psycopg.types.datetime import TimestamptzLoader
from psycopg_pool import ConnectionPool

from retrieval.ahead import SendsAhead

ASK_AGAIN = 30
"""Seconds. A server that ends closes its connections, and that is seen at once; what cuts a line without a word (a
firewall, a machine that is gone) is found by asking, and no connection is asked more often: it costs a wait."""


class QuickUtcLoader(TimestamptzLoader):
    """Reads what PostgreSQL writes in UTC by the standard library's own parser, eight times as fast; the rest (years
    before 1 or after 9999, a session in another time zone) as psycopg does."""

    timezone = UTC  # Django compares it with its own

    def load(self, data: Buffer) -> datetime:
        text = bytes(data)
        if text.endswith(b"+00"):
            try:
                return datetime.fromisoformat(text.decode())
            except ValueError:
                pass
        return super().load(data).astimezone(UTC)


class DatabaseCreation(creation.DatabaseCreation):
    """Drops a test database although a server's thread may still hold a connection to it."""

    def _destroy_test_db(self, test_database_name: str, verbosity: int) -> None:  # noqa: ARG002 - Django's name
        with self.connection._nodb_cursor() as cursor:
            cursor.execute(
                f"DROP DATABASE {self.connection.ops.quote_name(test_database_name)} WITH (FORCE)"
            )


class DatabaseWrapper(SendsAhead, base.DatabaseWrapper):
    creation_class = DatabaseCreation
    _resting: "WeakSet[DatabaseWrapper]" = WeakSet()
    _resting_lock = Lock()
    _giving_back: "finalize[Any, Any] | None" = None
    """What happens to a resting connection whose thread ends: the garbage collector leaves it for the next who wants
    one, for it may run while this thread holds a lock of the pool."""

    @property
    def is_resting(self) -> bool:
        """Whether the connection stays with its thread between two calls."""
        return self._giving_back is not None

    def rest(self) -> None:
        """Call it when a call is over: the connection stays with this thread for the next one, while at most half of
        the pool does so; else it goes back."""
        if self.in_atomic_block or self.connection is None:
            return
        fit = self.pool and not self.errors_occurred and not self.has_sent
        if not fit or not (self.is_resting or self._has_place()):
            self.close_if_unusable_or_obsolete()
        elif not self.is_resting:
            self._giving_back = finalize(self, _left.put, self.connection)
            self._giving_back.atexit = False

    def resume(self) -> None:
        """Call it when a call begins: a connection that is not sure to stand goes back to the pool, which asks it."""
        if self.is_resting and not self.in_atomic_block and not is_sure(self.connection):
            self.close()

    def close(self) -> None:
        if self._giving_back:
            self._giving_back.detach()
            self._giving_back = None
            with self._resting_lock:
                self._resting.discard(self)
        super().close()

    def _has_place(self) -> bool:
        with self._resting_lock:
            others = sum(one.alias == self.alias for one in self._resting if one is not self)
            if others >= self.pool.max_size // 2:
                return False
            self._resting.add(self)
            return True

    def get_connection_params(self) -> dict[str, Any]:
        """With our loader of times, where the site's time zone is UTC."""
        given: dict[str, Any] = super().get_connection_params()
        if self.timezone == UTC:
            given["context"] = _quick(given["context"])
        return given

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Take a connection that stands from the pool; raises `PoolTimeout` when there is none."""
        _give_back_what_was_left()
        while True:
            connection = super().get_new_connection(conn_params)
            if not self.pool or stands(connection):
                return connection
            connection.close()
            self.pool.putconn(connection)  # which makes a new one in its place


_left: "SimpleQueue[psycopg.Connection[Any]]" = SimpleQueue()


def _give_back_what_was_left() -> None:
    """Return the connections of threads that have ended; closed, for nobody knows what they were doing."""
    with suppress(Empty):
        while True:
            connection = _left.get_nowait()
            connection.close()
            connection._pool.putconn(connection)  # type: ignore[union-attr]


@lru_cache
def _quick(context: AdaptersMap) -> AdaptersMap:
    quick = AdaptersMap(context)
    quick.register_loader("timestamptz", QuickUtcLoader)
    return quick


def stands(connection: "psycopg.Connection[Any]") -> bool:
    """Whether an idle connection can still be used."""
    try:
        if not is_sure(connection):
            ConnectionPool.check_connection(connection)
            vars(connection)["asked_at"] = monotonic()
    except psycopg.OperationalError:
        return False
    return True


def is_sure(connection: "psycopg.Connection[Any]") -> bool:
    """Whether an idle connection need not be asked: it was, a moment ago, and is silent."""
    asked_at: float = vars(connection).get("asked_at", -ASK_AGAIN)
    return (
        monotonic() - asked_at < ASK_AGAIN
        and not connection.closed
        and not _has_news(connection.fileno())
    )


def _has_news(descriptor: int) -> bool:
    """The server says nothing on an idle connection but that it is ending, or a notice."""
    if not hasattr(select, "poll"):  # Windows: ask
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
