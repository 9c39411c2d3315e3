"""Sending tasks to a broker that may be down: callers must not wait for it again and again."""

import threading
import time

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
