"""Rows that are written a moment later, in batches, by a thread of the process."""

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
MAX_WAITING = 10_000
"""Rows in the queue. Beyond that the database is too slow, and whoever adds a row writes it and
waits."""

Row = TypeVar("Row")


class WriteBehind(Generic[Row]):
    """Calls `write` with the rows added within `seconds`. If a batch fails, it is written row by
    row, so that one bad row costs no other; a row that cannot be written is logged with the text of
    `describe`."""

    def __init__(
        self,
        write: Callable[[Sequence[Row]], None],
        *,
        seconds: float,
        describe: Callable[[Row], str] = str,
    ) -> None:
        self.write, self.seconds, self.describe = write, seconds, describe
        self.queue = SimpleQueue[Row]()
        self.write_lock, self.start_lock = threading.Lock(), threading.Lock()
        self.pid = 0

    def add(self, row: Row) -> None:
        """Queue `row`; raises what `write` raises only where too many rows wait."""
        if self.queue.qsize() >= MAX_WAITING:
            self.write([row])
            return
        self.queue.put(row)
        if self.pid != os.getpid():
            self.start()

    def start(self) -> None:
        """Start the thread of this process; a forked process has none of its parent's threads."""
        with self.start_lock:
            if self.pid != os.getpid():
                self.pid = os.getpid()
                threading.Thread(target=self.run, name="write-behind", daemon=True).start()
                atexit.register(self.flush)

    def run(self) -> None:
        while True:
            self.queue.put(self.queue.get())  # block until there is a row
            sleep(self.seconds)
            try:
                self.flush()
                connection.close()
            except Exception:  # the thread must go on: without it no row would be written any more
                logger.exception("The thread that writes batches failed; it goes on")

    def flush(self) -> None:
        """Write what is queued, and return when it is written."""
        # The lock makes a second caller wait until the rows that the first one took are written.
        with self.write_lock:
            rows: list[Row] = []
            try:
                while True:
                    rows.append(self.queue.get_nowait())
            except Empty:
                pass
            if rows:
                self.write_batch(rows)

    def write_batch(self, rows: list[Row]) -> None:
        try:
            self.write(rows)
        except Exception:
            for row in rows:  # one by one shows which row is at fault
                try:
                    self.write([row])
                except Exception:
                    logger.exception("%s was not written", self.describe(row))
