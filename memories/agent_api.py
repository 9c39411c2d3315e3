"""REST for agents: five buckets, working memory, earlier work, what was learned. Scope agent:write, own namespace."""

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Body, Query, Router, Status

from memories.agent_schemas import (
    BugMatchIn,
    BugPatternOut,
    CodePatternOut,
    CodeRuleCleanupIn,
    CodeRuleOut,
    CodeRuleOutcomeIn,
    EpisodeSearchIn,
    EventsIn,
    InsightOut,
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
from memories.buckets.events import MemoryEvent, Outcome
from memories.buckets.read_pipeline import MemoryQueryResult, ReadPipeline
from memories.buckets.scoring import RRF, ScoreFusion, WeightedFusion
from memories.buckets.write_pipeline import WritePipeline
from memories.code_rules import CodeRule, detect_code_rules_from_patch
from memories.coding_agent import (
    EpisodicMemoryManager,
    SemanticMemoryManager,
    TaskEpisode,
    WorkingMemoryManager,
)
from memories.coding_agent.episodes import Hypothesis, TaskDecision, TaskRecord, TaskStep
from memories.coding_agent.episodic import EpisodeMatch
from memories.coding_agent.semantic import BugPattern
from memories.coding_agent.stores import PostgresMemoryStore
from memories.coding_agent.working import WorkingTask
from memories.models import Namespace, Reflection
from memories.namespaces import require_own_namespace
from memories.presenters import present_scored
from retrieval.errors import NotFound
from worlds.keys import Scope
from worlds.rest import NeedsKey, caller_of, own_transaction

router = Router(tags=["agent"], auth=NeedsKey(Scope.AGENT_WRITE))
FUSIONS: dict[str, ScoreFusion] = {"weighted": WeightedFusion(), "rrf": RRF()}
Limit = Annotated[int, Query(ge=1, le=200)]


class MatchOut(TaskRecord):
    episode: TaskEpisode
    score: float
    parts: dict[str, float]


def mine(request: HttpRequest) -> Namespace:
    return require_own_namespace(caller_of(request))


def store_of(request: HttpRequest) -> PostgresMemoryStore:
    return PostgresMemoryStore(mine(request))


def working_of(request: HttpRequest) -> WorkingMemoryManager:
    return WorkingMemoryManager(store_of(request))


# --- the five buckets


@router.post(
    "/events",
    operation_id="memory_events",
    summary="Sort events into buckets",
    response=list[OutcomeOut],
)
@own_transaction
def take_events(request: HttpRequest, sent: Body[EventsIn]) -> list[Outcome]:
    """Each event is stored, merged into what is known, or dropped, and its outcome says which and why."""
    events = [MemoryEvent(**event.model_dump()) for event in sent.events]
    return WritePipeline(mine(request)).process_all(events)


@router.post("/query", operation_id="memory_query", summary="Ask the buckets", response=QueryOut)
@own_transaction
def query_buckets(request: HttpRequest, asked: Body[QueryIn]) -> QueryOut:
    """Only the buckets of the question's intent are read; better no memory than a wrong one (`abstained`)."""
    pipeline = ReadPipeline(
        mine(request),
        fusion=FUSIONS[asked.fusion],
        half_life_hours=asked.half_life_hours,
        abstains=asked.abstain,
    )
    return _query_out(
        pipeline.query(
            asked.query, limit=asked.limit, max_tokens=asked.max_tokens, intent=asked.intent
        )
    )


def _query_out(found: MemoryQueryResult) -> QueryOut:
    return QueryOut(
        intent=found.intent,
        buckets=list(found.buckets),
        memories=[present_scored(memory) for memory in found.memories],
        abstained=found.abstained,
        because=found.because,
        decided_by=found.decided_by,
        support=found.support,
        tokens=found.tokens,
        cut_by_budget=list(found.cut_by_budget),
        explanation=found.explanation(),
        degraded=list(found.degraded),
    )


@router.get(
    "/reflections",
    operation_id="memory_reflections",
    summary="Reflections",
    response=list[ReflectionOut],
)
def list_reflections(request: HttpRequest, limit: Limit = 50) -> list[Reflection]:
    """Latest first; `done_at` is empty while one is under way."""
    return list(mine(request).reflections.order_by("-number")[:limit])


# --- working memory


@router.get(
    "/working", operation_id="working_get", summary="The task under way", response=WorkingTask
)
def get_task(request: HttpRequest) -> WorkingTask:
    """As it was last stored: a process that died loses nothing."""
    task = working_of(request).resume()
    if task is None:
        raise NotFound("No task is under way.")
    return task


@router.post(
    "/working", operation_id="working_begin", summary="Begin a task", response={201: WorkingTask}
)
def begin_task(request: HttpRequest, entry: Body[TaskIn]) -> Status[WorkingTask]:
    """409 while another task is under way, unless `replace` says to drop it."""
    made = working_of(request).init_task(
        entry.description, entry.plan, project_id=entry.project_id, replace=entry.replace
    )
    return Status(201, made)


@router.post(
    "/working/steps", operation_id="working_step", summary="Note a step", response={201: TaskStep}
)
def note_step(request: HttpRequest, entry: Body[TaskStepIn]) -> Status[TaskStep]:
    """One call of a tool and what came of it; an `error_type` makes it a failed step."""
    return Status(201, working_of(request).record_step(**entry.model_dump()))


@router.post(
    "/working/hypotheses",
    operation_id="working_hypothesis",
    summary="Suppose",
    response={201: Hypothesis},
)
def suppose(request: HttpRequest, entry: Body[TaskHypothesisIn]) -> Status[Hypothesis]:
    """What may be the cause, and how sure you are."""
    return Status(201, working_of(request).add_hypothesis(entry.text, entry.confidence))


@router.post(
    "/working/decisions",
    operation_id="working_decision",
    summary="Decide",
    response={201: TaskDecision},
)
def decide(request: HttpRequest, entry: Body[TaskDecisionIn]) -> Status[TaskDecision]:
    """Becomes a pivot of the episode."""
    return Status(201, working_of(request).record_decision(entry.description, entry.rationale))


@router.post(
    "/working/track",
    operation_id="working_track",
    summary="Track files and symbols",
    response=WorkingTask,
)
def track(request: HttpRequest, entry: Body[TaskTrackIn]) -> WorkingTask:
    """Each once, in the order they came up."""
    working = working_of(request)
    for path in entry.files:
        working.track_file(path)
    for symbol in entry.symbols:
        working.track_symbol(symbol)
    return working.task


@router.post(
    "/working/consolidate",
    operation_id="working_consolidate",
    summary="End the task",
    response=TaskEpisode,
)
@own_transaction
def consolidate(request: HttpRequest, entry: Body[TaskConsolidateIn]) -> TaskEpisode:
    """Make an episode of the task, and learn from it."""
    store = store_of(request)
    episode = WorkingMemoryManager(store).consolidate(**entry.model_dump(exclude={"learn"}))
    if entry.learn:
        SemanticMemoryManager(store).learn_from_episode(episode)
    return episode


# --- earlier work


@router.get(
    "/episodes",
    operation_id="agent_episodes",
    summary="A project's episodes",
    response=list[TaskEpisode],
)
def list_episodes(request: HttpRequest, project_id: str, limit: Limit = 50) -> list[TaskEpisode]:
    """Latest first."""
    return EpisodicMemoryManager(store_of(request)).find_by_project(project_id, limit)


@router.post(
    "/episodes/search",
    operation_id="agent_episodes_search",
    summary="Like work",
    response=list[MatchOut],
)
def search_episodes(request: HttpRequest, asked: Body[EpisodeSearchIn]) -> list[MatchOut]:
    """Work like what is described, by meaning, spelling and words; with `error_type`, work that met that error."""
    weights = asked.model_dump(include={"semantic_weight", "fuzzy_weight", "keyword_weight"})
    manager = EpisodicMemoryManager(store_of(request))
    found = manager.hybrid_search(asked.query, asked.error_type, top_k=asked.limit, **weights)
    return [_match_out(match) for match in found]


def _match_out(match: EpisodeMatch) -> MatchOut:
    return MatchOut(episode=match.episode, score=match.score, parts=match.parts)


# --- what was learned


@router.post(
    "/bugs/match",
    operation_id="agent_bugs_match",
    summary="Known errors like this",
    response=list[BugPatternOut],
)
def match_bugs(request: HttpRequest, asked: Body[BugMatchIn]) -> list[BugPattern]:
    """Most alike first, with the cause and what helped."""
    return SemanticMemoryManager(store_of(request)).match_bug_pattern(
        asked.error_type, asked.error_message
    )


@router.post(
    "/knowledge",
    operation_id="agent_knowledge",
    summary="What bears on this",
    response=KnowledgeOut,
)
def knowledge(request: HttpRequest, asked: Body[KnowledgeIn]) -> KnowledgeOut:
    """Patterns, insights, rules sure enough to apply, and preferences."""
    manager = SemanticMemoryManager(store_of(request))
    found = manager.get_relevant_knowledge(
        asked.query, project_id=asked.project_id, limit=asked.limit
    )
    return KnowledgeOut(
        bug_patterns=[BugPatternOut.model_validate(bug) for bug in found.bug_patterns],
        code_patterns=[CodePatternOut.model_validate(pattern) for pattern in found.code_patterns],
        insights=[InsightOut(id=insight.id, text=insight.text) for insight in found.insights],
        code_rules=[CodeRuleOut.model_validate(rule) for rule in found.code_rules],
        preferences=found.preferences,
    )


@router.get(
    "/code-rules", operation_id="code_rules", summary="Code rules", response=list[CodeRuleOut]
)
def list_rules(
    request: HttpRequest,
    project_id: str | None = None,
    category: str | None = None,
    language: str | None = None,
    min_confidence: Annotated[float, Query(ge=0, le=1)] = 0.0,
    limit: Limit = 50,
) -> list[CodeRule]:
    """Most confident first."""
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
    summary="Rules in a patch",
    response=list[CodeRuleOut],
)
def detect_rules(request: HttpRequest, patch: Body[PatchIn]) -> list[CodeRule]:
    """What the change does that can be done again; `keep` stores it."""
    found = detect_code_rules_from_patch(patch.before, patch.after, language=patch.language)
    if not patch.keep:
        return found
    store = store_of(request)
    return SemanticMemoryManager(store).sync_rules_to_db(found, store, patch.project_id)


@router.post(
    "/code-rules/{uuid:rule_id}/outcome",
    operation_id="code_rules_outcome",
    summary="How it went",
    response=CodeRuleOut,
)
def rule_outcome(request: HttpRequest, rule_id: UUID, entry: Body[CodeRuleOutcomeIn]) -> CodeRule:
    """Confidence moves by a fifth towards the outcome."""
    return store_of(request).update_code_rule_confidence(rule_id, entry.success)


@router.post("/code-rules/cleanup", operation_id="code_rules_cleanup", summary="Drop weak rules")
def cleanup_rules(request: HttpRequest, entry: Body[CodeRuleCleanupIn]) -> dict[str, Any]:
    """Deletes the rules below their threshold that were seen often enough; says how many."""
    return {
        "deleted": store_of(request).cleanup_weak_rules(entry.project_id, entry.min_observations)
    }
