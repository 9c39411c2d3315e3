"""The progress of a run on the worker: written while its transaction is still open, and shown."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from django.db import connections
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from episodes.report_models import SessionReport
from memory_site.presence import is_worker_running
from worlds.archive_run import ArchiveRun
from worlds.models import ImportRun

LEAST_SECONDS = 0.5
POLL_STOP = 286
"""htmx stops polling at this status."""
Run = ImportRun | ArchiveRun | SessionReport


class ProgressWriter:
    """Writes the share that is done over a connection of its own, that of a second thread: nobody
    would see what the transaction of the run writes before it ends."""

    def __init__(self, run: Run) -> None:
        # Not the run itself: its worker goes on changing it.
        self.row = type(run)._base_manager.filter(pk=run.pk)
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
        self.row.update(progress=percent)


def part(progress: Callable[[float], None], start: float, end: float) -> Callable[[float], None]:
    """The progress of a part of the work, from `start` to `end` of the whole."""
    return lambda share: progress(start + (end - start) * share)


def progress_context(run: Run, *, page: str, poll: str) -> dict[str, Any]:
    """What `parts/run_progress.html` shows. `page` and `poll` are the addresses of the page and of
    the bar alone."""
    worker = {"worker_is_missing": not is_worker_running()}
    return {"run": run, "run_page": page, "run_poll": poll, **worker}


def show_progress(
    request: HttpRequest, run: Run, *, page: str, poll: str, is_over: bool
) -> HttpResponse:
    """The bar alone, asked for every second. When the run is over, its page is loaded again."""
    context = progress_context(run, page=page, poll=poll)
    response = render(request, "parts/run_progress.html", context)
    if is_over:
        response.headers["HX-Redirect"] = page
        response.status_code = POLL_STOP
    return response
