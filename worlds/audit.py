"""One row per call on every door: it feeds the page "what did the model see".

The row is written before the answer leaves, in one statement, with an asynchronous commit: it survives the death of any
process of ours, and costs no disk flush. A crash of PostgreSQL itself may lose the last half second of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import orjson
from django.conf import settings
from django.db import connection
from django.utils import timezone

from retrieval.ids import uuid7
from worlds.callers import Caller
from worlds.models import AuditedCall

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
BATCH = 10_000


@dataclass
class Call:
    """What is noted of one call. `asked` is kept for reading tools only, each text cut to `LONGEST_ARGUMENT`."""

    tool: str
    door: str
    caller: Caller
    status: int = 200
    code: str = ""
    milliseconds: float = 0.0
    asked: dict[str, Any] = field(default_factory=dict)
    returned: Sequence[str] = ()
    degraded: Sequence[str] = ()


def record(call: Call) -> None:
    """Write the row of `call`. Inside a caller's own transaction it shares that transaction's fate and durability."""
    key = call.caller.key
    values = {
        "commit": "on" if connection.in_atomic_block else "off",
        "id": uuid7(),
        "at": timezone.now(),
        "world": call.caller.world.pk,
        "key": key.pk if key else None,
        "door": call.door,
        "tool": call.tool[:80],
        "audience": str(call.caller.audience)[:120],
        "request_id": call.caller.request_id[:64],
        "asked": _json({name: _short(value) for name, value in call.asked.items()}),
        "returned": _json(list(call.returned)),
        "degraded": _json(list(call.degraded)),
        "status": call.status,
        "code": call.code,
        "milliseconds": call.milliseconds,
    }
    with connection.cursor() as cursor:
        cursor.execute(_WRITE, values)


def forget_old() -> int:
    """Delete calls older than `AUDIT_DAYS` (0: never), a batch a transaction; return how many."""
    horizon, gone = timezone.now() - timedelta(days=settings.AUDIT_DAYS), 0
    while settings.AUDIT_DAYS:
        batch = list(AuditedCall.objects.filter(at__lt=horizon).values_list("pk", flat=True)[:BATCH])
        if not batch:
            break
        gone += AuditedCall.objects.filter(pk__in=batch).delete()[0]
    return gone


def _short(value: Any) -> Any:
    return value[:LONGEST_ARGUMENT] if isinstance(value, str) else value


def _json(value: Any) -> str:
    """PostgreSQL keeps no NUL in JSON, and a caller may send one."""
    return orjson.dumps(value, default=str).decode().replace("\\u0000", "")
