"""Work that the worker does for a person: by one worker at a time, and again when its message was
lost or its worker died."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

from django.db import connection

MOST_TRIES = 3
"""So often a run may begin: one that ends its worker each time must not do so forever."""
LOST_AFTER = timedelta(minutes=1)
IMPORTS, ARCHIVES, REPORTS = 41, 42, 43
"""What a lock is of."""
TRY_LOCK = "SELECT pg_try_advisory_lock(hashtextextended(%s, %s))"
UNLOCK = "SELECT pg_advisory_unlock(hashtextextended(%s, %s))"


@contextmanager
def run_lock(run_id: UUID, kind: int) -> Iterator[bool]:
    """Yield whether this worker has the run for itself. A lock of the session, not of a
    transaction: the attempt is counted before the work's own transaction, which may be rolled
    back, begins."""
    with connection.cursor() as cursor:
        cursor.execute(TRY_LOCK, [str(run_id), kind])
        is_ours = cursor.fetchone()[0]
    try:
        yield is_ours
    finally:
        if is_ours:
            with connection.cursor() as cursor:
                cursor.execute(UNLOCK, [str(run_id), kind])
