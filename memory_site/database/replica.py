"""Reads from a streaming replica (`DATABASE_REPLICA_URL`).

A request that only reads takes its connection from the replica's pool. What a replica cannot do
goes to the primary: a transaction, a statement that it refuses, and everything while it is more
than `LAG_SECONDS` behind, is gone or does not answer. After a request that may have written, the
answer waits until the replica has it, so that every process reads what was acknowledged
(docs/decisions/0130).
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import psycopg
from django.conf import settings
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InternalError,
    OperationalError,
    connections,
)
from django.http import HttpRequest, HttpResponse

logger = logging.getLogger(__name__)

REPLICA = "replica"
LAG_SECONDS = 1.0
"""A replica that is further behind is not read from."""
LOOK_EVERY_SECONDS = 0.25
WAIT_SECONDS = LAG_SECONDS + 2 * LOOK_EVERY_SECONDS
"""How long an answer waits for the replica. A process that has not seen it catch up by then does
not read from it."""
RETRY_SECONDS = 1.0
LOOK_AGAIN_SECONDS = 0.005
WRITTEN = "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"
REPLAYED = "SELECT coalesce(pg_last_wal_replay_lsn() - '0/0'::pg_lsn, 0)"
HAS_REPLAYED = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
WRITES = {"INSERT", "UPDATE", "DELETE"}
READ_METHODS = {"GET", "HEAD"}
TOOLS = "/api/v1/tools/"

_only_reads: ContextVar[bool] = ContextVar("only_reads", default=False)


def is_replica_wanted() -> bool:
    """Whether the present request only reads, and the replica is fresh enough to read from."""
    return _only_reads.get() and watch.is_fresh()


def stop_reading() -> None:
    """Let the rest of the request go to the primary, and its answer wait for the replica."""
    _only_reads.set(False)


def move_to_primary() -> None:
    """Let what is about to write read the primary, too."""
    stop_reading()
    link: Any = connections[DEFAULT_DB_ALIAS]
    link.leave_replica()


@contextmanager
def reading_where_possible() -> Iterator[None]:
    """Read from the replica inside of the block, where there is one. If the block turned out to
    write, wait until the replica has it, so that whoever gets the answer reads what was written."""
    if REPLICA not in settings.DATABASES:
        yield
        return
    link = connections[DEFAULT_DB_ALIAS]
    with reading(), link.execute_wrapper(move_what_is_refused):
        yield
        may_have_written = not _only_reads.get()
    if may_have_written:
        wait_for_replica()


@contextmanager
def reading() -> Iterator[None]:
    """Take connections for reading inside of the block."""
    token = _only_reads.set(True)
    try:
        yield
    finally:
        _only_reads.reset(token)


class ReplicaWatch:
    """Looks in a thread how far the replica is behind the primary."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._start = threading.Lock()
        self._fresh_until = 0.0
        self.problem = ""
        """What the replica or the primary said when it was last asked in vain."""

    def is_fresh(self, *, slack: float = 0.0) -> bool:
        """Whether the replica may be read from, or was `slack` seconds ago."""
        self._ensure_running()
        return time.monotonic() < self._fresh_until + slack

    def give_up(self) -> None:
        """Read from the primary until the replica was seen to answer again."""
        self._fresh_until = 0.0

    def _ensure_running(self) -> None:
        with self._start:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name=REPLICA, daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                self._look()
            except psycopg.Error as problem:
                self.give_up()
                self.problem = str(problem).strip()
                logger.warning("the replica is not read from: %s", problem)
                time.sleep(RETRY_SECONDS)

    def _look(self) -> None:
        """Compare until one of both connections fails."""
        primary_log = deque[tuple[float, int]](maxlen=64)
        with connect(DEFAULT_DB_ALIAS) as primary, connect(REPLICA) as replica:
            self.problem = ""
            while True:
                primary_log.append((time.monotonic(), position(primary, WRITTEN)))
                replayed = position(replica, REPLAYED)
                had = [when for when, written in primary_log if written <= replayed]
                # Without news it ends by itself: a replica that hangs is not read from either.
                self._fresh_until = max(had, default=0.0) + LAG_SECONDS
                time.sleep(LOOK_EVERY_SECONDS)


watch = ReplicaWatch()


def require_replica() -> None:
    """Raise `RuntimeError` with the reason if there is a replica and it is not read from."""
    deadline = time.monotonic() + LAG_SECONDS
    while REPLICA in settings.DATABASES and not watch.is_fresh():
        if time.monotonic() > deadline:
            raise RuntimeError(watch.problem or f"it is more than {LAG_SECONDS:g} s behind")
        time.sleep(LOOK_AGAIN_SECONDS)


def connect(alias: str) -> "psycopg.Connection[Any]":
    """A connection of one's own, past the pool."""
    options = connections[alias].get_connection_params()
    return psycopg.connect(**{**options, "autocommit": True, "connect_timeout": 2})


def position(link: "psycopg.Connection[Any]", statement: str) -> int:
    """Return a position in PostgreSQL's log, in bytes from its beginning."""
    row = link.execute(statement).fetchone()
    return int(row[0]) if row else 0


def wait_for_replica() -> None:
    """Wait until the replica has all that was committed, at most `WAIT_SECONDS`."""
    if not watch.is_fresh(slack=WAIT_SECONDS):
        return
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn()")
        written = cursor.fetchone()[0]
    deadline = time.monotonic() + WAIT_SECONDS
    while not has_replayed(written) and time.monotonic() < deadline:
        time.sleep(LOOK_AGAIN_SECONDS)


def has_replayed(written: str) -> bool:
    try:
        with connections[REPLICA].cursor() as cursor:
            cursor.execute(HAS_REPLAYED, [written])
            return bool(cursor.fetchone()[0])
    except DatabaseError:
        watch.give_up()
        return False


def move_what_is_refused(
    execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Execute a write, which the replica refuses, or a read that it did not finish, on the primary:
    outside a transaction each statement stands for itself. For `connection.execute_wrapper`."""
    link = context["connection"]
    if not link.is_on_replica:
        return execute(sql, params, many, context)
    if isinstance(sql, str) and sql.lstrip()[:6].upper() in WRITES:
        context["cursor"].cursor = link.cursor_on_primary()
        return execute(sql, params, many, context)
    try:
        return execute(sql, params, many, context)
    except (InternalError, OperationalError) as problem:
        if isinstance(problem.__cause__, psycopg.errors.QueryCanceled) or not link.leave_replica():
            raise
        link.ensure_connection()
        context["cursor"].cursor = link.create_cursor()
        return execute(sql, params, many, context)


class ReplicaReads:
    """Outermost of the middleware that asks the database."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if REPLICA not in settings.DATABASES:
            return self.get_response(request)
        if request.method in READ_METHODS or request.path.startswith(TOOLS):
            with reading_where_possible():
                return self.get_response(request)
        response = self.get_response(request)
        wait_for_replica()
        return response
