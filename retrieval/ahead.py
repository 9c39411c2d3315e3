"""Statements sent before their rows are needed: the database works on them while Python goes on.

A wait for the database costs two changes of process beside the work itself, and a call of a tool asks two small things
before it searches. What is sent ahead travels in a pipeline; whoever wants the rows, or a cursor for anything else on
the same connection, waits for all of it (docs/decisions/0037).
"""

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any, cast

from django.db import DatabaseError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import Connection, Pipeline
from psycopg.generators import send as finish_sending

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
        """Wait for the rows; raises what the database has to say, or what a `then` refuses."""
        if self.found is None and self.failure is None and isinstance(self.link, SendsAhead):
            self.link.arrive()
        if self.failure:
            raise self.failure
        self._say()
        return cast(Found, self.found)

    @property
    def columns(self) -> Any:
        """The description of the columns (PEP 249) of rows that have come."""
        return self.cursor.description

    def take(self) -> None:
        """Read the rows, which have come."""
        with self.link.wrap_database_errors:
            self.found = self.cursor.fetchall()

    def _say(self) -> None:
        then, self.then = self.then, None
        if then:
            then(cast(Found, self.found))


def send(db: str, *statements: Statement, then: Then | None = None) -> Sent:
    """Send `statements`, a transaction of their own, and do not wait: what the first one sets for the transaction holds
    for the next and no longer. `then` is given the rows of the last as soon as anybody waits for any, and may refuse
    by raising: what was to come after is not done.

    Inside a transaction they are run at once, several of them as a savepoint, and `then` is heard when these rows are
    asked for. So it is where somebody watches the statements.
    """
    link = connections[db]
    watched = link.execute_wrappers or link.queries_logged
    if isinstance(link, SendsAhead) and not link.in_atomic_block and not watched:
        return link.send_ahead(statements, then)
    link.ensure_connection()
    with ExitStack() as together:
        if len(statements) > 1:
            together.enter_context(transaction.atomic(db) if link.in_atomic_block else nullcontext())
            together.enter_context(link.wrap_database_errors)
            together.enter_context(link.connection.pipeline())
        for text, values in statements:
            cursor = link.cursor()
            cursor.execute(text, values)
    sent = Sent(link, cursor, then)
    sent.take()
    return sent


class SendsAhead(BaseDatabaseWrapper):
    """A database backend over psycopg that can send ahead."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sent: list[Sent] = []
        self._batches: Batches | None = None

    def send_ahead(self, statements: tuple[Statement, ...], then: Then | None) -> Sent:
        """What `send` does outside a transaction."""
        self.ensure_connection()
        with self.wrap_database_errors:
            batches = self._batches = self._batches or Batches(self.connection)
            try:
                for text, values in statements:
                    cursor = self.connection.cursor()  # Django's would take as long as sending a small statement
                    cursor.execute(text, values)
            finally:  # also what a faulty statement leaves behind: answers are counted
                batches.send()
        sent = Sent(self, cursor, then)
        self._sent.append(sent)
        return sent

    def arrive(self) -> None:
        """Wait for what was sent ahead, and hear each `then`, in their order."""
        sent, self._sent = self._sent, []
        try:
            if self._batches:
                with self.wrap_database_errors:
                    self._batches.arrive()
            for one in sent:
                one.take()
        except DatabaseError as failure:
            for one in sent:
                one.failure = failure
            raise
        for one in sent:
            one._say()

    @property
    def has_sent(self) -> bool:
        """Whether anything is under way."""
        return bool(self._sent)

    def settle(self) -> None:
        """The same; then the connection is one like any other."""
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
        return super().chunked_cursor()

    def set_autocommit(self, *args: Any, **kwargs: Any) -> None:
        self.settle()
        super().set_autocommit(*args, **kwargs)

    def is_usable(self) -> bool:
        try:
            self.settle()
        except DatabaseError:
            return False
        return bool(super().is_usable())

    def close(self) -> None:
        self._sent = []  # nobody will ask for it any more
        try:
            self.settle()
        except DatabaseError:
            pass  # nor for what became of it
        finally:
            super().close()


class Batches(Pipeline):
    """psycopg's own pipeline sends every statement and every Sync by itself, and waits at a Sync. Here a batch goes out
    in one piece, its Sync with it: the database wakes once, and no lock outlives its statement."""

    def __init__(self, connection: "Connection[Any]") -> None:
        super().__init__(connection)
        self.command_queue: _Together = _Together()
        connection._pipeline = self
        connection.wait(self._enter_gen())

    def send(self) -> None:
        """Send what was executed since the last time, as one transaction."""
        self._enqueue_sync()
        self.command_queue.going = True
        try:
            self._conn.wait(self._communicate_gen())
            self._conn.wait(finish_sending(self.pgconn))
        finally:
            self.command_queue.going = False

    def arrive(self) -> None:
        """Wait for all answers; the cursors then hold them."""
        if len(self.command_queue):  # executed past `send_ahead`: an answer is waited for only if it was asked
            self.send()
        self._conn.wait(self._fetch_gen(flush=False))

    def end(self) -> None:
        """Leave the pipeline, when all answers have come."""
        try:
            self.arrive()
        finally:
            self._exit(None)
            self._conn._pipeline = None


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
