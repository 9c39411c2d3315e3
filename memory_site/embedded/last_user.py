"""A process of its own that stops the embedded server after its last user, also when that one was
killed: `python -m memory_site.embedded.last_user FOLDER`, started with each server.

It waits for the lock that users share, which the kernel takes from whoever dies.
"""

import fcntl
import os
import sys
from pathlib import Path

from memory_site.embedded.server import EmbeddedServer


def stop_after_last_user(server: EmbeddedServer) -> None:
    """Return when the server was stopped or its folder is gone; make no file in it."""
    users, starting = (open_lock(server.home / name) for name in ("users.lock", "start.lock"))
    while users is not None and starting is not None:
        # Given back at once: whoever wants to join waits for it.
        fcntl.flock(users, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_UN)
        fcntl.flock(starting, fcntl.LOCK_EX)
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if server.is_running():
                server.stop()
            return
        except BlockingIOError:
            pass  # somebody has joined meanwhile
        finally:
            fcntl.flock(starting, fcntl.LOCK_UN)


def open_lock(path: Path) -> int | None:
    try:
        return os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return None


if __name__ == "__main__":
    stop_after_last_user(EmbeddedServer(Path(sys.argv[1])))
