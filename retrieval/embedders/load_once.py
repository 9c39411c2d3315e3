"""Models that are loaded once in each process."""

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class LoadOnce(Generic[T]):
    """The one copy in this process of what `load` returns, loaded on first use."""

    def __init__(self, load: Callable[[], T]) -> None:
        self._load, self._lock = load, threading.Lock()
        self._loaded: T | None = None
        self._parents_copy: T | None = None
        os.register_at_fork(after_in_child=self._leave_to_parent)

    def _leave_to_parent(self) -> None:
        """Load anew in a forked child: the threads of a session exist only in the parent."""
        # A reference stays: the session's destructor would wait for those threads for ever, and
        # its memory is shared with the parent.
        self._lock = threading.Lock()
        self._parents_copy, self._loaded = self._loaded, None

    def get(self) -> T:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = self._load()
        return self._loaded
