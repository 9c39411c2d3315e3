"""The progress of a run, written while its transaction is still open."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Self
from uuid import UUID

from django.db import connections

from worlds.models import ImportRun

LEAST_SECONDS = 0.5


class ProgressWriter:
    """Writes the share that is done over a connection of its own, that of a second thread: nobody
    would see what the transaction of the import writes before it ends."""

    def __init__(self, run_id: UUID) -> None:
        self.run_id = run_id
        self.written_at = 0.0
        self.thread = ThreadPoolExecutor(max_workers=1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        # The run itself is written next, so no update may be under way.
        self.thread.submit(connections.close_all).result()
        self.thread.shutdown()

    def __call__(self, share: float) -> None:
        now = time.monotonic()
        if now - self.written_at >= LEAST_SECONDS:
            self.written_at = now
            self.thread.submit(self._write, min(99, int(100 * share)))

    def _write(self, percent: int) -> None:
        ImportRun.objects.filter(pk=self.run_id).update(progress=percent)


def part(progress: Callable[[float], None], start: float, end: float) -> Callable[[float], None]:
    """The progress of a part of the work, from `start` to `end` of the whole."""
    return lambda share: progress(start + (end - start) * share)
