"""The processes of `manage.py up` (web, worker, beat) under one command, with prefixed logs.

A process that ends is started again, after a longer wait each time; the others go on.
"""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterable
from contextlib import closing
from datetime import datetime
from time import monotonic, sleep
from typing import TextIO

from memory_site.supervised_process import SupervisedProcess

PYTHON = sys.executable
CELERY = (PYTHON, "-m", "celery", "--quiet", "-A")
WORKER_OPTIONS = (
    # Threads, not processes: each process would load the embedding model again.
    *("worker", "--pool", "threads", "--concurrency", "2", "--loglevel", "WARNING"),
    *("--hostname", "memory37@localhost"),
    *("--without-gossip", "--without-mingle", "--without-heartbeat"),
)
LOOK_EVERY_SECONDS = 0.2
STOP_SECONDS = 2.0
"""Until a process that does not end is killed: what it was doing is rows that the next one finds.
The web process ends its streams after one."""
COLOURS = {"web": 36, "worker": 33, "beat": 32, "about": 35, "up": 31}


def free_port(first_choice: int) -> int:
    """Return `first_choice` if no process listens there, else any free port."""
    for port in (first_choice, 0):
        with closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError("no free port on 127.0.0.1")


def process_commands(host: str, port: int) -> dict[str, tuple[str, ...]]:
    """Return the command of each process by its name."""
    address = ("--host", host, "--port", str(port))
    web = (PYTHON, "-m", "memory_site.web_server", *address)
    return {
        "web": web,
        "worker": (*CELERY, "memory_site", *WORKER_OPTIONS),
        "beat": (*CELERY, "memory_site.beat", "beat", "--loglevel", "WARNING"),
        "about": (PYTHON, "-m", "memory_site", "up", "--watch", f"http://{host}:{port}"),
    }


def run_processes(host: str, port: int) -> int:
    """Run all processes until Ctrl-C or SIGTERM; return the exit code."""
    log = PrefixedLog(sys.stdout)
    processes = [
        SupervisedProcess(name, command, log.write_line, may_end=name == "about")
        for name, command in process_commands(host, port).items()
    ]
    supervise(processes, log.stop)
    return 0


def supervise(processes: Iterable[SupervisedProcess], stop: threading.Event) -> None:
    """Keep `processes` running until SIGINT, SIGTERM or `stop`; then end all of them."""
    processes = list(processes)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_frame: stop.set())
    try:
        while not stop.wait(LOOK_EVERY_SECONDS):
            for process in processes:
                process.keep_running()
    finally:
        end_processes(processes)


def end_processes(processes: list[SupervisedProcess]) -> None:
    """Ask all to end, and kill those that still run after `STOP_SECONDS`."""
    for process in processes:
        process.terminate()
    deadline = monotonic() + STOP_SECONDS
    while any(process.is_running() for process in processes) and monotonic() < deadline:
        sleep(0.05)
    for process in processes:
        if process.is_running():
            process.kill()


class PrefixedLog:
    """Writes the lines of all processes with time and name. `stop` is set when nobody reads them
    any more. Lines that find no room on the disk are left out and counted: the processes go on."""

    def __init__(self, output: TextIO) -> None:
        self.output, self.stop = output, threading.Event()
        self.unwritten = 0
        self._lock = threading.Lock()
        self._width = max(map(len, COLOURS))

    def write_line(self, name: str, line: str) -> None:
        with self._lock:
            try:
                if self.unwritten:
                    late = f"{self.unwritten} lines found no room: they are late or lost"
                    print(self._prefix("up") + late, file=self.output)
                print(self._prefix(name) + line, file=self.output, flush=True)
                self.unwritten = 0
            except BrokenPipeError:
                self.output = open(os.devnull, "w")  # noqa: SIM115 - open until exit
                self.stop.set()
            except OSError:
                self.unwritten += 1

    def _prefix(self, name: str) -> str:
        prefix = f"{datetime.now():%H:%M:%S} {name:{self._width}} | "
        if self.output.isatty() and name in COLOURS:
            return f"\033[0m\033[{COLOURS[name]}m{prefix}\033[0m"
        return prefix
