"""The message broker: pgmq on the site's own PostgreSQL, unless CELERY_BROKER_URL names another.

A message is only a hint that there is work (the work itself is a row), so a lost message loses
nothing.
"""

from typing import Any

import psycopg
from django.conf import settings
from django.db import connection
from pgmq.install import install_pgmq_from_sql
from psycopg.conninfo import make_conninfo

CONNECTION_FIELDS = ("host", "port", "user", "password", "dbname")
# Acknowledged late and redelivered when the worker dies: longer than any task takes, short enough
# to wait for.
VISIBILITY_SECONDS = 15 * 60


# Of a broker that accepts a connection and then says nothing.
ANSWER_SECONDS, CONNECT_SECONDS = 5, 2
REDIS_OPTIONS = {
    "visibility_timeout": VISIBILITY_SECONDS,
    "socket_timeout": ANSWER_SECONDS,
    "socket_connect_timeout": CONNECT_SECONDS,
    "socket_keepalive": True,
}
AMQP_OPTIONS = {
    "read_timeout": ANSWER_SECONDS,
    "write_timeout": ANSWER_SECONDS,
    "confirm_publish": True,  # else a message to a server that hangs counts as sent
}
SERVER_OPTIONS: dict[str, dict[str, Any]] = {
    "redis": REDIS_OPTIONS,
    "rediss": REDIS_OPTIONS,
    "amqp": AMQP_OPTIONS,
    "amqps": AMQP_OPTIONS,
}
"""Options of the transport by the scheme of CELERY_BROKER_URL: the brokers that are tested."""


def broker_scheme() -> str:
    address: str = settings.CELERY_BROKER_URL
    return address.partition("://")[0].lower()


def conninfo() -> str:
    """The libpq connection string of the default database (its test database while tests run)."""
    parameters = connection.get_connection_params()
    return make_conninfo(
        **{name: parameters[name] for name in CONNECTION_FIELDS if parameters.get(name)}
    )


def probe_database() -> None:
    """Raise `psycopg.OperationalError`, with the server's own reason, if the database does not let
    us in. Past the pool, which waits ten seconds and then says nothing but that."""
    with psycopg.connect(conninfo(), connect_timeout=CONNECT_SECONDS, autocommit=True) as raw:
        raw.execute("SELECT 1")


def celery_defaults() -> dict[str, Any]:
    """Return Celery's configuration beyond the CELERY_* settings. Called when the configuration is
    first read."""
    if settings.CELERY_BROKER_URL:
        options = SERVER_OPTIONS.get(broker_scheme(), {})
        return {"broker_url": settings.CELERY_BROKER_URL, "broker_transport_options": options}
    return {
        # kombu warns of an empty host; the transport uses conn_string alone
        "broker_url": "pgmq://localhost",
        "broker_transport_options": {
            "conn_string": conninfo(),
            "init_extension": False,
            "visibility_timeout": VISIBILITY_SECONDS,
            "wait_time_seconds": 1,  # a worker that shall end waits for it
            "poll_interval_ms": 100,
            "polling_interval": 0.1,
            "pool_size": 4,
            "pool_timeout": 5,
        },
    }


def install_queues(**_signal: Any) -> None:
    """Create pgmq's schema in the database when it is our broker and is not there yet."""
    if settings.CELERY_BROKER_URL:
        return
    with psycopg.connect(conninfo()) as raw:
        raw.execute("SELECT pg_advisory_xact_lock(hashtext('memory37.broker'))")
        row = raw.execute("SELECT to_regclass('pgmq.meta')").fetchone()
        if not row or row[0] is None:
            install_pgmq_from_sql(conn=raw)
