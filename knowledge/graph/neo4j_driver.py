"""One connection to Neo4j per process. The async driver belongs to one event loop, so it gets a thread and a loop of
its own; sync and async callers of any loop share it."""

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
TOO_LONG = "Neo.ClientError.Transaction.TransactionTimedOut"


def is_timeout(error: BaseException) -> bool:
    """Whether the server gave up this one query: it is well, and others need not wait."""
    return isinstance(error, Neo4jError) and (error.code or "").startswith(TOO_LONG)


class Neo4j:
    """Runs units of work with retries on transient errors. After a failure it rests: `resting` says so."""

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
        return await asyncio.wrap_future(
            self._submit(self._guarded(self._session(work, write=False)))
        )

    def write(self, work: "Work[T]") -> T:
        written: T = self._submit(self._guarded(self._session(work, write=True))).result()
        return written

    def run(self, statement: str) -> None:
        """Run a statement that manages its own transactions."""
        self._submit(self._guarded(self._alone(statement))).result()

    def close(self) -> None:
        if self._driver:
            self._submit(self._driver.close()).result(timeout=10)
            self._driver = None

    def _submit(self, task: Coroutine[Any, Any, T]) -> Any:
        return asyncio.run_coroutine_threadsafe(task, self._loop)

    async def _guarded(self, task: Coroutine[Any, Any, T]) -> T:
        try:
            return await task
        except NEO4J_DOWN as error:
            if not is_timeout(error):
                self._retry_at = time.monotonic() + BACKOFF_SECONDS
            raise

    async def _session(self, work: "Work[T]", *, write: bool) -> T:
        async with self._connected().session(database=self.database, fetch_size=1000) as session:
            run = session.execute_write if write else session.execute_read
            return await run(
                neo4j.unit_of_work(timeout=settings.NEO4J_TIMEOUT * (20 if write else 1))(work)
            )

    async def _alone(self, statement: str) -> None:
        async with self._connected().session(database=self.database) as session:
            await (await session.run(neo4j.Query(statement))).consume()

    def _connected(self) -> neo4j.AsyncDriver:
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
        return self._driver


def site_neo4j() -> Neo4j | None:
    """Return this process's connection, or None where no Neo4j is configured."""
    if not settings.NEO4J_URL:
        return None
    return _connection(
        settings.NEO4J_URL,
        settings.NEO4J_USER,
        settings.NEO4J_PASSWORD,
        settings.NEO4J_DATABASE,
        os.getpid(),
    )


@cache
def _connection(url: str, user: str, password: str, database: str, _process: int) -> Neo4j:
    return Neo4j(url, user, password, database)
