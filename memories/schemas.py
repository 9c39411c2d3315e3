"""What the REST API of agent memory takes and gives."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from memories.storable import Storable
from memories.tools import MemoryHit
from retrieval.schemas import Day, Share

Text = Annotated[str, Field(min_length=1, max_length=100_000)]
Ids = Annotated[list[UUID], Field(min_length=1, max_length=200)]


class Closed(Storable):
    model_config = ConfigDict(extra="forbid")


class AddIn(Closed):
    """One raw text, which is taken apart, or memories that are apart already."""

    contents: Text | Annotated[list[Text], Field(min_length=1, max_length=200)]
    source: str = Field("", max_length=200)
    subject: str = Field("", max_length=200)
    speaker: str = Field("", max_length=120)
    event_at: datetime | None = None
    in_world_at: Day | None = None
    in_world_label: str = Field("", max_length=120)
    expires_at: datetime | None = None


class AddOut(BaseModel):
    ids: list[UUID]
    superseded: list[UUID]
    confirmed: list[UUID]
    formerly: list[UUID]
    observations: list[UUID]
    state: str
    core_version: int | None = None
    core_proposal: UUID | None = None


class SearchIn(Closed):
    query: str = Field(min_length=1, max_length=8000)
    limit: int = Field(10, ge=1, le=100)
    mode: Literal["hybrid", "vector", "keyword"] | None = None
    as_of: datetime | None = None
    neighbours: Share = 0.0


class SearchOut(BaseModel):
    hits: list[MemoryHit]
    degraded: list[str] = []


class MemoryOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    text: str
    context: str
    bucket: str
    importance: float
    state: str
    made_by: str
    source: str
    subject: str
    speaker: str
    event_at: datetime | None
    expires_at: datetime | None
    timestamp_ms: int
    created_at: datetime


class MemoryPage(BaseModel):
    memories: list[MemoryOut]
    next_cursor: UUID | None = None


class ChangeOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    state: str
    at: datetime
    by: str
    reason: str


class LinkOut(BaseModel):
    kind: str
    older: UUID
    newer: UUID
    in_effect: bool
    reason: str


class ObservationOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    text: str
    source: str
    speaker: str
    recorded_at: datetime


class HistoryOut(BaseModel):
    """A memory with every state it was in, what it replaced or was replaced by, and what it rests on."""

    memory: MemoryOut
    changes: list[ChangeOut]
    links: list[LinkOut]
    observations: list[ObservationOut]


class BesideOut(BaseModel):
    memory: MemoryOut
    similarity: float
    verdict: str
    differs_in: str


class PendingOut(BaseModel):
    memory: MemoryOut
    observations: list[ObservationOut]
    replaces: list[MemoryOut]
    beside: list[BesideOut]


class EditIn(Closed):
    text: Text
    reason: str = Field("", max_length=300)


class SplitIn(Closed):
    texts: Annotated[list[Text], Field(min_length=2, max_length=20)]


class MergeIn(Closed):
    ids: Annotated[list[UUID], Field(min_length=2, max_length=20)]
    text: Text


class DecideIn(Closed):
    ids: Ids
    decision: Literal["approve", "reject"]


class DecidedOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    done: list[UUID]
    failed: dict[str, str]


class CoreOut(BaseModel):
    version: int
    markdown: str


class CoreVersionOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    number: int
    reason: str
    made_by: str
    author: str
    created_at: datetime


class CoreWriteIn(Closed):
    markdown: str = Field(max_length=20_000)
    reason: str = Field("", max_length=300)


class CoreDiffOut(BaseModel):
    lines: list[str]


class ProposalOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    base_number: int
    markdown: str
    reason: str
    problems: list[str]
    verdict: str


class ReasonIn(Closed):
    reason: str = Field("", max_length=300)


class EraseIn(Closed):
    """What to erase for good: a memory by id, or everything from a source or about a subject, or the namespace."""

    scope: Literal["memory", "source", "subject", "namespace"]
    target: str = Field("", max_length=200)
    reason: str = Field("", max_length=300)


class ReceiptOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    scope: str
    counts: dict[str, Any]
    leftovers: list[str]
    verified_at: datetime | None
    is_clean: bool


class MessageIn(Closed):
    text: Text
    role: str = Field("user", max_length=20)
    speaker: str = Field("", max_length=120)
    conversation: str = Field("", max_length=120)
    said_at: datetime | None = None


class MessageOut(BaseModel):
    id: UUID


class HealthOut(BaseModel):
    counts: dict[str, int]
    trend: list[dict[str, Any]]
