"""The processes of `manage.py up` (web, worker, beat) under one command, with prefixed logs."""

import os
import socket
import sys
from contextlib import closing

from honcho import manager as honcho
from honcho.manager import Manager
from honcho.printer import Printer

PYTHON = sys.executable
CELERY = f"{PYTHON} -m celery --quiet -A memory_site"

# Seconds until a process that ignores SIGTERM is killed; honcho has no argument for it. An idle
# worker stops in four seconds, a busy one finishes its batch first, so honcho's default of five
# killed some.
honcho.KILL_WAIT = 30


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


def process_commands(host: str, port: int) -> dict[str, str]:
    """Return the command line of each process by its name."""
    # The worker runs threads, not processes: each process would load the embedding model again.
    return {
        "web": f"{PYTHON} -m uvicorn memory_site.asgi:application --host {host} --port {port} "
        "--no-access-log --log-level warning --timeout-keep-alive 75 --timeout-graceful-shutdown 3",
        "worker": f"{CELERY} worker --pool threads --concurrency 2 --loglevel WARNING "
        "--hostname memory37@localhost --without-gossip --without-mingle --without-heartbeat",
        "beat": f"{CELERY} beat --loglevel WARNING",
        "about": f"{PYTHON} -m memory_site up --watch http://{host}:{port}",
    }


def run_processes(host: str, port: int) -> int:
    """Run all processes until Ctrl-C or until one of them ends; return the exit code."""
    printer = Printer(sys.stdout)
    manager = Manager(printer)
    for name, command in process_commands(host, port).items():
        # Celery warns at every start when it runs as root, which is normal in a container.
        manager.add_process(name, f"exec {command}", env={**os.environ, "PYTHONWARNINGS": "ignore"})
    try:
        manager.loop()
    except BrokenPipeError:
        # Nobody reads the log any more: stop, instead of waiting for the children forever.
        printer.output = sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - open until exit
        manager.terminate()
    # 130 and 143: Ctrl-C and SIGTERM, the normal ways to end this command.
    return 0 if manager.returncode in (130, 143, None) else manager.returncode
