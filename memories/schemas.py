"""Request and response bodies of the agent memory's REST API, and the hits that its tools share."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from memories.search.filters import MemoryFilter
from memories.search.relevant import MENTIONS
from memories.states import Bucket
from retrieval.text import require_storable_text
from worlds.base_schemas import Day, Share, StrictModel

Text = Annotated[str, Field(min_length=1, max_length=100_000)]
Label = Annotated[str, Field(min_length=1, max_length=120)]
Ids = Annotated[list[UUID], Field(min_length=1, max_length=200)]


class AgentRequest(StrictModel):
    """Base of all requests: refuses unknown fields and texts that PostgreSQL cannot store."""

    @field_validator("*", mode="after")
    @classmethod
    def check_storable(cls, value: Any, info: ValidationInfo) -> Any:
        for text in texts_in(value):
            require_storable_text(text, info.field_name or "text")
        return value


def texts_in(value: Any) -> Iterator[str]:
    """Yield each text in a JSON value, names of fields too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from texts_in([*value, *value.values()])
    elif isinstance(value, list):
        for part in value:
            yield from texts_in(part)


class RowOut(BaseModel):
    """Base of responses that are read from the attributes of a row or a dataclass."""

    model_config = ConfigDict(from_attributes=True)


class ReasonIn(AgentRequest):
    reason: str = Field("", max_length=300)


# --- add and search


class SourceIn(AgentRequest):
    """Where a content comes from, what it is about, who said it and when it happened."""

    source: str = Field("", max_length=200)
    subject: str = Field("", max_length=200)
    speaker: str = Field("", max_length=120)
    event_at: datetime | None = None


class LabelsIn(AgentRequest):
    """How a memory is labelled, and what it replaces."""

    scope: str = Field("", max_length=120, description="A part of the memory, such as a project.")
    tags: Annotated[list[Label], Field(max_length=20)] = []
    key: str = Field(
        "", max_length=200, description="Your name for what it states: replaces that with this key."
    )
    names: Annotated[
        list[Label],
        Field(
            max_length=50, description="Names and aliases of what it is about: keys of their own."
        ),
    ] = []
    supersedes: Annotated[
        list[UUID], Field(max_length=50, description="Memories in use that it replaces.")
    ] = []
    resolved: bool | None = Field(None, description="Whether what it states is settled.")
    metadata: dict[str, Any] = Field({}, description="Any values, to filter by.")
    expires_at: datetime | None = Field(None, description="From then on it is not found.")


class FilterIn(AgentRequest):
    """What a memory has to fit: everything that is given."""

    buckets: list[Bucket] = Field([], description="One of these.")
    source: str = Field("", max_length=200)
    subject: str = Field("", max_length=200)
    speaker: str = Field("", max_length=120)
    scope: str = Field("", max_length=120, description="Exactly this one.")
    tags: Annotated[list[Label], Field(max_length=20, description="All of them.")] = []
    metadata: dict[str, Any] = Field({}, description="These values, also within others.")
    resolved: bool | None = Field(None, description="Only what is settled, or what is not.")
    after: datetime | None = Field(None, description="Happened at or after.")
    before: datetime | None = Field(None, description="Happened before.")

    def filter(self) -> MemoryFilter:
        return MemoryFilter(**self.model_dump())


class AddIn(SourceIn, LabelsIn):
    """One raw text, which is split into facts, or a list of facts."""

    contents: Text | Annotated[list[Text], Field(min_length=1, max_length=200)]
    in_world_at: Day | None = None
    in_world_label: str = Field("", max_length=120)
    bucket: Bucket | None = Field(None, description="By rules if not given.")
    importance: Share | None = Field(None, description="By rules if not given.")


class AddOut(BaseModel):
    ids: list[UUID]
    superseded: list[UUID]
    confirmed: list[UUID]
    formerly: list[UUID]
    observations: list[UUID]
    state: str
    core_version: int | None = None
    core_proposal: UUID | None = None


class SearchIn(AgentRequest):
    query: str = Field(min_length=1, max_length=8000)
    limit: int = Field(10, ge=1, le=100)
    mode: Literal["hybrid", "keyword", "vector"] | None = None
    as_of: datetime | None = None
    neighbours: Share = 0.0
    rerank: Literal["off", "fast", "careful"] | None = None
    least: Share = Field(0.0, description="Leave out memories of less relevance.")
    share: Share = Field(
        MENTIONS,
        description="Leave out memories of less than this share of the best one's relevance.",
    )
    former: bool = Field(True, description="Show former memories too, marked.")
    where: FilterIn = Field(FilterIn(), description="Only memories that fit this.")


class BucketHit(BaseModel):
    """A memory that was found. `formerly` is true when the newer memory `now` contradicts it. What
    an NPC was told has who told it, and how sure that one was."""

    id: str
    text: str
    bucket: str
    score: float
    formerly: bool = False
    now: str | None = None
    possibly_outdated_by: str | None = Field(
        None, description="A newer memory that seems to say what holds now."
    )
    in_world_label: str = ""
    heard_from: str = ""
    sureness: float | None = None


class MemoryHit(BucketHit):
    """A memory that was found, with how and from what."""

    relevance: float | None = Field(None, description="Probability that it answers, 0 to 1.")
    match: str
    context: str = ""
    recorded_ms: int
    event_at: datetime | None = None
    sources: list[str] = Field([], description="Texts of the observations it is derived from.")
    summary_id: str = Field("", description="The episode that is remembered.")
    metadata: dict[str, Any] = Field({}, description="As it was given, with scope, tags and key.")


class SearchOut(BaseModel):
    hits: list[MemoryHit]
    degraded: list[str] = []


# --- memories and their history


class MemoryOut(RowOut):
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
    next_cursor: str | None = None


class ChangeOut(RowOut):
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


class ObservationOut(RowOut):
    id: UUID
    text: str
    source: str
    speaker: str
    recorded_at: datetime


class HistoryOut(BaseModel):
    """A memory with its state changes, its successions in both directions, and its observations."""

    memory: MemoryOut
    changes: list[ChangeOut]
    links: list[LinkOut]
    observations: list[ObservationOut]


# --- review


class NearMemoryOut(RowOut):
    memory: MemoryOut
    similarity: float
    verdict: str
    differs_in: str


class PendingOut(BaseModel):
    memory: MemoryOut
    observations: list[ObservationOut]
    replaces: list[MemoryOut]
    beside: list[NearMemoryOut]


class EditIn(ReasonIn):
    text: Text


class SplitIn(AgentRequest):
    texts: Annotated[list[Text], Field(min_length=2, max_length=20)]


class MergeIn(AgentRequest):
    ids: Annotated[list[UUID], Field(min_length=2, max_length=20)]
    text: Text


class ReviewDecisionIn(AgentRequest):
    ids: Ids
    decision: Literal["approve", "reject"]


class ReviewResultOut(RowOut):
    done: list[UUID]
    failed: dict[str, str]


class MergedOut(RowOut):
    """`older` was replaced by `newer`, which says the same by the rules. `similarity` is the cosine
    of their vectors, or null while one has none."""

    id: UUID
    older: MemoryOut
    newer: MemoryOut
    similarity: float | None


# --- core memory


class CoreOut(BaseModel):
    version: int
    markdown: str


class LineMemoryOut(RowOut):
    """A memory that a line of the core memory comes from, and its episode if it is of one."""

    id: UUID
    text: str
    source: str
    created_at: datetime
    episode_id: UUID | None


class CoreLineOut(RowOut):
    """`retracted`: how many of the memories it came from were deleted or are no longer in use.
    `id` is null for a line from before its evidence was recorded."""

    id: UUID | None
    section: str = Field(description="The section of the core memory.")
    text: str
    memories: list[LineMemoryOut]
    retracted: int = Field(description="How many other memories of it are gone.")


class CoreVersionOut(RowOut):
    number: int
    reason: str
    made_by: str
    author: str
    created_at: datetime


class CoreWriteIn(ReasonIn):
    markdown: str = Field(max_length=20_000)


class CoreDiffOut(BaseModel):
    lines: list[str]


class CoreProposalOut(RowOut):
    id: UUID
    base_number: int
    markdown: str
    reason: str
    problems: list[str]
    verdict: str


# --- deletion, messages, health


class EraseIn(ReasonIn):
    """Delete a memory by id, all data from a source or about a subject, or the whole namespace."""

    scope: Literal["memory", "source", "subject", "namespace"]
    target: str = Field("", max_length=200)
    also: list[UUID] = Field(
        [],
        max_length=500,
        description="Ids of further memories, such as those of `/memory/mentions`.",
    )


class ReceiptOut(RowOut):
    id: UUID
    scope: str
    counts: dict[str, Any]
    leftovers: list[str]
    verified_at: datetime | None
    is_clean: bool


class MessageIn(AgentRequest):
    text: Text
    role: str = Field("user", max_length=20)
    speaker: str = Field("", max_length=120)
    conversation: str = Field("", max_length=120)
    said_at: datetime | None = None


class MessageOut(BaseModel):
    id: UUID


class AgentOut(BaseModel):
    """An agent's memory: whose it is, and what waits for approval."""

    namespace: str
    language: str
    review: Literal["off", "core", "all"]


class AgentChange(AgentRequest):
    """The fields that are sent change."""

    review: Literal["off", "core", "all"] = "off"


class HealthOut(BaseModel):
    counts: dict[str, int]
    trend: list[dict[str, Any]]
