"""How often a key may call a tool: counted in PostgreSQL, so that all processes share one count.

One upsert per call does three things at once: it counts, it tells whether the key still stands, and whether it was
changed since this process read it. The table is unlogged: a crash of the database forgets at most a minute.
"""

from dataclasses import dataclass, replace

from django.db import connection

from retrieval.problems import RateLimited, Unauthorized
from worlds import keys
from worlds.callers import Caller
from worlds.models import ApiKey

_COUNT = """
INSERT INTO worlds_callcount AS counted (key_id, tool, minute, calls)
SELECT id, %(tool)s, date_trunc('minute', clock_timestamp()), 1
FROM worlds_apikey
WHERE id = %(key)s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())
ON CONFLICT (key_id, tool) DO UPDATE SET
    calls = CASE WHEN counted.minute = EXCLUDED.minute THEN counted.calls + 1 ELSE 1 END,
    minute = EXCLUDED.minute
RETURNING calls, 60 - floor(extract(second FROM clock_timestamp()))::int,
    (SELECT xmin::text || ctid::text FROM worlds_apikey WHERE id = key_id)
"""


@dataclass(frozen=True)
class Allowance:
    """What a key has left for one tool in this minute."""

    limit: int
    used: int
    reset: int

    @property
    def headers(self) -> dict[str, str]:
        remaining = max(0, self.limit - self.used)
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(remaining),
            "RateLimit-Reset": str(self.reset),
        }


def admit(caller: Caller, tool: str) -> tuple[Caller, Allowance | None]:
    """Count one call of `tool`; return the caller as its key stands now, and what it has left.

    Raises `Unauthorized` when the key was revoked or has expired, `RateLimited` when the minute is used up. A caller
    without a key (the site itself) is not limited.
    """
    if caller.key is None:
        return caller, None
    used, reset, stamp = _count(caller.key, tool)
    if stamp != getattr(caller.key, "stamp", None):
        caller = _as_it_stands(caller)
    allowance = Allowance(caller.key.calls_per_minute, used, reset)  # type: ignore[union-attr]
    if used > allowance.limit:
        raise RateLimited(
            f"At most {allowance.limit} calls of {tool} a minute: wait {reset} seconds.",
            headers={**allowance.headers, "Retry-After": str(reset)},
        )
    return caller, allowance


def _count(key: ApiKey, tool: str) -> tuple[int, int, str]:
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, {"key": key.pk, "tool": tool})
        row: tuple[int, int, str] | None = cursor.fetchone()
    if row is None:
        raise Unauthorized(keys.BAD_KEY)
    return row


def _as_it_stands(caller: Caller) -> Caller:
    assert caller.key is not None
    fresh = Caller.holding(keys.verify_afresh(caller.key), request_id=caller.request_id)
    return replace(fresh, namespace=caller.namespace or fresh.namespace)
