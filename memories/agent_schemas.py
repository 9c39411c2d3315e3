"""What the REST API of the buckets, of working memory and of what is learned takes and gives."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from memories.schemas import Closed
from memories.states import Bucket
from retrieval.schemas import Share

Code = Annotated[str, Field(max_length=20_000)]


class Given(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class EventIn(Closed):
    """Without a bucket or an importance the pipeline decides. What is too short or idle is dropped, with the reason."""

    content: str = Field(max_length=20_000)
    source: str = Field("", max_length=200)
    subject: str = Field("", max_length=200)
    speaker: str = Field("", max_length=120)
    event_at: datetime | None = None
    bucket: Bucket | None = None
    importance: Share | None = None


class EventsIn(Closed):
    events: list[EventIn] = Field(min_length=1, max_length=500)


class OutcomeOut(Given):
    result: str
    reason: str | None
    because: str
    memory_id: UUID | None
    bucket: str | None
    importance: float | None


class QueryIn(Closed):
    query: str = Field(min_length=1, max_length=8000)
    intent: Literal["profile", "preference", "recall", "knowledge", "debug", "general"] | None = (
        None
    )
    limit: int = Field(10, ge=1, le=100)
    max_tokens: int | None = Field(None, ge=1, le=100_000)
    fusion: Literal["weighted", "rrf"] = "weighted"
    half_life_hours: float = Field(24.0, gt=0, le=100_000)
    abstain: bool = True


class ScoredOut(BaseModel):
    id: UUID
    text: str
    bucket: str
    score: float
    similarity: float
    recency: float
    importance: float
    tokens: int


class QueryOut(BaseModel):
    intent: str
    buckets: list[str]
    memories: list[ScoredOut]
    abstained: bool
    because: str
    decided_by: str = "nobody"
    support: float
    tokens: int
    cut_by_budget: list[UUID]
    explanation: list[str]
    degraded: list[str]


class TaskIn(Closed):
    description: str = Field(min_length=1, max_length=2000)
    plan: list[Annotated[str, Field(max_length=500)]] = Field([], max_length=100)
    project_id: str = Field("", max_length=255)
    replace: bool = False


class StepIn(Closed):
    tool_name: str = Field(min_length=1, max_length=120)
    tool_input: dict[str, Any] = {}
    output: str = Field("", max_length=20_000)
    success: bool = True
    error_type: str = Field("", max_length=200)
    error_message: str = Field("", max_length=4000)


class HypothesisIn(Closed):
    text: str = Field(min_length=1, max_length=2000)
    confidence: Share = 0.5


class DecisionIn(Closed):
    description: str = Field(min_length=1, max_length=2000)
    rationale: str = Field("", max_length=4000)


class TrackIn(Closed):
    files: list[Annotated[str, Field(min_length=1, max_length=500)]] = Field([], max_length=200)
    symbols: list[Annotated[str, Field(min_length=1, max_length=500)]] = Field([], max_length=200)


class ConsolidateIn(Closed):
    """`learn` takes patterns, rules and preferences out of the episode at once."""

    outcome: str = Field("", max_length=4000)
    success: bool = True
    solution: str = Field("", max_length=4000)
    learn: bool = True


class EpisodeSearchIn(Closed):
    """By an error, by words, or by both."""

    query: str = Field("", max_length=4000)
    error_type: str = Field("", max_length=200)
    limit: int = Field(5, ge=1, le=50)
    semantic_weight: Share = 0.4
    fuzzy_weight: Share = 0.3
    keyword_weight: Share = 0.3


class BugIn(Closed):
    error_type: str = Field(min_length=1, max_length=200)
    error_message: str = Field("", max_length=4000)


class BugOut(Given):
    id: UUID
    error_type: str
    error_message: str
    cause: str
    solution: str
    occurrences: int
    episodes: list[str]
    score: float


class CodePatternOut(Given):
    id: UUID
    name: str
    category: str
    description: str
    occurrences: int


class RuleOut(Given):
    id: UUID
    name: str
    category: str
    description: str
    before_pattern: str
    after_pattern: str
    pattern_type: str
    languages: list[str]
    confidence: float
    observation_count: int
    success_count: int
    failure_count: int
    project_id: str
    is_applicable: bool
    is_trusted: bool


class PatchIn(Closed):
    before: Code
    after: Code
    language: str = Field("python", max_length=40)
    project_id: str = Field("global", min_length=1, max_length=255)
    keep: bool = True


class RuleOutcomeIn(Closed):
    success: bool


class CleanupIn(Closed):
    project_id: str | None = Field(None, max_length=255)
    min_observations: int = Field(3, ge=1, le=10_000)


class KnowledgeIn(Closed):
    query: str = Field(min_length=1, max_length=4000)
    project_id: str | None = Field(None, max_length=255)
    limit: int = Field(5, ge=1, le=50)


class InsightOut(BaseModel):
    id: UUID
    text: str


class KnowledgeOut(BaseModel):
    bug_patterns: list[BugOut]
    code_patterns: list[CodePatternOut]
    insights: list[InsightOut]
    code_rules: list[RuleOut]
    preferences: dict[str, int]


class ReflectionOut(Given):
    id: UUID
    number: int
    trigger: str
    episodes: int
    created_at: datetime
    done_at: datetime | None
