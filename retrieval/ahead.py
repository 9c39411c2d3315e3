"""Statements sent before their rows are needed: the database works on them while Python goes on.

A wait for the database costs two changes of process beside the work itself, and a call of a tool asks two small things
before it searches. What is sent ahead travels in a pipeline; whoever wants the rows, or a cursor for anything else on
the same connection, waits for all of it (docs/decisions/0037).
"""

from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from typing import Any
from weakref import ReferenceType, ref

import psycopg
from django.db import Error, OperationalError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import Connection, Pipeline
from psycopg.generators import send as finish_sending
from psycopg.pq import ExecStatus

Statement = tuple[Any, Mapping[str, Any]]
"""Its text (or what psycopg composes of), and its values."""
Found = list[tuple[Any, ...]]
Then = Callable[[Found], None]


@dataclass
class Sent:
    """Statements under way; the rows are those of the last."""

    link: BaseDatabaseWrapper
    cursor: Any
    then: Then | None = None
    found: Found | None = None
    failure: Exception | None = None

    def rows(self) -> Found:
        """Wait for the rows; raises what the database has to say of them, or what a `then` refuses."""
        if self.is_under_way and isinstance(self.link, SendsAhead):
            self.link.arrive()
        self.say()
        if self.failure or self.found is None:
            raise self.failure or OperationalError(
                "The connection was closed before the answer came."
            )
        return self.found

    @property
    def is_under_way(self) -> bool:
        return self.found is None and self.failure is None

    @property
    def columns(self) -> Any:
        """The description of the columns (PEP 249) of rows that have come."""
        return self.cursor.description

    def take(self, wrong: Exception | None = None) -> None:
        """Read the rows, which have come, or note what came in their place."""
        try:
            with self.link.wrap_database_errors:
                if wrong:
                    raise wrong
                self.found = self.cursor.fetchall()
        except Error as failure:
            self.failure = failure

    def say(self) -> None:
        """Let `then` be heard, once. Without the rows that it waits for nothing goes on either."""
        then, self.then = self.then, None
        if then and self.failure:
            raise self.failure
        if then and self.found is not None:
            then(self.found)


def send(db: str, *statements: Statement, then: Then | None = None) -> Sent:
    """Send `statements`, a transaction of their own, and do not wait: what the first one sets for the transaction holds
    for the next and no longer. `then` is given the rows of the last as soon as anybody waits for any, and may refuse
    by raising: what was to come after is not done.

    Inside a transaction they are run at once, several of them as a savepoint, and `then` is heard when these rows are
    asked for. So it is where somebody watches the statements.
    """
    link = connections[db]
    if isinstance(link, SendsAhead):
        if link.may_send_ahead:
            return link.send_ahead(statements, then)
        link.settle()
    link.ensure_connection()
    with ExitStack() as together:
        if len(statements) > 1:
            together.enter_context(
                transaction.atomic(db) if link.in_atomic_block else nullcontext()
            )
            together.enter_context(link.wrap_database_errors)
            together.enter_context(link.connection.pipeline())
        for text, values in statements:
            cursor = link.cursor()
            cursor.execute(text, values)
    sent = Sent(link, cursor, then)
    sent.take()
    if sent.failure:
        raise sent.failure
    return sent


def _lose(sent: list[Sent], failure: Exception) -> None:
    for one in sent:
        one.failure = failure


class SendsAhead(BaseDatabaseWrapper):
    """A database backend over psycopg that can send ahead."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sent: list[Sent] = []
        self._batches: Batches | None = None
        self._chunked: list[ReferenceType[Any]] = []

    @property
    def may_send_ahead(self) -> bool:
        """Not inside a transaction, nor under the eyes of a watcher or while rows are read in chunks: these need
        answers at once."""
        self._chunked = [
            kept for kept in self._chunked if (cursor := kept()) is not None and not cursor.closed
        ]
        return not (
            self.in_atomic_block or self.execute_wrappers or self.queries_logged or self._chunked
        )

    def send_ahead(self, statements: tuple[Statement, ...], then: Then | None) -> Sent:
        """What `send` does outside a transaction."""
        self.ensure_connection()
        try:
            with self.wrap_database_errors:
                batches = self._batches = self._batches or Batches(self.connection)
                try:
                    for text, values in statements:
                        cursor = (
                            self.connection.cursor()
                        )  # Django's wrapper serves only those who watch
                        cursor.execute(text, values)
                except (
                    BaseException
                ):  # such as a value that has no form in SQL: then nothing of the batch is sent
                    batches.drop()
                    raise
                batches.send()
        except OperationalError as failure:
            _lose(self._sent, failure)
            raise
        sent = Sent(self, cursor, then)
        self._sent.append(sent)
        return sent

    def arrive(self) -> None:
        """Wait for what was sent ahead, and hear each `then`, in their order."""
        sent, self._sent = self._sent, []
        if self._batches:
            try:
                with self.wrap_database_errors:
                    self._batches.arrive()
            except Error as failure:
                _lose(sent, failure)
                raise
            for one in sent:
                one.take(self._batches.failures.get(one.cursor))
            self._batches.failures.clear()
        for one in sent:
            one.say()

    @property
    def has_sent(self) -> bool:
        """Whether anything is under way."""
        return bool(self._sent)

    def settle(self) -> None:
        """Wait as `arrive` does; then the connection is one like any other."""
        if self._batches is None:
            return
        try:
            self.arrive()
        finally:
            batches, self._batches = self._batches, None
            with self.wrap_database_errors:
                batches.end()

    def cursor(self) -> Any:
        self.settle()
        return super().cursor()

    def chunked_cursor(self) -> Any:
        self.settle()
        cursor = super().chunked_cursor()
        self._chunked.append(ref(cursor))
        return cursor

    def set_autocommit(self, *args: Any, **kwargs: Any) -> None:
        self.settle()
        super().set_autocommit(*args, **kwargs)

    def is_usable(self) -> bool:
        self._forget()
        return bool(super().is_usable())

    def close(self) -> None:
        self._forget()
        super().close()

    def _forget(self) -> None:
        """Nobody will ask for what is under way, nor for what becomes of it."""
        sent, self._sent = self._sent, []
        _lose(sent, OperationalError("The connection was closed before the answer came."))
        with suppress(Error):
            self.settle()


class Batches(Pipeline):
    """psycopg's own pipeline sends every statement and every Sync by itself, waits at a Sync, and tells whoever comes
    next of a failure. Here a batch goes out in one piece, its Sync with it: the database wakes once, no lock outlives
    its statement, and a failure is kept for the cursor that it belongs to."""

    def __init__(self, connection: "Connection[Any]") -> None:
        super().__init__(connection)
        self.command_queue: _Together = _Together()
        self.failures: dict[Any, Exception] = {}
        self._wrong: Exception | None = None
        connection._pipeline = self
        connection.wait(self._enter_gen())

    def send(self) -> None:
        """Send what was executed since the last time, as one transaction."""
        self._conn.wait(self._send_gen())

    def drop(self) -> None:
        """Forget what was executed since the last time."""
        for _command in range(len(self.command_queue)):
            self.result_queue.pop()
        self.command_queue.clear()
        self._conn._prepared.clear()  # it believes that they were prepared

    def arrive(self) -> None:
        """Wait for all answers; the cursors then hold them."""
        self._conn.wait(self._fetch_gen(flush=False))

    def end(self) -> None:
        """Leave the pipeline, when all answers have come."""
        try:
            self.arrive()
        finally:
            self._exit(None)
            self._conn._pipeline = None

    def _send_gen(self) -> Generator[Any, Any, None]:
        self._enqueue_sync()
        self.command_queue.going = True
        try:
            yield from self._communicate_gen()
            yield from finish_sending(self.pgconn)  # more than the socket holds takes several goes
        except BaseException:
            self._conn.close()  # half of a batch went out: nobody could tell which answer is whose
            raise
        finally:
            self.command_queue.going = False

    def _fetch_gen(self, *, flush: bool) -> Generator[Any, Any, None]:  # noqa: ARG002 - a Sync flushes
        if len(
            self.command_queue
        ):  # executed past `send_ahead`, by a cursor older than this pipeline
            yield from self._send_gen()
        yield from super()._fetch_gen(flush=False)

    def _process_results(self, queued: Any, results: Any) -> None:
        if results[0].status == ExecStatus.PIPELINE_SYNC:
            self._wrong = None
            return
        try:
            super()._process_results(queued, results)
        except psycopg.Error as wrong:
            self._wrong = (
                self._wrong or wrong
            )  # what follows in its batch only says that it was aborted
            self._conn._prepared.clear()  # it believes that what follows was prepared
            if queued:
                self.failures[queued[0]] = self._wrong


class _Together(deque[Any]):
    """Commands that are kept back until they go, and then are one."""

    going = False

    def __bool__(self) -> bool:
        return self.going and len(self) > 0

    def popleft(self) -> Callable[[], None]:
        commands = list(self)
        self.clear()

        def together() -> None:
            for command in commands:
                command()

        return together
