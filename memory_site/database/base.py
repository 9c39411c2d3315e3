"""Django's PostgreSQL backend with a pool that checks its connections without a query. With
`"EMBEDDED": True` it starts the server of the project, when the first connection needs it."""

import select
from datetime import UTC, datetime
from functools import cache, lru_cache
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.db.backends.postgresql import base, creation
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap
from psycopg.types.datetime import TimestamptzLoader
from psycopg_pool import ConnectionPool

from memory_site.database import replica

Connection = psycopg.Connection[Any]
CHECK_SECONDS = 30
"""A server that stops closes its connections, which a poll of the socket shows. What cuts a line
silently (a firewall, a machine that is gone) shows only by a query, and that costs a round trip: so
it is sent this seldom."""

_checked_at: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()


class QuickUtcLoader(TimestamptzLoader):
    """Reads what PostgreSQL writes in UTC by the standard library's own parser, eight times as
    fast; the rest (years before 1 or after 9999, a session in another time zone) as psycopg does.
    """

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
    def destroy_test_db(self, *args: Any, **kwargs: Any) -> None:
        """End the connections that threads of a test server still hold: else PostgreSQL drops no
        database."""
        with self.connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        super().destroy_test_db(*args, **kwargs)


class DatabaseWrapper(base.DatabaseWrapper):
    creation_class = DatabaseCreation
    is_on_replica = False
    beside: "Connection | None" = None
    """A connection to the primary, while the replica answers."""

    def get_connection_params(self) -> dict[str, Any]:
        """Add the host of the embedded server, and the faster loader of times where the site's time
        zone is UTC. Raises `psycopg.OperationalError` if the embedded server does not start: for
        whoever asks it is a server that is down, and may be up again in a moment."""
        params: dict[str, Any] = super().get_connection_params()
        if self.settings_dict.get("EMBEDDED"):
            try:
                params["host"] = embedded_server().host()
            except (RuntimeError, OSError) as problem:  # such as a full disk
                raise psycopg.OperationalError(str(problem)) from problem
        if self.timezone == UTC:
            params["context"] = with_quick_times(params["context"])
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Take a usable connection from the pool, or from the replica's where that is wanted;
        raises `PoolTimeout` when there is none."""
        self.is_on_replica = False
        if self.alias == DEFAULT_DB_ALIAS and replica.is_replica_wanted():
            other = connections[replica.REPLICA]
            try:
                taken = other.get_new_connection(other.get_connection_params())
            except (OperationalError, psycopg.OperationalError):
                replica.watch.give_up()
            else:
                self.is_on_replica = True
                return taken
        return self.take_from_pool(conn_params)

    def take_from_pool(self, conn_params: dict[str, Any]) -> Any:
        while True:
            connection = super().get_new_connection(conn_params)
            if not self.pool or is_usable(connection):
                return connection
            connection.close()
            self.pool.putconn(connection)  # the pool replaces a closed connection

    def set_autocommit(self, autocommit: bool, *args: Any, **options: Any) -> None:
        """A transaction begins: on the primary."""
        if not autocommit:
            self.leave_replica()
        super().set_autocommit(autocommit, *args, **options)

    def cursor_on_primary(self) -> Any:
        """Return a cursor for one statement of which only the primary knows the answer, while the
        replica answers the others."""
        self.ensure_connection()
        if not self.is_on_replica:
            return self.cursor()
        if self.beside is None:
            self.beside = self.take_from_pool(self.get_connection_params())
        return self.beside.cursor()

    def close(self) -> None:
        super().close()
        if self.beside is not None:
            self.pool.putconn(self.beside)
            self.beside = None

    def leave_replica(self) -> bool:
        """Let the rest of the request go to the primary; return whether it did not yet, and nothing
        is under way."""
        if not self.is_on_replica or self.in_atomic_block or not is_free(self.connection):
            return False
        replica.stop_reading()
        self.close()
        return True


@cache
def embedded_server() -> Any:
    # Imported only where it runs: it needs file locks that Windows does not have.
    from memory_site.embedded.server import EmbeddedServer

    return EmbeddedServer(settings.VAR_DIR / "postgres")


@lru_cache
def with_quick_times(context: AdaptersMap) -> AdaptersMap:
    quick = AdaptersMap(context)
    quick.register_loader("timestamptz", QuickUtcLoader)
    return quick


def is_usable(connection: Connection) -> bool:
    """Whether the server still answers on an idle connection; it is asked only after
    `CHECK_SECONDS` or when bytes wait on the socket, which on an idle connection mean that the
    server is ending (or a notice)."""
    now = monotonic()
    recent = now - _checked_at.get(connection, -CHECK_SECONDS) < CHECK_SECONDS
    if recent and not connection.closed and not has_news(connection.fileno()):
        return True
    try:
        ConnectionPool.check_connection(connection)
    except psycopg.OperationalError:
        return False
    _checked_at[connection] = now
    return True


def is_free(connection: Connection) -> bool:
    """Whether no statements are under way together on `connection`."""
    return bool(connection.pgconn.pipeline_status == psycopg.pq.PipelineStatus.OFF)


def has_news(descriptor: int) -> bool:
    """Whether bytes wait to be read; True where the platform (Windows) cannot tell."""
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
