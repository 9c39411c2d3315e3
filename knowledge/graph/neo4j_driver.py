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
BACKOFF_SECONDS = 5.0
WRITE_TIMEOUT_FACTOR = 20
"""A write copies hundreds of rows, so it may take this many times as long as a read."""
TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut"


def is_timeout(error: BaseException) -> bool:
    """Whether the server cancelled this one query. The server itself is up: no reason to back
    off."""
    return isinstance(error, Neo4jError) and (error.code or "").startswith(TIMED_OUT)


class Neo4j:
    """Runs units of work; the driver retries transient errors. After a failure, `is_backing_off`
    is true for a while."""

    def __init__(self, url: str, user: str, password: str, database: str) -> None:
        self.url, self.auth, self.database = url, (user, password), database
        self._loop = asyncio.new_event_loop()
        self._driver: neo4j.AsyncDriver | None = None
        self._retry_at = 0.0
        threading.Thread(target=self._loop.run_forever, name="neo4j", daemon=True).start()

    @property
    def is_backing_off(self) -> bool:
        return time.monotonic() < self._retry_at

    async def read(self, work: "Work[T]") -> T:
        return await asyncio.wrap_future(self._submit(self._run_work(work, write=False)))

    def write(self, work: "Work[T]") -> T:
        result: T = self._submit(self._run_work(work, write=True)).result()
        return result

    def run(self, statement: str) -> None:
        """Run a statement that manages its own transactions."""

        async def run_statement() -> None:
            async with self._session() as session:
                await (await session.run(neo4j.Query(statement))).consume()

        self._submit(run_statement()).result()

    def close(self) -> None:
        if self._driver:
            self._submit(self._driver.close()).result(timeout=10)
            self._driver = None

    async def _run_work(self, work: "Work[T]", *, write: bool) -> T:
        timeout = settings.NEO4J_TIMEOUT * (WRITE_TIMEOUT_FACTOR if write else 1)
        async with self._session(fetch_size=1000) as session:
            execute = session.execute_write if write else session.execute_read
            return await execute(neo4j.unit_of_work(timeout=timeout)(work))

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

    def _submit(self, task: Coroutine[Any, Any, T]) -> Any:
        """Run `task` on the driver's loop and return its future. A failure starts the back-off."""

        async def run_guarded() -> T:
            try:
                return await task
            except NEO4J_DOWN as error:
                if not is_timeout(error):
                    self._retry_at = time.monotonic() + BACKOFF_SECONDS
                raise

        return asyncio.run_coroutine_threadsafe(run_guarded(), self._loop)


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
