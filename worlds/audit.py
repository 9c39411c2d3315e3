"""The audit: one row per call, over every interface. It feeds the page "what did the model see".

The answer does not wait for its row: a thread writes the rows of each 50 ms in one batch
(docs/decisions/0035). A process that is stopped writes what is queued; one that is killed loses
that much, and a crash of PostgreSQL the last half second.
"""

import atexit
import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from queue import Empty, SimpleQueue
from time import sleep
from typing import Any, Generic, TypeVar

import orjson
from django.conf import settings
from django.db import connection
from django.utils import timezone

from retrieval.models import uuid7
from worlds.callers import Caller
from worlds.models import AuditedCall

logger = logging.getLogger(__name__)
MAX_WAITING = 10_000
"""Rows in the queue. Beyond that the database is too slow, and whoever adds a row writes it and
waits."""

Row = TypeVar("Row")


class WriteBehind(Generic[Row]):
    """Calls `write` with the rows added within `seconds`. If a batch fails, it is written row by
    row, so that one bad row costs no other; a row that cannot be written is logged with the text of
    `describe`."""

    def __init__(
        self,
        write: Callable[[Sequence[Row]], None],
        *,
        seconds: float,
        describe: Callable[[Row], str] = str,
    ) -> None:
        self.write, self.seconds, self.describe = write, seconds, describe
        self.queue = SimpleQueue[Row]()
        # The thread waits for this and not at the queue, from which it would have to take a row:
        # `flush` in another thread would return before that row is written.
        self.has_rows = threading.Event()
        self.write_lock, self.start_lock = threading.Lock(), threading.Lock()
        self.pid = 0

    def add(self, row: Row) -> None:
        """Queue `row`; raises what `write` raises only where too many rows wait."""
        if self.queue.qsize() >= MAX_WAITING:
            self.write([row])
            return
        if self.pid != os.getpid():
            self.start()
        self.queue.put(row)
        self.has_rows.set()

    def start(self) -> None:
        """Start the thread of this process; a forked process has none of its parent's threads."""
        with self.start_lock:
            if self.pid != os.getpid():
                self.has_rows = threading.Event()  # the parent may have held the lock of its own
                self.pid = os.getpid()
                threading.Thread(target=self.run, name="write-behind", daemon=True).start()
                atexit.register(self.flush)

    def run(self) -> None:
        while True:
            self.has_rows.wait()
            self.has_rows.clear()
            sleep(self.seconds)
            try:
                self.flush()
                connection.close()
            except Exception:  # the thread must go on: without it no row would be written any more
                logger.exception("The thread that writes batches failed; it goes on")

    def flush(self) -> None:
        """Write what is queued, and return when it is written."""
        # The lock makes a second caller wait until the rows that the first one took are written.
        with self.write_lock:
            rows: list[Row] = []
            try:
                while True:
                    rows.append(self.queue.get_nowait())
            except Empty:
                pass
            if rows:
                self.write_batch(rows)

    def write_batch(self, rows: list[Row]) -> None:
        try:
            self.write(rows)
        except Exception:
            for row in rows:  # one by one shows which row is at fault
                try:
                    self.write([row])
                except Exception:
                    logger.exception("%s was not written", self.describe(row))


# Asynchronous commit: an audit row may be lost in a crash, and its call need not wait for the disk.
# The world is locked before the key, as the deletion of a world does it: the foreign key of the row
# would lock it at the commit, and each would wait for the other. Of a deleted world nothing is
# written.
INSERT_CALL = """
WITH quick AS (SELECT set_config('synchronous_commit', %(commit)s, true)),
world AS (SELECT id FROM worlds_world WHERE id = %(world)s FOR KEY SHARE),
used AS (
    UPDATE worlds_apikey SET last_used_at = %(at)s FROM world
    WHERE worlds_apikey.id = %(key)s
        AND (last_used_at IS NULL OR last_used_at < %(at)s - interval '1 minute')
)
INSERT INTO worlds_auditedcall (id, at, world_id, key_id, door, tool, audience, request_id,
    asked, returned, degraded, status, code, milliseconds)
SELECT %(id)s, %(at)s, world.id, %(key)s, %(door)s, %(tool)s, %(audience)s,
    %(request_id)s, %(asked)s::jsonb, %(returned)s::jsonb, %(degraded)s::jsonb,
    %(status)s, %(code)s, %(milliseconds)s
FROM quick, world
"""
MAX_ARGUMENT_CHARS = 500
BATCH_SECONDS = 0.05
DELETE_BATCH = 10_000


@dataclass
class Call:
    """What the audit stores of one call. `arguments` are kept for reading tools only, each text cut
    to `MAX_ARGUMENT_CHARS`; they and `row_ids` are functions, which the writing thread calls."""

    tool: str
    via: str
    """The interface: rest, mcp, openai, python."""
    caller: Caller
    status: int = 200
    code: str = ""
    milliseconds: float = 0.0
    arguments: Callable[[], Mapping[str, Any]] = dict
    row_ids: Callable[[], Sequence[str]] = tuple
    degraded: Sequence[str] = ()
    ended_at: datetime = field(default_factory=timezone.now)
    synchronous_commit: bool = False


def record(call: Call) -> None:
    """Queue the row of `call`, which has just ended. Inside the caller's own transaction it is
    written at once, so that both are committed or neither."""
    call.ended_at = timezone.now()
    call.synchronous_commit = connection.in_atomic_block
    if call.synchronous_commit:
        write_calls([call])
    else:
        write_behind.add(call)


def wait_until_written() -> None:
    """Return when the row of every call that was answered before is written, by whichever
    process.
    """
    write_behind.flush()
    sleep(2 * BATCH_SECONDS)


def flush() -> None:
    """Write what this process has queued."""
    write_behind.flush()


def write_calls(calls: Sequence[Call]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(INSERT_CALL, [to_row(call) for call in calls])


def to_row(call: Call) -> dict[str, Any]:
    arguments = {
        name: value[:MAX_ARGUMENT_CHARS] if isinstance(value, str) else value
        for name, value in call.arguments().items()
    }
    return {
        "commit": "on" if call.synchronous_commit else "off",
        "id": uuid7(),
        "at": call.ended_at,
        "world": call.caller.world.pk,
        "key": call.caller.key.pk if call.caller.key else None,
        "door": call.via,
        "tool": call.tool[:80],
        "audience": str(call.caller.audience)[:120],
        "request_id": call.caller.request_id[:64],
        "asked": to_json(arguments),
        "returned": to_json(list(call.row_ids())),
        "degraded": to_json(list(call.degraded)),
        "status": call.status,
        "code": call.code,
        "milliseconds": call.milliseconds,
    }


def to_json(value: Any) -> str:
    # A caller may send NUL, which PostgreSQL cannot store in JSON.
    return orjson.dumps(value, default=str).decode().replace("\\u0000", "")


def describe(call: Call) -> str:
    return f"The audit of a call of {call.tool[:80]} (request {call.caller.request_id[:64]})"


write_behind = WriteBehind(write_calls, seconds=BATCH_SECONDS, describe=describe)


def delete_old_calls() -> int:
    """Delete calls older than `AUDIT_DAYS` (0: never), one batch per transaction; return how
    many.
    """
    horizon, count = timezone.now() - timedelta(days=settings.AUDIT_DAYS), 0
    while settings.AUDIT_DAYS:
        old = AuditedCall.objects.filter(at__lt=horizon).values_list("pk", flat=True)
        batch = list(old[:DELETE_BATCH])
        if not batch:
            break
        count += AuditedCall.objects.filter(pk__in=batch).delete()[0]
    return count
