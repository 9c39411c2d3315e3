"""The kinds of faults: each does its harm and returns when it is over; nobody mends anything but
what the site does not run (a broker or a Neo4j that is gone, a disk that is full)."""

import contextlib
import os
import signal
import time
from collections.abc import Callable

import psycopg

from tests.faults.site import Site
from tests.loopback.answers import hang, hashed, smallest, status

PAUSE_SECONDS = 2.0
"""Longer than the deadlines that the site has for Neo4j and its models."""
FULL_SECONDS = 6.0


def kill_web(site: Site) -> None:
    os.kill(site.pid("web"), signal.SIGKILL)


def kill_worker(site: Site) -> None:
    os.kill(site.pid("worker"), signal.SIGKILL)


def kill_scheduler(site: Site) -> None:
    os.kill(site.pid("beat"), signal.SIGKILL)


def kill_postmaster(site: Site) -> None:
    os.kill(site.postmaster(), signal.SIGKILL)


def kill_backend(site: Site) -> None:
    """The server then ends all connections and recovers."""
    os.kill(site.backends()[0], signal.SIGKILL)


def pause_web(site: Site) -> None:
    pause(site.pid("web"))


def pause_worker(site: Site) -> None:
    pause(site.pid("worker"))


def pause_database(site: Site) -> None:
    pause(site.postmaster(), *site.backends())


def slow_database(site: Site) -> None:
    """Every process of a connection runs for a tenth of the time."""
    over = time.monotonic() + PAUSE_SECONDS
    while time.monotonic() < over:
        pause(*site.backends(), seconds=0.09)
        time.sleep(0.01)


def kill_broker(site: Site) -> None:
    """Redis loses all messages; something else starts it again."""
    assert site.redis is not None
    site.redis.kill()
    site.redis.wait()
    time.sleep(PAUSE_SECONDS)
    site.start_redis()


def pause_broker(site: Site) -> None:
    assert site.redis is not None
    pause(site.redis.pid)


def kill_graph(site: Site) -> None:
    """Something else starts Neo4j again, on the same data."""
    site.neo4j.kill()
    time.sleep(PAUSE_SECONDS)
    site.neo4j.start()


def pause_graph(site: Site) -> None:
    assert site.neo4j.process is not None
    pause(site.neo4j.process.pid)


def break_embedder(site: Site) -> None:
    site.models.embeddings.always(status(503))
    time.sleep(PAUSE_SECONDS)
    site.models.embeddings.always(hashed)


def hang_embedder(site: Site) -> None:
    site.models.embeddings.always(hang(20))
    time.sleep(PAUSE_SECONDS)
    site.models.embeddings.always(hashed)


def break_language_model(site: Site) -> None:
    site.models.chat.always(status(503))
    time.sleep(PAUSE_SECONDS)
    site.models.chat.always(smallest)


def hang_language_model(site: Site) -> None:
    site.models.chat.always(hang(20))
    time.sleep(PAUSE_SECONDS)
    site.models.chat.always(smallest)


def fill_disk(site: Site) -> None:
    """The disk has PostgreSQL's data, `var/` and the log of the processes."""
    site.disk.fill()
    time.sleep(FULL_SECONDS)
    site.disk.free()


def fill_disk_under_the_log(site: Site) -> None:
    """PostgreSQL needs a new file for its log, finds no room and ends itself."""
    site.disk.fill()
    with contextlib.suppress(psycopg.Error), psycopg.connect(site.database, autocommit=True) as db:
        for _file in range(100):
            db.execute("SELECT pg_switch_wal(), pg_logical_emit_message(true, 'fault', 'any')")
    time.sleep(FULL_SECONDS)
    site.disk.free()


def set_clock_ahead(site: Site) -> None:
    site.clock.move(by=3)


def set_clock_back(site: Site) -> None:
    site.clock.move(by=-3)


def pause(*pids: int, seconds: float = PAUSE_SECONDS) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


FAULTS: tuple[Callable[[Site], None], ...] = (
    kill_web,
    kill_worker,
    kill_scheduler,
    kill_postmaster,
    kill_backend,
    pause_web,
    pause_worker,
    pause_database,
    slow_database,
    kill_broker,
    pause_broker,
    kill_graph,
    pause_graph,
    break_embedder,
    hang_embedder,
    break_language_model,
    hang_language_model,
    fill_disk,
    fill_disk_under_the_log,
    set_clock_ahead,
    set_clock_back,
)

QUICK = (
    kill_web,
    kill_worker,
    kill_postmaster,
    pause_web,
    pause_database,
    slow_database,
    kill_broker,
    pause_graph,
    break_embedder,
    hang_embedder,
    hang_language_model,
    set_clock_ahead,
    set_clock_back,
)
"""Some for each part, with few processes to start again: for CI."""


def is_possible(fault: Callable[[Site], None], site: Site) -> bool:
    """Whether this machine lets a test do it: mount a disk, or compile a clock."""
    if fault in (fill_disk, fill_disk_under_the_log):
        return site.disk.is_mounted
    return bool(site.clock.compiler) or fault not in (set_clock_ahead, set_clock_back)
