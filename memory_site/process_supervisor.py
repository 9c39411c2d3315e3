"""The processes of `manage.py up`: web, worker and beat under one foreground command, with prefixed logs."""

import os
import socket
import sys
from contextlib import closing

from honcho import manager as honcho
from honcho.manager import Manager
from honcho.printer import Printer

PYTHON = sys.executable
CELERY = f"{PYTHON} -m celery --quiet -A memory_site"

# Seconds. honcho takes the time only from this constant. An idle worker needs four to stop, so with honcho's five some
# were killed; a busy one finishes its batch first.
honcho.KILL_WAIT = 30


def free_port(wanted: int) -> int:
    """Return `wanted` when nobody listens there, else a free port of the system's choice."""
    for port in (wanted, 0):
        with closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError("no free port on 127.0.0.1")


def commands(host: str, port: int) -> dict[str, str]:
    """The command line of each process. Threads in the worker: one copy of the embedding model per process."""
    return {
        "web": f"{PYTHON} -m uvicorn memory_site.asgi:application --host {host} --port {port} "
        "--no-access-log --log-level warning --timeout-keep-alive 75 --timeout-graceful-shutdown 3",
        "worker": f"{CELERY} worker --pool threads --concurrency 2 --loglevel WARNING --hostname memory37@localhost "
        "--without-gossip --without-mingle --without-heartbeat",
        "beat": f"{CELERY} beat --loglevel WARNING",
        "about": f"{PYTHON} manage.py up --watch http://{host}:{port}",
    }


def run(host: str, port: int) -> int:
    """Run until Ctrl-C or until one of them ends; return the exit code."""
    printer = Printer(sys.stdout)
    manager = Manager(printer)
    for name, command in commands(host, port).items():
        # Celery warns a root user on every start; in a container that is the only user there is.
        manager.add_process(name, f"exec {command}", env={**os.environ, "PYTHONWARNINGS": "ignore"})
    try:
        manager.loop()
    except BrokenPipeError:
        # The reader of the log is gone: stop, instead of waiting for the children for ever.
        printer.output = sys.stdout = open(os.devnull, "w")  # noqa: SIM115  (open until the process ends)
        manager.terminate()
    # Ctrl-C and SIGTERM are how this command is meant to end.
    return 0 if manager.returncode in (130, 143, None) else manager.returncode
