"""The line of bulk tasks: each process runs one at a time, and the others wait in order.

Embedding, counting and reading of texts take minutes, and nobody waits for a single one of them. A
worker with two threads always has one left for what a person does wait for, such as an import.
"""

import threading
from typing import NamedTuple


class TaskCall(NamedTuple):
    """A task and its arguments."""

    task: str
    args: tuple[object, ...]


class BulkLine:
    """Says whose turn it is. It lives in memory: what waits in it are hints, and the work is rows,
    which the next sweep finds when a process ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: int | None = None
        self._waiting: list[TaskCall] = []

    def enter(self, call: TaskCall) -> bool:
        """Begin `call`, or let it wait behind the running one and return False."""
        with self._lock:
            if self._holder is None:
                self._holder = threading.get_ident()
                return True
            self._append(call)
            return False

    def append_if_held(self, call: TaskCall) -> bool:
        """Let `call` wait if this thread runs a bulk task; return whether it does. A task that is
        continued thus comes after those that waited before."""
        with self._lock:
            if self._holder != threading.get_ident():
                return False
            self._append(call)
            return True

    def leave(self) -> list[TaskCall]:
        """End the running call; return those that waited, in order, and forget them."""
        with self._lock:
            self._holder = None
            waiting, self._waiting = self._waiting, []
            return waiting

    def _append(self, call: TaskCall) -> None:
        if call not in self._waiting:
            self._waiting.append(call)


bulk_line = BulkLine()
