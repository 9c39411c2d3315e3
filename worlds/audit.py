"""One row per call on every door: it feeds the page "what did the model see".

The answer does not wait for its row: a thread gathers the rows of a twentieth of a second and writes them together
(docs/decisions/0035). A process that is stopped writes what it has gathered; one that is killed loses that much, and a
crash of PostgreSQL the last half second.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import sleep
from typing import Any

import orjson
from django.conf import settings
from django.db import connection
from django.utils import timezone

from retrieval.models import uuid7
from worlds.callers import Caller
from worlds.models import AuditedCall
from worlds.write_behind import WriteBehind

_WRITE = """
WITH quick AS (SELECT set_config('synchronous_commit', %(commit)s, true)),
used AS (
    UPDATE worlds_apikey SET last_used_at = %(at)s
    WHERE id = %(key)s AND (last_used_at IS NULL OR last_used_at < %(at)s - interval '1 minute')
)
INSERT INTO worlds_auditedcall (id, at, world_id, key_id, door, tool, audience, request_id, asked, returned, degraded,
    status, code, milliseconds)
SELECT %(id)s, %(at)s, %(world)s, %(key)s, %(door)s, %(tool)s, %(audience)s, %(request_id)s, %(asked)s::jsonb,
    %(returned)s::jsonb, %(degraded)s::jsonb, %(status)s, %(code)s, %(milliseconds)s
FROM quick
"""
LONGEST_ARGUMENT = 500
GATHERED_SECONDS = 0.05
BATCH = 10_000


@dataclass
class Call:
    """What is noted of one call. `asked` is kept for reading tools only, each text cut to `LONGEST_ARGUMENT`. What may
    be made of the question and the answer while nobody waits is given as a function."""

    tool: str
    via: str
    caller: Caller
    status: int = 200
    code: str = ""
    milliseconds: float = 0.0
    arguments: Callable[[], Mapping[str, Any]] = dict
    row_ids: Callable[[], Sequence[str]] = tuple
    degraded: Sequence[str] = ()


@dataclass(frozen=True)
class Noted:
    """A call and when it ended. `durable`: within a transaction, whose commit waits for the disk."""

    call: Call
    at: datetime
    durable: bool


def record(call: Call) -> None:
    """Note `call`. Inside a caller's own transaction its row is written at once, to share the transaction's fate."""
    noted = Noted(call, timezone.now(), durable=connection.in_atomic_block)
    if noted.durable:
        _write([noted])
    else:
        _gathering.add(noted)


def wait_until_written() -> None:
    """Return when the row of every call that was answered before is written, by whichever process."""
    _gathering.flush()
    sleep(2 * GATHERED_SECONDS)


def flush() -> None:
    """Write what this process has gathered."""
    _gathering.flush()


def _values(noted: Noted) -> dict[str, Any]:
    call, key = noted.call, noted.call.caller.key
    return {
        "commit": "on" if noted.durable else "off",
        "id": uuid7(),
        "at": noted.at,
        "world": call.caller.world.pk,
        "key": key.pk if key else None,
        "door": call.via,
        "tool": call.tool[:80],
        "audience": str(call.caller.audience)[:120],
        "request_id": call.caller.request_id[:64],
        "asked": _json({name: _short(value) for name, value in call.arguments().items()}),
        "returned": _json(list(call.row_ids())),
        "degraded": _json(list(call.degraded)),
        "status": call.status,
        "code": call.code,
        "milliseconds": call.milliseconds,
    }


def _write(calls: Sequence[Noted]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(_WRITE, [_values(noted) for noted in calls])


def _told(noted: Noted) -> str:
    return f"The audit of a call of {noted.call.tool[:80]} (request {noted.call.caller.request_id[:64]})"


_gathering = WriteBehind(_write, seconds=GATHERED_SECONDS, tell=_told)


def delete_old_calls() -> int:
    """Delete calls older than `AUDIT_DAYS` (0: never), a batch a transaction; return how many."""
    horizon, gone = timezone.now() - timedelta(days=settings.AUDIT_DAYS), 0
    while settings.AUDIT_DAYS:
        batch = list(
            AuditedCall.objects.filter(at__lt=horizon).values_list("pk", flat=True)[:BATCH]
        )
        if not batch:
            break
        gone += AuditedCall.objects.filter(pk__in=batch).delete()[0]
    return gone


def _short(value: Any) -> Any:
    return value[:LONGEST_ARGUMENT] if isinstance(value, str) else value


def _json(value: Any) -> str:
    """PostgreSQL keeps no NUL in JSON, and a caller may send one."""
    return orjson.dumps(value, default=str).decode().replace("\\u0000", "")
