"""Django's PostgreSQL backend, with a pool whose connections are looked at before each request, not asked."""

import select
from time import monotonic
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg_pool import ConnectionPool

ASK_AGAIN = 30
"""Seconds. A server that ends closes its connections, and that is seen at once; what cuts a line without a word (a
firewall, a machine that is gone) is found by asking, and no connection is asked more often: it costs a wait."""


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Take a connection that stands from the pool; raises `PoolTimeout` when there is none."""
        while True:
            connection = super().get_new_connection(conn_params)
            if not self.pool or stands(connection):
                return connection
            connection.close()
            self.pool.putconn(connection)  # which makes a new one in its place


def stands(connection: "psycopg.Connection[Any]") -> bool:
    """Whether an idle connection can still be used."""
    now = monotonic()
    try:
        if now - vars(connection).get("asked_at", -ASK_AGAIN) >= ASK_AGAIN or _has_news(connection.fileno()):
            ConnectionPool.check_connection(connection)
            vars(connection)["asked_at"] = now
    except psycopg.OperationalError:
        return False
    return True


def _has_news(descriptor: int) -> bool:
    """The server says nothing on an idle connection but that it is ending, or a notice."""
    if not hasattr(select, "poll"):  # Windows: ask
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
