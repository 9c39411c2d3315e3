"""Work that one process at a time does."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections


@contextmanager
def exclusive(task: str, *, using: str = "default") -> Iterator[bool]:
    """Hold the advisory lock of `task` on this connection; yield whether it was free. It never
    waits: a waiting statement would hold up an index that is built concurrently."""
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(370037, hashtext(%s))", [task])
        (is_free,) = cursor.fetchone()
        try:
            yield is_free
        finally:
            if is_free:
                cursor.execute("SELECT pg_advisory_unlock(370037, hashtext(%s))", [task])
