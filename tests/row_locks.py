"""Wait until another session waits for a lock, so that a test meets a race each time."""

import time

from django.db import connection

WAITING = """
SELECT EXISTS (
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
)
"""


def wait_for_lock() -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(WAITING)
            if cursor.fetchone()[0]:
                return
        time.sleep(0.02)
    raise AssertionError("no session waits for a lock")
