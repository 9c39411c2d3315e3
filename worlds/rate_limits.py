"""How often a key may call a tool: counted in PostgreSQL, so that all processes share one count.

One upsert per call does three things at once: it counts, it tells whether the key still stands, and whether it was
changed since this process read it. The table is unlogged: a crash of the database forgets at most a minute.
"""

from dataclasses import dataclass, replace

from django.db import DEFAULT_DB_ALIAS

from retrieval.ahead import Found, Sent, send
from retrieval.errors import RateLimited, Unauthorized
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


class Reconsider(Exception):
    """The count came back, and the call cannot go on as it began: ask `Admission.granted`."""


class Admission:
    """One call of `tool`, being counted. Whoever only reads need not wait: the first answer of the database that it
    waits for brings the count, and raises `Reconsider` where that changes anything. A caller without a key (the site
    itself) is not limited."""

    def __init__(self, caller: Caller, tool: str) -> None:
        self._caller, self._tool, self._renewed = caller, tool, False
        self._count = self._counting(caller.key, tool) if caller.key else None

    def granted(self) -> tuple[Caller, Allowance | None]:
        """Wait for the count; return the caller as its key stands now, and what it has left.

        Raises `Unauthorized` when the key was revoked or has expired, `RateLimited` when the minute is used up.
        """
        if self._count is None:
            return self._caller, None
        try:
            rows = self._count.rows()
        except Reconsider:  # heard here first, and but once
            rows = self._count.rows()
        if not rows:
            raise Unauthorized(keys.BAD_KEY)
        if self._is_changed(rows) and not self._renewed:
            self._caller, self._renewed = _as_it_stands(self._caller), True
        return self._caller, self._allowed(rows)

    @property
    def is_under_way(self) -> bool:
        """Whether the count will be heard with the first answer of the database. It is not inside a transaction."""
        return self._count is not None and self._count.is_under_way

    def _counting(self, key: ApiKey, tool: str) -> Sent:
        return send(DEFAULT_DB_ALIAS, (_COUNT, {"key": key.pk, "tool": tool}), then=self._look)

    def _look(self, rows: Found) -> None:
        if not rows or self._is_changed(rows) or rows[0][0] > self._key.calls_per_minute:
            raise Reconsider

    @property
    def _key(self) -> ApiKey:
        assert self._caller.key is not None
        return self._caller.key

    def _is_changed(self, rows: Found) -> bool:
        """Whether the key was written since this process read it."""
        return bool(rows[0][2] != getattr(self._key, "stamp", None))

    def _allowed(self, rows: Found) -> Allowance:
        used, reset, _stamp = rows[0]
        allowance = Allowance(self._key.calls_per_minute, used, reset)
        if used > allowance.limit:
            raise RateLimited(
                f"At most {allowance.limit} calls of {self._tool} a minute: wait {reset} seconds.",
                headers={**allowance.headers, "Retry-After": str(reset)},
            )
        return allowance


def admit(caller: Caller, tool: str) -> tuple[Caller, Allowance | None]:
    """Count one call of `tool` and wait for it; returns and raises as `Admission.granted`."""
    return Admission(caller, tool).granted()


def _as_it_stands(caller: Caller) -> Caller:
    assert caller.key is not None
    fresh = Caller.holding(keys.verify_afresh(caller.key), request_id=caller.request_id)
    return replace(fresh, namespace=caller.namespace or fresh.namespace)
