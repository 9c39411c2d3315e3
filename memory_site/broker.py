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


def conninfo() -> str:
    """The libpq connection string of the default database (its test database while tests run)."""
    parameters = connection.get_connection_params()
    return make_conninfo(
        **{name: parameters[name] for name in CONNECTION_FIELDS if parameters.get(name)}
    )


def celery_defaults() -> dict[str, Any]:
    """Return Celery's configuration beyond the CELERY_* settings. Called when the configuration is
    first read."""
    if settings.CELERY_BROKER_URL:
        return {"broker_url": settings.CELERY_BROKER_URL}
    return {
        # kombu warns of an empty host; the transport uses conn_string alone
        "broker_url": "pgmq://localhost",
        "broker_transport_options": {
            "conn_string": conninfo(),
            "init_extension": False,
            "visibility_timeout": VISIBILITY_SECONDS,
            "wait_time_seconds": 2,
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
