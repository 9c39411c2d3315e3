"""The gate before the pipeline: events too short, too long or too many for one namespace do not come in."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from django.conf import settings
from django.db import connection

from memories.buckets.events import DropReason, MemoryEvent, Outcome, Result
from memories.models import Namespace
from memories.storable import flaw

MIN_CHARACTERS, MAX_CHARACTERS = 10, 20_000

TAKE_TOKENS = """
INSERT INTO memories_eventallowance AS held (namespace_id, tokens, passed, filled_at)
VALUES (%(namespace)s, %(burst)s - LEAST(%(wanted)s, %(burst)s::int), LEAST(%(wanted)s, %(burst)s::int),
        clock_timestamp())
ON CONFLICT (namespace_id) DO UPDATE SET
    passed = LEAST(%(wanted)s, floor(LEAST(%(burst)s, held.tokens + %(rate)s * GREATEST(0,
             extract(epoch FROM clock_timestamp() - held.filled_at))))::int),
    tokens = LEAST(%(burst)s, held.tokens + %(rate)s * GREATEST(0, extract(epoch FROM clock_timestamp()
             - held.filled_at))) - LEAST(%(wanted)s, floor(LEAST(%(burst)s, held.tokens + %(rate)s * GREATEST(0,
             extract(epoch FROM clock_timestamp() - held.filled_at))))::int),
    filled_at = clock_timestamp()
RETURNING passed
"""


class Gate(Protocol):
    """Lets some of `wanted` events pass now; returns how many."""

    def admit(self, wanted: int) -> int: ...


class OpenGate:
    """Lets everything pass."""

    def admit(self, wanted: int) -> int:
        return wanted


@dataclass
class TokenBucket:
    """`burst` events at once, refilled at `per_second`; for one process."""

    per_second: float
    burst: float
    clock: Callable[[], float] = time.monotonic
    tokens: float = field(init=False)
    filled_at: float = field(init=False)

    def __post_init__(self) -> None:
        self.tokens, self.filled_at = self.burst, self.clock()

    def admit(self, wanted: int) -> int:
        now = self.clock()
        self.tokens = min(
            self.burst, self.tokens + max(0.0, now - self.filled_at) * self.per_second
        )
        self.filled_at = now
        passed = min(wanted, int(self.tokens))
        self.tokens -= passed
        return passed


@dataclass(frozen=True)
class SharedTokenBucket:
    """One bucket per namespace for all processes, held in the database (its row is locked for one statement)."""

    namespace: Namespace
    per_second: float = field(default_factory=lambda: settings.MEMORY_EVENTS_PER_SECOND)
    burst: float = field(default_factory=lambda: settings.MEMORY_EVENTS_BURST)

    def admit(self, wanted: int) -> int:
        values: dict[str, Any] = {
            "namespace": self.namespace.pk,
            "wanted": wanted,
            "rate": self.per_second,
            "burst": self.burst,
        }
        with connection.cursor() as cursor:
            cursor.execute(TAKE_TOKENS, values)
            return int(cursor.fetchone()[0])


def refusal(event: MemoryEvent) -> Outcome | None:
    """Why an event does not come in because of its text, or None."""
    if not isinstance(event.content, str) or flaw(event.content):
        return drop_event(
            event, DropReason.NOT_TEXT, "The content is not a text that can be stored."
        )
    length = len(event.content.strip())
    if length < MIN_CHARACTERS:
        return drop_event(
            event,
            DropReason.TOO_SHORT,
            f"{length} characters; the shortest memory has {MIN_CHARACTERS}.",
        )
    if length > MAX_CHARACTERS:
        return drop_event(
            event,
            DropReason.TOO_LONG,
            f"{length} characters; the longest memory has {MAX_CHARACTERS}.",
        )
    return None


def admitted(events: Sequence[MemoryEvent], gate: Gate) -> dict[int, Outcome]:
    """Return the outcome of each event that does not come in, by its position."""
    refused = {
        position: outcome for position, event in enumerate(events) if (outcome := refusal(event))
    }
    waiting = [position for position in range(len(events)) if position not in refused]
    passed = gate.admit(len(waiting)) if waiting else 0
    too_many = {
        position: drop_event(
            events[position],
            DropReason.TOO_OFTEN,
            "Too many events for this namespace: send it later.",
        )
        for position in waiting[passed:]
    }
    return refused | too_many


def drop_event(event: MemoryEvent, reason: DropReason, because: str) -> Outcome:
    return Outcome(event, Result.DROPPED, reason, because)
