"""Database work for async callers, in a worker thread that gives its connection back."""

from collections.abc import Callable
from typing import TypeVar

from anyio import to_thread
from django.db import close_old_connections

T = TypeVar("T")


async def run_in_thread(work: Callable[[], T]) -> T:
    def work_and_close() -> T:
        close_old_connections()
        try:
            return work()
        finally:
            close_old_connections()

    return await to_thread.run_sync(work_and_close)
