"""Whether a worker runs: each holds an advisory lock on the database for as long as it lives, so no
clock and no broker is asked, and one that was killed is gone at once."""

import logging
import threading
import time

import psycopg
from django.db import connection

from memory_site.broker import conninfo

logger = logging.getLogger(__name__)

KEYS = (37, 1)
"""The two numbers of the lock."""
LOOK_EVERY_SECONDS = 5.0
HELD = """
SELECT EXISTS (
  SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
  WHERE locktype = 'advisory' AND granted AND datname = current_database()
  AND classid = %s AND objid = %s AND objsubid = 2)
"""


def is_worker_running() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(HELD, KEYS)
        return bool(cursor.fetchone()[0])


def announce_worker(**_signal: object) -> None:
    """Hold the lock in a thread until this process ends."""
    threading.Thread(target=_hold_lock, name="worker presence", daemon=True).start()


def _hold_lock() -> None:
    """Connect again when the database was restarted."""
    while True:
        try:
            with psycopg.connect(conninfo(), autocommit=True) as raw:
                raw.execute("SELECT pg_advisory_lock_shared(%s, %s)", KEYS)
                while True:
                    time.sleep(LOOK_EVERY_SECONDS)
                    raw.execute("SELECT 1")
        except psycopg.Error as problem:
            logger.info("worker presence: %s", problem)
            time.sleep(LOOK_EVERY_SECONDS)
