"""The folder in which a backup is put together or taken apart.

What is not encrypted stays on the disk of the data: the folder of the backup may be a disk that
others read, a share, or read-only.
"""

import fcntl
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from django.conf import settings

PREFIX, LOCK = ".backup-", "lock"


@contextmanager
def workspace() -> Iterator[Path]:
    """Yield an empty folder in `MEMORY37_VAR` and delete it afterwards, also when the process is
    told to end; what a killed process left there goes first."""
    parent = Path(settings.VAR_DIR)
    parent.mkdir(parents=True, exist_ok=True)
    for folder in parent.glob(f"{PREFIX}*"):
        if is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)
    outer = Path(tempfile.mkdtemp(dir=parent, prefix=PREFIX))
    with ended_by_sigterm(), (outer / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield Path(tempfile.mkdtemp(dir=outer))
        finally:
            shutil.rmtree(outer, ignore_errors=True)


def is_abandoned(folder: Path) -> bool:
    """Whether no process holds the lock of `folder`; False while it is being made."""
    try:
        with (folder / LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the process by an exception: without one nothing is cleaned up."""

    def end(number: int, _frame: FrameType | None) -> None:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
