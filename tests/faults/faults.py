"""The kinds of faults: each does its harm and returns when it is over; nobody mends anything but
what the site cannot (a broker that is gone)."""

import contextlib
import os
import signal
import time
from collections.abc import Callable

from tests.faults.site import Site
from tests.loopback.answers import hang, hashed, status

PAUSE_SECONDS = 4.0


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


def break_embedder(site: Site) -> None:
    site.embedder.embeddings.always(status(503))
    time.sleep(PAUSE_SECONDS)
    site.embedder.embeddings.always(hashed)


def hang_embedder(site: Site) -> None:
    site.embedder.embeddings.always(hang(20))
    time.sleep(PAUSE_SECONDS)
    site.embedder.embeddings.always(hashed)


def pause(*pids: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    time.sleep(PAUSE_SECONDS)
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
    kill_broker,
    pause_broker,
    break_embedder,
    hang_embedder,
)
