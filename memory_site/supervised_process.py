"""One child process that is started again when it ends, and its output line by line."""

import ctypes
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic

FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 1.0, 15.0
STABLE_SECONDS = 60.0
"""A process that ran for so long begins with the first wait again."""
PR_SET_PDEATHSIG = 1
ENVIRONMENT = {
    "PYTHONUNBUFFERED": "1",
    "PYTHONWARNINGS": "ignore",
    # `up` runs Django's checks before it starts anything. They load every page and the API, which
    # takes a third of the start of a worker.
    "CELERY_SKIP_CHECKS": "1",
}

WriteLine = Callable[[str, str], None]
"""Takes the name of the process and one line without its end."""
logger = logging.getLogger(__name__)


@dataclass
class SupervisedProcess:
    name: str
    command: Sequence[str]
    write_line: WriteLine
    may_end: bool = False
    """Whether exit code 0 means that it has done its work."""
    child: "subprocess.Popen[bytes] | None" = None
    failure_count: int = 0
    _started_at: float = field(default=0.0, repr=False)
    _start_at: float = field(default=0.0, repr=False)
    _is_done: bool = field(default=False, repr=False)

    def start(self) -> None:
        # A session of its own: Ctrl-C reaches the supervisor alone, which ends all in order.
        self.child = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **ENVIRONMENT},
            start_new_session=True,
            preexec_fn=end_with_parent if sys.platform == "linux" else None,
        )
        self._started_at = monotonic()
        threading.Thread(target=self._copy_output, args=(self.child,), daemon=True).start()

    def keep_running(self) -> None:
        """Start the process if it is due; plan its next start when it has ended."""
        if self._is_done:
            return
        if self.child is None:
            if monotonic() >= self._start_at:
                self.start()
        elif (code := self.child.poll()) is not None:
            self._plan_restart(code)

    def terminate(self) -> None:
        if self.is_running():
            self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the process and all that it started."""
        self._signal(signal.SIGKILL)

    def is_running(self) -> bool:
        return self.child is not None and self.child.poll() is None

    def _plan_restart(self, code: int) -> None:
        self.child = None
        if self.may_end and code == 0:
            self._is_done = True
            return
        lived = monotonic() - self._started_at
        self.failure_count = 1 if lived > STABLE_SECONDS else self.failure_count + 1
        wait = min(FIRST_WAIT_SECONDS * 2 ** (self.failure_count - 1), LONGEST_WAIT_SECONDS)
        self._start_at = monotonic() + wait
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        self.write_line("up", f"{self.name} {how}; it is started again in {wait:.0f} s")

    def _signal(self, number: int) -> None:
        if self.child is None:
            return
        try:
            os.killpg(self.child.pid, number)
        except ProcessLookupError:
            logger.debug("%s has ended already", self.name)

    def _copy_output(self, child: "subprocess.Popen[bytes]") -> None:
        assert child.stdout is not None  # a pipe was asked for
        with child.stdout as lines:
            for line in lines:
                self.write_line(self.name, line.decode(errors="replace").rstrip("\r\n"))


_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def end_with_parent() -> None:
    """Let the kernel end this process when the supervisor is killed: nobody else would."""
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
