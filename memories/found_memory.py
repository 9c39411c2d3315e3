"""The shape of a memory that a search, a listing or a comparison found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from memories.identity import Identity
from memories.models import MemoryItem
from memories.states import Maker
from retrieval.search import Hit, Leg


@dataclass(frozen=True)
class MemorySource:
    """An observation a memory is derived from."""

    id: UUID
    text: str
    source: str
    recorded_at: datetime


@dataclass(frozen=True)
class FoundMemory:
    """`score` ranks the memories of one answer; between nearest memories it is the cosine.

    `now` is the newer memory that contradicts it. `possibly_outdated_by` is one that seems to, for
    the question asked (`memories.search.outdated`): nobody said so, and nothing is hidden for it.
    """

    id: UUID
    text: str
    score: float = 0.0
    relevance: float | None = None
    """The probability that it answers; None where nothing estimated it (a client's vectors)."""
    match: str = ""
    legs: Mapping[str, Leg] = field(default_factory=dict)
    context: str = ""
    speaker: str = ""
    bucket: str = ""
    importance: float = 0.5
    state: str = ""
    timestamp_ms: int = 0
    event_at: datetime | None = None
    sources: Sequence[MemorySource] = ()
    now: UUID | None = None
    possibly_outdated_by: UUID | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    in_world_at: float | None = None
    in_world_label: str = ""
    source: str = ""
    subject: str = ""
    episode: UUID | None = None
    is_turn: bool = False
    is_summary: bool = False
    """An insight by rules: it quotes one of the episodes that it rests on."""

    @property
    def summary_id(self) -> str:
        """The id of the episode that is remembered; empty for other memories."""
        return self.source.removeprefix("episode:") if self.episode else ""

    @property
    def identity(self) -> Identity:
        return Identity.of(speaker=self.speaker, subject=self.subject, metadata=self.metadata)

    @property
    def formerly(self) -> bool:
        return self.now is not None

    @property
    def newer(self) -> UUID | None:
        """The one that is shown before it."""
        return self.now or self.possibly_outdated_by

    @classmethod
    def of_row(cls, item: MemoryItem, hit: Hit | None = None) -> "FoundMemory":
        return cls(
            id=item.pk,
            text=item.text,
            context=item.context,
            speaker=item.speaker,
            bucket=item.bucket,
            state=item.state,
            importance=item.importance,
            timestamp_ms=item.timestamp_ms,
            event_at=item.event_at,
            metadata=item.metadata,
            in_world_at=item.in_world_at,
            in_world_label=item.in_world_label,
            source=item.source,
            subject=item.subject,
            episode=item.episode_id,
            is_turn=item.turn_order is not None,
            is_summary=item.made_by == Maker.RULES and item.payload.get("kind") == "insight",
            score=hit.score if hit else 0.0,
            relevance=hit.relevance if hit else None,
            match=hit.match if hit else "",
            legs=hit.legs if hit else {},
        )
