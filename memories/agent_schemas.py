"""Request and response bodies of the REST API of buckets, working memory, episodes and rules."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from memories.coding_agent import TaskEpisode
from memories.schemas import AgentRequest, BucketHit, FilterIn, LabelsIn, RowOut, SourceIn
from memories.search.relevant import ANSWERS
from memories.states import Bucket
from worlds.base_schemas import Share

IntentName = Literal["profile", "preference", "recall", "knowledge", "debug", "general"]
Code = Annotated[str, Field(max_length=20_000)]


class EventIn(SourceIn, LabelsIn):
    """Without a bucket or an importance, the pipeline chooses them. Short or unimportant events
    are dropped."""

    content: str = Field(max_length=20_000)
    bucket: Bucket | None = None
    importance: Share | None = None


class EventsIn(AgentRequest):
    events: list[EventIn] = Field(min_length=1, max_length=500)


class OutcomeOut(RowOut):
    result: str
    reason: str | None
    because: str
    memory_id: UUID | None
    bucket: str | None
    importance: float | None
    waiting: bool = Field(False, description="Whether a person has to approve it.")


class QueryIn(AgentRequest):
    query: str = Field(min_length=1, max_length=8000)
    intent: IntentName | None = None
    limit: int = Field(10, ge=1, le=100)
    max_tokens: int | None = Field(None, ge=1, le=100_000)
    fusion: Literal["weighted", "rrf"] = "weighted"
    half_life_hours: float = Field(24.0, gt=0, le=100_000)
    abstain: bool = True
    share: Share = Field(
        ANSWERS,
        description="Leave out memories of less than this share of the best one's relevance.",
    )
    where: FilterIn = Field(FilterIn(), description="Only memories that fit this.")


class ScoredMemoryOut(BucketHit):
    """A memory with the three axes that its score is made of, and its length in tokens."""

    similarity: float
    recency: float
    importance: float
    tokens: int
    metadata: dict[str, Any] = Field({}, description="As it was given, with scope, tags and key.")


class QueryOut(BaseModel):
    intent: str
    buckets: list[str]
    memories: list[ScoredMemoryOut]
    abstained: bool
    because: str
    decided_by: str = "nobody"
    support: float
    tokens: int
    cut_by_budget: list[UUID]
    explanation: list[str]
    degraded: list[str]


class TaskIn(AgentRequest):
    description: str = Field(min_length=1, max_length=2000)
    plan: list[Annotated[str, Field(max_length=500)]] = Field([], max_length=100)
    project_id: str = Field("", max_length=255)
    replace: bool = False


class TaskStepIn(AgentRequest):
    tool_name: str = Field(min_length=1, max_length=120)
    tool_input: dict[str, Any] = {}
    output: str = Field("", max_length=20_000)
    success: bool = True
    error_type: str = Field("", max_length=200)
    error_message: str = Field("", max_length=4000)


class TaskHypothesisIn(AgentRequest):
    text: str = Field(min_length=1, max_length=2000)
    confidence: Share = 0.5


class TaskDecisionIn(AgentRequest):
    description: str = Field(min_length=1, max_length=2000)
    rationale: str = Field("", max_length=4000)


class TaskTrackIn(AgentRequest):
    files: list[Annotated[str, Field(min_length=1, max_length=500)]] = Field([], max_length=200)
    symbols: list[Annotated[str, Field(min_length=1, max_length=500)]] = Field([], max_length=200)


class TaskConsolidateIn(AgentRequest):
    """`learn` extracts patterns, rules and preferences from the episode in the same call."""

    outcome: str = Field("", max_length=4000)
    success: bool = True
    solution: str = Field("", max_length=4000)
    learn: bool = True


class EpisodeSearchIn(AgentRequest):
    """Search by a query, by an error type, or by both."""

    query: str = Field("", max_length=4000)
    error_type: str = Field("", max_length=200)
    limit: int = Field(5, ge=1, le=50)
    semantic_weight: Share = 0.4
    fuzzy_weight: Share = 0.3
    keyword_weight: Share = 0.3


class EpisodeMatchOut(RowOut):
    """`parts` are the components of the score by name."""

    episode: TaskEpisode
    score: float
    parts: dict[str, float]


class BugMatchIn(AgentRequest):
    error_type: str = Field(min_length=1, max_length=200)
    error_message: str = Field("", max_length=4000)


class KnownError(RowOut):
    error_type: str
    error_message: str
    cause: str
    solution: str
    failed: list[str] = Field([], description="What was tried and did not help.")
    occurrences: int
    score: float


class BugPatternOut(KnownError):
    id: UUID
    episodes: list[str]


class CodePatternOut(RowOut):
    id: UUID
    name: str
    category: str
    description: str
    occurrences: int


class CodeRuleOut(RowOut):
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


class PatchIn(AgentRequest):
    before: Code
    after: Code
    language: str = Field("python", max_length=40)
    project_id: str = Field("global", min_length=1, max_length=255)
    keep: bool = True


class CodeRuleOutcomeIn(AgentRequest):
    success: bool


class CodeRuleCleanupIn(AgentRequest):
    project_id: str | None = Field(None, max_length=255)
    min_observations: int = Field(3, ge=1, le=10_000)


class KnowledgeIn(AgentRequest):
    query: str = Field(min_length=1, max_length=4000)
    project_id: str | None = Field(None, max_length=255)
    limit: int = Field(5, ge=1, le=50)


class InsightOut(RowOut):
    id: UUID
    text: str


class KnowledgeOut(RowOut):
    bug_patterns: list[BugPatternOut]
    code_patterns: list[CodePatternOut]
    insights: list[InsightOut]
    code_rules: list[CodeRuleOut]
    preferences: dict[str, int]


class ReflectionOut(RowOut):
    id: UUID
    number: int
    trigger: str
    episodes: int
    created_at: datetime
    done_at: datetime | None
