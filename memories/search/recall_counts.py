"""Count recalls without a write per read: the process adds them up and writes them at intervals.

A process that dies takes at most `INTERVAL_SECONDS` seconds of counts with it; they are statistics,
not memories.
"""

import atexit
import os
import threading
import time
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connection
from django.utils import timezone

INTERVAL_SECONDS, MAX_WAITING = 10.0, 500

WRITE = """
UPDATE memories_memoryitem memory SET recalls = recalls + counted.times, last_recalled_at = %(at)s
FROM unnest(%(ids)s::uuid[], %(times)s::int[]) AS counted (id, times)
WHERE memory.id = counted.id
"""

_waiting: Counter[UUID] = Counter()
_lock = threading.Lock()
_written_at = time.monotonic()


def count_recalls(ids: Iterable[UUID]) -> None:
    """Count one recall of each. Call it after the search: the database is in use then."""
    _register_flush_at_exit(os.getpid())
    with _lock:
        _waiting.update(ids)
        due = len(_waiting) >= MAX_WAITING or time.monotonic() - _written_at > INTERVAL_SECONDS
    if due:
        flush()


def flush() -> None:
    """Write the counts. What cannot be written now is dropped."""
    global _written_at
    with _lock:
        counts, _written_at = dict(_waiting), time.monotonic()
        _waiting.clear()
    if not counts:
        return
    values: dict[str, Any] = {
        "ids": sorted(counts),
        "times": [counts[pk] for pk in sorted(counts)],
        "at": timezone.now(),
    }
    with connection.cursor() as cursor:
        cursor.execute(WRITE, values)


def _flush_at_exit() -> None:
    try:
        flush()
    except DatabaseError:
        _waiting.clear()
    finally:
        connection.close()


@cache
def _register_flush_at_exit(_pid: int) -> None:
    # What is registered last runs first. Registered before the embedded server was started, it
    # would start the server again after it was stopped, and nobody would stop it then.
    atexit.register(_flush_at_exit)
