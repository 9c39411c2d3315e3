"""One Neo4j connection per process. The async driver is bound to one event loop, so it runs in a
thread with a loop of its own; sync and async callers of any loop share it."""

import asyncio
import os
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import cache
from typing import Any, TypeVar

import neo4j
from django.conf import settings
from neo4j.exceptions import DriverError, Neo4jError

T = TypeVar("T")
Work = Callable[[neo4j.AsyncManagedTransaction], Awaitable[T]]
NEO4J_DOWN = (DriverError, Neo4jError, OSError, TimeoutError)
SHARE_OF_READ, SHARE_OF_PROBE = 0.7, 0.15
"""Parts of `NEO4J_TIMEOUT`: after the first a read is given up, in the second a server that is up
answers a query that costs nothing. PostgreSQL answers in the rest."""
WRITE_TIMEOUT_FACTOR = 20
"""A write copies hundreds of rows, so it may take this many times as long as a read."""
TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut"


class QueryTooSlow(TimeoutError):
    """The server is up and has not answered this one query in time: no reason to back off."""


class Neo4j:
    """Runs units of work; the driver retries transient errors. The timeouts of the driver do not
    cover a server that accepts the connection and then says nothing, so each unit has a deadline
    here. After a failure the circuit is open for `NEO4J_BACKOFF` seconds; then one caller at a time
    tries again, and the others go on without Neo4j until that one has succeeded."""

    def __init__(self, url: str, user: str, password: str, database: str) -> None:
        self.url, self.auth, self.database = url, (user, password), database
        self._loop = asyncio.new_event_loop()
        self._driver: neo4j.AsyncDriver | None = None
        self._retry_at = 0.0
        self._has_failed = False
        self._breaker = threading.Lock()
        threading.Thread(target=self._loop.run_forever, name="neo4j", daemon=True).start()

    @property
    def is_backing_off(self) -> bool:
        """Whether the circuit is open. It changes nothing."""
        return time.monotonic() < self._retry_at

    def may_try(self) -> bool:
        """Whether this caller may ask Neo4j now. After a failure, at most one caller in the time of
        a read is told so, until a read has succeeded."""
        with self._breaker:
            if self.is_backing_off:
                return False
            if self._has_failed:
                self._retry_at = time.monotonic() + settings.NEO4J_TIMEOUT
            return True

    async def read(self, work: "Work[T]") -> T:
        """Raises `QueryTooSlow` or `TimeoutError` within `NEO4J_TIMEOUT`, whatever the server
        does."""
        deadline = settings.NEO4J_TIMEOUT * SHARE_OF_READ
        task = self._submit(self._run_work(work, timeout=deadline), deadline)
        return await asyncio.wrap_future(task)

    def write(self, work: "Work[T]") -> T:
        """Raises `TimeoutError` like `read`, but later."""
        deadline = settings.NEO4J_TIMEOUT * WRITE_TIMEOUT_FACTOR
        result: T = self._submit(
            self._run_work(work, timeout=deadline, write=True), deadline
        ).result()
        return result

    def run(self, statement: str) -> None:
        """Run a statement that manages its own transactions, however long it takes on a server that
        answers."""

        async def run_statement() -> None:
            async with self._session() as session:
                await (await session.run(neo4j.Query(statement))).consume()

        self._submit(self._verify(), settings.NEO4J_TIMEOUT * WRITE_TIMEOUT_FACTOR).result()
        self._submit(run_statement(), None).result()

    def probe(self) -> None:
        """Raise unless the server answers within the time of a read."""
        if self.is_backing_off:
            raise TimeoutError("Neo4j did not answer a moment ago")
        self._submit(self._verify(), settings.NEO4J_TIMEOUT * SHARE_OF_READ).result()

    def close(self) -> None:
        if self._driver:
            self._submit(self._driver.close(), 10.0).result()
            self._driver = None

    async def _run_work(self, work: "Work[T]", *, timeout: float, write: bool = False) -> T:
        async with self._session(fetch_size=1000) as session:
            execute = session.execute_write if write else session.execute_read
            return await execute(neo4j.unit_of_work(timeout=timeout)(work))

    async def _verify(self) -> None:
        async with self._session() as session:
            await (await session.run("RETURN 1")).consume()

    async def _is_answering(self) -> bool:
        """Whether the server answers another query. It cancels one that is too slow late: it looks
        for those every two seconds, unless it is configured otherwise."""
        try:
            await finish_within(settings.NEO4J_TIMEOUT * SHARE_OF_PROBE, self._verify())
        except NEO4J_DOWN:
            return False
        return True

    def _session(self, **options: Any) -> neo4j.AsyncSession:
        if self._driver is None:
            self._driver = neo4j.AsyncGraphDatabase.driver(
                self.url,
                auth=self.auth,
                connection_timeout=2.0,
                connection_acquisition_timeout=3.0,
                max_transaction_retry_time=2.0,
                notifications_min_severity="OFF",
                liveness_check_timeout=30.0,
            )
        return self._driver.session(database=self.database, **options)

    def _submit(self, task: Coroutine[Any, Any, T], deadline: float | None) -> Any:
        """Run `task` on the driver's loop, for at most `deadline` seconds, and return its future.
        A failure opens the circuit."""

        async def run_guarded() -> T:
            try:
                result = await finish_within(deadline, task)
            except NEO4J_DOWN as error:
                is_too_slow = is_cancelled(error) or (
                    isinstance(error, TimeoutError) and await self._is_answering()
                )
                self._note(is_up=is_too_slow)
                if is_too_slow:
                    raise QueryTooSlow from error
                raise
            self._note(is_up=True)
            return result

        return asyncio.run_coroutine_threadsafe(run_guarded(), self._loop)

    def _note(self, *, is_up: bool) -> None:
        with self._breaker:
            self._has_failed = not is_up
            self._retry_at = 0.0 if is_up else time.monotonic() + settings.NEO4J_BACKOFF


def is_cancelled(error: BaseException) -> bool:
    """Whether the server cancelled the query because it took too long."""
    return isinstance(error, Neo4jError) and (error.code or "").startswith(TIMED_OUT)


async def finish_within(deadline: float | None, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`, or raise `TimeoutError` after `deadline` seconds. `asyncio.wait`
    does not wait for the cancelled work: it may be closing a connection that does not answer."""
    task = asyncio.ensure_future(work)
    # Its error is read even if nobody waits for it any more: else it would be logged.
    task.add_done_callback(lambda each: each.cancelled() or each.exception())
    done, _pending = await asyncio.wait([task], timeout=deadline)
    if not done:
        task.cancel()
        raise TimeoutError(f"Neo4j did not answer within {deadline:.1f} s")
    return task.result()


def site_neo4j() -> Neo4j | None:
    """Return this process's connection, or None where no Neo4j is configured."""
    if not settings.NEO4J_URL:
        return None
    return connect(
        settings.NEO4J_URL,
        settings.NEO4J_USER,
        settings.NEO4J_PASSWORD,
        settings.NEO4J_DATABASE,
        process=os.getpid(),
    )


@cache
def connect(url: str, user: str, password: str, database: str, **_process: int) -> Neo4j:
    # The process id is part of the cache key: a forked worker must not use the parent's thread.
    return Neo4j(url, user, password, database)
