"""What a search answers: hits that say how they were found, and what did not take part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class Leg:
    """What one way of finding says of a passage. `rank` is empty when that leg alone would not have
    brought it."""

    rank: int | None
    score: float | None


@dataclass(frozen=True)
class Hit:
    """A passage with its fused `score` (comparable within one answer only) and what each leg said
    of it."""

    id: UUID
    text: str
    context: str
    metadata: dict[str, Any]
    payload: dict[str, Any]
    language: str
    updated_at: datetime
    score: float
    legs: Mapping[str, Leg]
    match: str
    """exact, alias or fuzzy (found by name), else the leg that ranks it higher: keyword, vector, or
    graph."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The extra columns that the caller asked for."""


@dataclass(frozen=True)
class SearchResult:
    """Hits in order, best first. `degraded` names the legs that could not take part."""

    hits: Sequence[Hit]
    degraded: Sequence[str] = ()
    notices: Sequence[str] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds: `embed`, `sql`, `total`."""
    explain: Mapping[str, Any] | None = None
    """With `explain=True`: words with their counts, legs, settings, near misses."""

    def __iter__(self) -> Any:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)
