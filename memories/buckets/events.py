"""An event for the buckets and its outcome: plain values."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from math import isfinite
from uuid import UUID

from memories.states import Bucket
from retrieval.errors import Invalid


@dataclass(frozen=True)
class MemoryEvent:
    """Raw input. Without a `bucket` or an `importance` (0–1) the pipeline decides."""

    content: str
    source: str = ""
    subject: str = ""
    speaker: str = ""
    event_at: datetime | None = None
    bucket: Bucket | None = None
    importance: float | None = None
    metadata: dict[str, object] = field(default_factory=dict)
    scope: str = ""
    tags: Sequence[str] = ()
    key: str = ""
    names: Sequence[str] = ()
    resolved: bool | None = None
    supersedes: Sequence[UUID] = ()
    expires_at: datetime | None = None


class Result(StrEnum):
    STORED = "stored"
    MERGED = "merged"
    DROPPED = "dropped"


class DropReason(StrEnum):
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    NOT_TEXT = "not_text"
    TOO_OFTEN = "rate_limited"
    UNIMPORTANT = "unimportant"


@dataclass(frozen=True)
class Classification:
    """A bucket, the confidence in it (0–1), and who chose it: rules, model or the event itself."""

    bucket: Bucket
    confidence: float
    by: str
    importance: float | None = None


@dataclass(frozen=True)
class Outcome:
    """The result for one event. `because` explains it in words; `memory_id` is the memory that
    now holds the event's content, and `waiting` says that a person has to approve it."""

    event: MemoryEvent
    result: Result
    reason: DropReason | None = None
    because: str = ""
    memory_id: UUID | None = None
    bucket: Bucket | None = None
    importance: float | None = None
    classification: Classification | None = None
    waiting: bool = False


def count_outcomes(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Return the number of events by result; dropped ones by their reason."""
    return dict(Counter(str(outcome.reason or outcome.result) for outcome in outcomes))


def check_importance(importance: float) -> float:
    """Return `importance` as a float; raise `Invalid` for anything outside 0–1."""
    # bool is an int in Python, and True would otherwise pass as 1.0.
    if isinstance(importance, bool) or not isfinite(importance) or not 0 <= importance <= 1:
        raise Invalid(f"importance is a number from 0 to 1, not {importance!r}.")
    return float(importance)
