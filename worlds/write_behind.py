"""Rows that may be written a moment later: gathered by a thread and written together."""

import atexit
import logging
import os
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from time import sleep
from typing import Generic, TypeVar

from django.db import connection

logger = logging.getLogger(__name__)
MOST = 10_000
"""Rows that may wait. Beyond that the database is too slow, and whoever adds a row waits for it too."""

Row = TypeVar("Row")


class WriteBehind(Generic[Row]):
    """`write` takes what was added within `seconds`. What it cannot write together it is given row by row, so that one
    bad row costs no other; what cannot be written at all is logged in the words of `tell`."""

    def __init__(
        self,
        write: Callable[[Sequence[Row]], None],
        *,
        seconds: float,
        tell: Callable[[Row], str] = str,
    ) -> None:
        self._write, self._seconds, self._tell = write, seconds, tell
        self._rows, self._writing = SimpleQueue[Row](), threading.Lock()
        self._pid, self._starting = 0, threading.Lock()

    def add(self, row: Row) -> None:
        """Keep `row` to be written soon; raises what `write` raises only where too many wait."""
        if self._rows.qsize() >= MOST:
            self._write([row])
            return
        self._rows.put(row)
        if self._pid != os.getpid():
            self._start()

    def flush(self) -> None:
        """Write what has been gathered, and return when it is written."""
        with self._writing:
            if rows := self._taken():
                self._written(rows)

    def _start(self) -> None:
        """A thread of this process: a fork has none of its parent's."""
        with self._starting:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                threading.Thread(target=self._run, name="gathering", daemon=True).start()
                atexit.register(self.flush)

    def _run(self) -> None:
        while True:
            self._rows.put(self._rows.get())  # wait for one
            sleep(self._seconds)
            try:
                self.flush()
                connection.close()
            except Exception:  # the thread must live: without it every row would wait for ever
                logger.exception("Rows were gathered, but the thread that writes them stumbled")

    def _taken(self) -> list[Row]:
        rows: list[Row] = []
        while True:
            try:
                rows.append(self._rows.get_nowait())
            except Empty:
                return rows

    def _written(self, rows: list[Row]) -> None:
        try:
            self._write(rows)
        except Exception:
            for row in rows:  # one by one: that shows which it is
                self._one(row)

    def _one(self, row: Row) -> None:
        try:
            self._write([row])
        except Exception:
            logger.exception("%s was not written", self._tell(row))
