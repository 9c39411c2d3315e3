"""Sending tasks to a broker that may be down: callers must not wait for it again and again."""

import threading
import time
from typing import Any

from celery import Task
from kombu.exceptions import OperationalError

REST_SECONDS = 10.0
"""After a failure no task is sent for so long, so that requests answer at once."""


class Breaker:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._retry_at = 0.0

    def check(self) -> None:
        """Raise `OperationalError` if the broker failed a moment ago."""
        with self._lock:
            if time.monotonic() < self._retry_at:
                raise OperationalError("the broker failed a moment ago; it is tried again soon")

    def open(self) -> None:
        with self._lock:
            self._retry_at = time.monotonic() + REST_SECONDS


breaker = Breaker()


class GuardedTask(Task):  # type: ignore[misc]  # celery is not typed
    """A task whose message is sent at once or not at all. What matters is a row, which the next
    sweep finds; a caller whose task is no row gets the error."""

    abstract = True

    def apply_async(self, *args: Any, **options: Any) -> Any:
        breaker.check()
        try:
            return super().apply_async(*args, **options)
        except OperationalError:
            breaker.open()
            raise
