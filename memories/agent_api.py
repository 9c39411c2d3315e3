"""REST API of buckets, reflections, working memory, episodes and code rules: scope agent:write, the
key's namespace."""

from typing import Annotated, Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Body, Query, Router, Status

from memories.agent_schemas import (
    BugMatchIn,
    BugPatternOut,
    CodeRuleCleanupIn,
    CodeRuleOut,
    CodeRuleOutcomeIn,
    EpisodeMatchOut,
    EpisodeSearchIn,
    EventsIn,
    KnowledgeIn,
    KnowledgeOut,
    OutcomeOut,
    PatchIn,
    QueryIn,
    QueryOut,
    ReflectionOut,
    TaskConsolidateIn,
    TaskDecisionIn,
    TaskHypothesisIn,
    TaskIn,
    TaskStepIn,
    TaskTrackIn,
)
from memories.api import own_namespace
from memories.buckets.events import MemoryEvent, Outcome
from memories.buckets.intents import QueryClassifier
from memories.buckets.read_pipeline import ReadPipeline
from memories.buckets.scoring import RRF, ScoreFusion, WeightedFusion
from memories.buckets.write_pipeline import WritePipeline
from memories.code_rules import CodeRule, detect_code_rules_from_patch
from memories.coding_agent import (
    EpisodicMemoryManager,
    SemanticMemoryManager,
    TaskEpisode,
    WorkingMemoryManager,
)
from memories.coding_agent.episodes import Hypothesis, TaskDecision, TaskStep
from memories.coding_agent.episodic import EpisodeMatch
from memories.coding_agent.semantic import BugPattern, RelevantKnowledge
from memories.coding_agent.stores import PostgresMemoryStore
from memories.coding_agent.working import WorkingTask
from memories.models import Reflection
from memories.presenters import present_query, present_scored
from retrieval.errors import NotFound
from worlds.keys import Scope
from worlds.rest import NeedsKey, own_transaction

router = Router(tags=["agent"], auth=NeedsKey(Scope.AGENT_WRITE))
# Endpoints marked with `own_transaction` call a model, which must not happen inside a transaction.
FUSIONS: dict[str, ScoreFusion] = {"weighted": WeightedFusion(), "rrf": RRF()}
Limit = Annotated[int, Query(ge=1, le=200)]


def store_of(request: HttpRequest) -> PostgresMemoryStore:
    return PostgresMemoryStore(own_namespace(request))


def working_memory_of(request: HttpRequest) -> WorkingMemoryManager:
    return WorkingMemoryManager(store_of(request))


# --- buckets


@router.post(
    "/events", operation_id="memory_events", summary="Add events", response=list[OutcomeOut]
)
@own_transaction
def add_events(request: HttpRequest, entry: Body[EventsIn]) -> list[Outcome]:
    """Each event is stored, merged into a known memory, or dropped; its outcome gives the
    reason."""
    events = [MemoryEvent(**event.model_dump()) for event in entry.events]
    return WritePipeline(own_namespace(request)).process_all(events)


@router.post("/query", operation_id="memory_query", summary="Query buckets", response=QueryOut)
@own_transaction
def query_buckets(request: HttpRequest, entry: Body[QueryIn]) -> QueryOut:
    """Search the buckets of the question's intent. `abstained` means that no memory answers the
    question well enough."""
    pipeline = ReadPipeline(
        own_namespace(request),
        fusion=FUSIONS[entry.fusion],
        half_life_hours=entry.half_life_hours,
        abstains=entry.abstain,
        share=entry.share,
        classifier=QueryClassifier(embeds_examples=False),
    )
    options = entry.model_dump(include={"limit", "max_tokens", "intent"})
    result = pipeline.query(entry.query, where=entry.where.filter(), **options)
    return QueryOut(
        **present_query(result),
        memories=[present_scored(hit) for hit in result.memories],
        buckets=list(result.buckets),
        support=result.support,
        tokens=result.tokens,
        cut_by_budget=list(result.cut_by_budget),
    )


@router.get(
    "/reflections",
    operation_id="memory_reflections",
    summary="List reflections",
    response=list[ReflectionOut],
)
def list_reflections(request: HttpRequest, limit: Limit = 50) -> "QuerySet[Reflection]":
    """Latest first. `done_at` is null while a reflection runs."""
    return own_namespace(request).reflections.order_by("-number")[:limit]


# --- working memory


@router.get(
    "/working", operation_id="working_get", summary="Get the open task", response=WorkingTask
)
def get_task(request: HttpRequest) -> WorkingTask:
    """Every call is stored at once, so a crash of the agent loses nothing."""
    task = working_memory_of(request).resume()
    if task is None:
        raise NotFound("There is no open task.")
    return task


@router.post(
    "/working", operation_id="working_begin", summary="Begin a task", response={201: WorkingTask}
)
def begin_task(request: HttpRequest, entry: Body[TaskIn]) -> Status[WorkingTask]:
    """409 while another task is open, unless `replace` discards it."""
    return Status(201, working_memory_of(request).init_task(**entry.model_dump()))


@router.post(
    "/working/steps", operation_id="working_step", summary="Record a step", response={201: TaskStep}
)
def record_step(request: HttpRequest, entry: Body[TaskStepIn]) -> Status[TaskStep]:
    """One tool call and its result. A step with an `error_type` failed."""
    return Status(201, working_memory_of(request).record_step(**entry.model_dump()))


@router.post(
    "/working/hypotheses",
    operation_id="working_hypothesis",
    summary="Add a hypothesis",
    response={201: Hypothesis},
)
def add_hypothesis(request: HttpRequest, entry: Body[TaskHypothesisIn]) -> Status[Hypothesis]:
    """A possible cause, with your confidence in it."""
    return Status(201, working_memory_of(request).add_hypothesis(**entry.model_dump()))


@router.post(
    "/working/decisions",
    operation_id="working_decision",
    summary="Record a decision",
    response={201: TaskDecision},
)
def record_decision(request: HttpRequest, entry: Body[TaskDecisionIn]) -> Status[TaskDecision]:
    """Each decision becomes a pivot of the episode."""
    return Status(201, working_memory_of(request).record_decision(**entry.model_dump()))


@router.post(
    "/working/track",
    operation_id="working_track",
    summary="Track files and symbols",
    response=WorkingTask,
)
def track(request: HttpRequest, entry: Body[TaskTrackIn]) -> WorkingTask:
    """Each file and symbol is listed once, in the order of first use."""
    working = working_memory_of(request)
    for path in entry.files:
        working.track_file(path)
    for symbol in entry.symbols:
        working.track_symbol(symbol)
    return working.task


@router.post(
    "/working/consolidate",
    operation_id="working_consolidate",
    summary="Close the task",
    response=TaskEpisode,
)
@own_transaction
def consolidate(request: HttpRequest, entry: Body[TaskConsolidateIn]) -> TaskEpisode:
    """Store the open task as an episode and learn from it."""
    store = store_of(request)
    episode = WorkingMemoryManager(store).consolidate(**entry.model_dump(exclude={"learn"}))
    if entry.learn:
        SemanticMemoryManager(store).learn_from_episode(episode)
    return episode


# --- episodes


@router.get(
    "/episodes",
    operation_id="agent_episodes",
    summary="List a project's episodes",
    response=list[TaskEpisode],
)
def list_episodes(request: HttpRequest, project_id: str, limit: Limit = 50) -> list[TaskEpisode]:
    """Latest first."""
    return EpisodicMemoryManager(store_of(request)).find_by_project(project_id, limit)


@router.post(
    "/episodes/search",
    operation_id="agent_episodes_search",
    summary="Search episodes",
    response=list[EpisodeMatchOut],
)
def search_episodes(request: HttpRequest, entry: Body[EpisodeSearchIn]) -> list[EpisodeMatch]:
    """Similar work by vectors, spelling and words; with `error_type`, work that met the same
    error."""
    weights = entry.model_dump(include={"semantic_weight", "fuzzy_weight", "keyword_weight"})
    manager = EpisodicMemoryManager(store_of(request))
    return manager.hybrid_search(entry.query, entry.error_type, top_k=entry.limit, **weights)


# --- bug patterns, knowledge, code rules


@router.post(
    "/bugs/match",
    operation_id="agent_bugs_match",
    summary="Match an error",
    response=list[BugPatternOut],
)
def match_bugs(request: HttpRequest, entry: Body[BugMatchIn]) -> list[BugPattern]:
    """Known errors with cause and solution, most similar first."""
    manager = SemanticMemoryManager(store_of(request))
    return manager.match_bug_pattern(entry.error_type, entry.error_message)


@router.post(
    "/knowledge",
    operation_id="agent_knowledge",
    summary="Knowledge for a task",
    response=KnowledgeOut,
)
def get_knowledge(request: HttpRequest, entry: Body[KnowledgeIn]) -> RelevantKnowledge:
    """Bug patterns, code patterns, insights, applicable code rules and preferences."""
    manager = SemanticMemoryManager(store_of(request))
    return manager.get_relevant_knowledge(**entry.model_dump())


@router.get(
    "/code-rules", operation_id="code_rules", summary="List code rules", response=list[CodeRuleOut]
)
def list_rules(
    request: HttpRequest,
    project_id: str | None = None,
    category: str | None = None,
    language: str | None = None,
    min_confidence: Annotated[float, Query(ge=0, le=1)] = 0.0,
    limit: Limit = 50,
) -> list[CodeRule]:
    """Highest confidence first."""
    return store_of(request).find_code_rules(
        project_id=project_id,
        category=category,
        language=language,
        min_confidence=min_confidence,
        limit=limit,
    )


@router.post(
    "/code-rules/detect",
    operation_id="code_rules_detect",
    summary="Detect rules in a patch",
    response=list[CodeRuleOut],
)
def detect_rules(request: HttpRequest, patch: Body[PatchIn]) -> list[CodeRule]:
    """Changes that can be repeated elsewhere; `keep` stores them."""
    rules = detect_code_rules_from_patch(patch.before, patch.after, language=patch.language)
    if not patch.keep:
        return rules
    store = store_of(request)
    return SemanticMemoryManager(store).sync_rules_to_db(rules, store, patch.project_id)


@router.post(
    "/code-rules/{uuid:rule_id}/outcome",
    operation_id="code_rules_outcome",
    summary="Report a rule's outcome",
    response=CodeRuleOut,
)
def report_outcome(request: HttpRequest, rule_id: UUID, entry: Body[CodeRuleOutcomeIn]) -> CodeRule:
    """The confidence moves a fifth of the way to 1 or 0."""
    return store_of(request).update_code_rule_confidence(rule_id, entry.success)


@router.post("/code-rules/cleanup", operation_id="code_rules_cleanup", summary="Delete weak rules")
def cleanup_rules(request: HttpRequest, entry: Body[CodeRuleCleanupIn]) -> dict[str, Any]:
    """Delete rules below their threshold that have enough observations; return their number."""
    store = store_of(request)
    return {"deleted": store.cleanup_weak_rules(entry.project_id, entry.min_observations)}
