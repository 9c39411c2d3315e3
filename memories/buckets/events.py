"""What comes in, and what became of it: plain values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from memories.states import Bucket


@dataclass(frozen=True)
class MemoryEvent:
    """Raw input. `bucket` and `importance` are what the agent says of it; without them the pipeline decides."""

    content: str
    source: str = ""
    subject: str = ""
    speaker: str = ""
    event_at: datetime | None = None
    bucket: Bucket | None = None
    importance: float | None = None
    metadata: dict[str, object] = field(default_factory=dict)


class Result(StrEnum):
    STORED = "stored"
    MERGED = "merged"
    DROPPED = "dropped"


class DropReason(StrEnum):
    """Why an event was dropped."""

    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    NOT_TEXT = "not_text"
    TOO_OFTEN = "rate_limited"
    UNIMPORTANT = "unimportant"


@dataclass(frozen=True)
class Classification:
    """A bucket, how sure that is (0–1), and who says so: rules, model or the event itself."""

    bucket: Bucket
    confidence: float
    by: str
    importance: float | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of one event. `because` is said in words, `reason` by its name; `memory_id` stands for it now."""

    event: MemoryEvent
    result: Result
    reason: DropReason | None = None
    because: str = ""
    memory_id: UUID | None = None
    bucket: Bucket | None = None
    importance: float | None = None
    classification: Classification | None = None


def count_outcomes(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many events each result had; drops by their reason."""
    found: dict[str, int] = {}
    for outcome in outcomes:
        name = outcome.reason.value if outcome.reason else outcome.result.value
        found[name] = found.get(name, 0) + 1
    return found
