"""How often a key may call a tool: counted in PostgreSQL, so that all processes share one count.

One upsert per call does three things: it counts the call, checks that the key is valid, and says whether the key has
changed since this process read it. The table is unlogged: a crash of the database loses at most a minute of counts.
"""

from dataclasses import dataclass, replace

from django.db import connection

from retrieval.errors import RateLimited, Unauthorized
from worlds import keys
from worlds.callers import Caller

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
    """Count one call of `tool`; return the caller as its key is stored now, and what it has left.

    A caller without a key (the site itself) is not limited. Raises `Unauthorized` when the key was revoked or has
    expired, `RateLimited` when the minute is used up.
    """
    key = caller.key
    if key is None:
        return caller, None
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, {"key": key.pk, "tool": tool})
        row = cursor.fetchone()
    if row is None:
        raise Unauthorized(keys.BAD_KEY)
    used, reset, stamp = row
    if stamp != getattr(key, "stamp", None):
        # The key was written since this process read it: its scopes, audience and limit may be others now.
        key = keys.reload_key(key)
        fresh = Caller.with_key(key, request_id=caller.request_id)
        caller = replace(fresh, namespace=caller.namespace or fresh.namespace)
    allowance = Allowance(key.calls_per_minute, used, reset)
    if used > allowance.limit:
        raise RateLimited(
            f"At most {allowance.limit} calls of {tool} a minute: wait {reset} seconds.",
            headers={**allowance.headers, "Retry-After": str(reset)},
        )
    return caller, allowance
