"""Whether worker and scheduler run: each holds an advisory lock on the database for as long as it
lives, so no clock and no broker is asked, and one that was killed is gone at once.

Workers share their lock. The scheduler (`beat`) holds its own alone, so of several, on any number
of machines, one sends tasks and the others wait for its end.
"""

import logging
import os
import signal
import threading
import time
from typing import Any

import psycopg
from django.db import connection

from memory_site.broker import conninfo

logger = logging.getLogger(__name__)

WORKER_KEYS, BEAT_KEYS = (37, 1), (37, 2)
"""The two numbers of each lock."""
LOOK_EVERY_SECONDS = 5.0
HELD = """
SELECT EXISTS (
  SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
  WHERE locktype = 'advisory' AND granted AND datname = current_database()
  AND classid = %s AND objid = %s AND objsubid = 2)
"""


def is_worker_running() -> bool:
    return is_held(WORKER_KEYS)


def is_beat_running() -> bool:
    return is_held(BEAT_KEYS)


def is_held(keys: tuple[int, int]) -> bool:
    # Locks are not copied to a replica.
    link: Any = connection
    with link.cursor_on_primary() as cursor:
        cursor.execute(HELD, keys)
        return bool(cursor.fetchone()[0])


def announce_worker(**_signal: object) -> None:
    """Hold the lock in a thread until this process ends."""
    threading.Thread(target=_hold_worker_lock, name="worker presence", daemon=True).start()


def _hold_worker_lock() -> None:
    """Connect again when the database was restarted."""
    while True:
        try:
            with psycopg.connect(conninfo(), autocommit=True) as raw:
                raw.execute("SELECT pg_advisory_lock_shared(%s, %s)", WORKER_KEYS)
                keep_connection(raw)
        except psycopg.Error as problem:
            logger.info("worker presence: %s", problem)
            time.sleep(LOOK_EVERY_SECONDS)


def hold_beat_lock() -> None:
    """Wait until no other scheduler runs, then hold the lock until this process ends."""
    raw = lock_when_free()
    threading.Thread(target=_watch_beat_lock, args=(raw,), name="beat lock", daemon=True).start()


def lock_when_free() -> "psycopg.Connection[tuple[object, ...]]":
    while True:
        try:
            raw = psycopg.connect(conninfo(), autocommit=True)
            while not is_locked(raw):
                logger.info("another scheduler runs; this one waits for its end")
                time.sleep(LOOK_EVERY_SECONDS)
            return raw
        except psycopg.Error as problem:
            logger.warning("the scheduler waits for the database: %s", problem)
            time.sleep(LOOK_EVERY_SECONDS)


def is_locked(raw: "psycopg.Connection[tuple[object, ...]]") -> bool:
    row = raw.execute("SELECT pg_try_advisory_lock(%s, %s)", BEAT_KEYS).fetchone()
    return bool(row and row[0])


def _watch_beat_lock(raw: "psycopg.Connection[tuple[object, ...]]") -> None:
    """End this process with its connection: the lock went with it, and another scheduler may run by
    now. The supervisor starts a new one, which waits for its turn."""
    try:
        keep_connection(raw)
    except psycopg.Error as problem:
        logger.warning("the scheduler has lost its lock and ends: %s", problem)
        os.kill(os.getpid(), signal.SIGTERM)


def keep_connection(raw: "psycopg.Connection[tuple[object, ...]]") -> None:
    """Ask the server now and then; raises `psycopg.Error` when the connection is gone."""
    while True:
        time.sleep(LOOK_EVERY_SECONDS)
        raw.execute("SELECT 1")
