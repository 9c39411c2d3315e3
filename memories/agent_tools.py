"""The tools an agent sorts, questions and learns with: events, questions, the task under way, errors, what bears on it.

Scope agent:write, the key's namespace only.
"""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from memories.agent_schemas import IntentName, KnownError
from memories.buckets.events import MemoryEvent
from memories.buckets.read_pipeline import ReadPipeline
from memories.buckets.write_pipeline import WritePipeline
from memories.coding_agent import EpisodicMemoryManager, SemanticMemoryManager, WorkingMemoryManager
from memories.coding_agent.episodic import EpisodeMatch
from memories.coding_agent.semantic import BugPattern
from memories.coding_agent.stores import PostgresMemoryStore
from memories.namespaces import require_own_namespace
from memories.presenters import present_bucket_hit
from memories.schemas import BucketHit
from memories.states import Bucket
from memories.tools import Limit, MemoryAsk
from retrieval.errors import Invalid
from worlds.callers import Caller

BucketName = Literal["profile", "preference", "episodic", "semantic", "fact"]
MIN_EARLIER_SCORE = 0.7
"""Likeness of errors from which earlier work is shown; the names KeyError and TimeoutError alone are alike by 0.6."""
MAX_SHOWN = 400
"""Characters of an episode's outcome and solution that are shown."""


class EventAsk(MemoryAsk):
    content: str = Field(
        min_length=1, max_length=20_000, description="What happened, or what became known."
    )
    bucket: BucketName | None = Field(None, description="Which kind it is, if you are sure.")
    importance: float | None = Field(
        None, ge=0, le=1, description="0: forget; 1: never forget. Else it is judged."
    )
    source: str = Field("", max_length=200, description="Where it comes from, if known.")
    subject: str = Field("", max_length=200, description="Whom or what it is about, if one.")
    event_at: datetime | None = Field(None, description="When it happened, if not now.")


class EventAnswer(BaseModel):
    """`result`: stored, merged into what said the same already, or dropped; `because` says why."""

    result: str
    reason: str | None = None
    because: str = ""
    memory_id: str | None = None
    bucket: str | None = None
    importance: float | None = None


class MemoryQueryAsk(MemoryAsk):
    query: str = Field(min_length=1, max_length=2000, description="The question, in full.")
    intent: IntentName | None = Field(None, description="What is wanted, if the words may mislead.")
    limit: Limit = 8


class MemoryQueryAnswer(BaseModel):
    """`abstained`: nothing known answers this well enough, and `because` says so; `decided_by`: signs, model or nobody.
    `explanation`: a line a step."""

    memories: list[BucketHit]
    intent: str
    abstained: bool
    because: str = ""
    decided_by: str = "nobody"
    explanation: list[str]
    degraded: list[str] = []


class TaskBeginAsk(MemoryAsk):
    description: str = Field(min_length=1, max_length=2000, description="What is to be done.")
    plan: list[str] = Field([], max_length=20, description="The steps you mean to take.")
    project: str = Field("", max_length=255, description="The project, if it has a name.")


class TaskNoteAsk(MemoryAsk):
    kind: Literal["step", "hypothesis", "decision"] = Field(
        description="What you did, suppose or decided."
    )
    text: str = Field(
        min_length=1,
        max_length=2000,
        description="The step's output; the supposition; the decision.",
    )
    tool: str = Field(
        "", max_length=120, description="For a step: the tool you used; edit for a change."
    )
    file: str = Field("", max_length=500, description="For a step: the file it was about.")
    before: str = Field("", max_length=4000, description="For an edit: the lines as they were.")
    after: str = Field("", max_length=4000, description="For an edit: the lines as they are now.")
    error_type: str = Field("", max_length=200, description="For a failed step: the error's name.")
    error_message: str = Field(
        "", max_length=1000, description="For a failed step: what the error said."
    )
    confidence: float = Field(0.5, ge=0, le=1, description="For a hypothesis: how sure you are.")


class TaskCloseAsk(MemoryAsk):
    success: bool = Field(description="Whether the task was done.")
    outcome: str = Field("", max_length=2000, description="How it ended.")
    solution: str = Field("", max_length=2000, description="What helped, for the next time.")


class TaskAnswer(BaseModel):
    """The task under way."""

    description: str
    steps: int
    hypotheses: list[str]
    decisions: list[str]
    files: list[str]


class TaskCloseAnswer(BaseModel):
    episode_id: str
    summary: str
    pivots: list[str]
    learned_errors: list[str]
    learned_rules: list[str]


class ErrorLookupAsk(MemoryAsk):
    error_type: str = Field(
        min_length=1, max_length=200, description="The error's name, as KeyError."
    )
    error_message: str = Field("", max_length=2000, description="What it said.")


class EarlierWork(BaseModel):
    episode_id: str
    task: str
    success: bool
    solution: str
    score: float


class ErrorLookupAnswer(BaseModel):
    """Both lists most alike first; empty when nothing like it was met."""

    known: list[KnownError]
    earlier: list[EarlierWork]


class KnowledgeAsk(MemoryAsk):
    query: str = Field(min_length=1, max_length=2000, description="The task at hand, in words.")
    project: str = Field(
        "", max_length=255, description="Rules of this project and the general ones; else all."
    )
    limit: int = Field(5, ge=1, le=20, description="At most so many of each kind.")


class RuleHit(BaseModel):
    name: str
    description: str
    before: str
    after: str
    confidence: float


class KnowledgeAnswer(BaseModel):
    errors: list[KnownError]
    code_patterns: list[str]
    insights: list[str]
    rules: list[RuleHit]
    preferences: list[str]


def memory_event(ask: EventAsk, caller: Caller) -> EventAnswer:
    """Hand one event to your memory, which sorts it, judges it and keeps it once, or says why it is dropped.

    Use it for what happens while you work and play, as it comes. Not for a lasting line of your core page
    (core_memory_append), nor for text that must be kept whatever it says (archival_memory_insert).
    Example: {"content": "Mira promised Tobin the ledger by midsummer.", "subject": "Mira"}
    """
    event = MemoryEvent(
        ask.content,
        source=ask.source,
        subject=ask.subject,
        event_at=ask.event_at,
        importance=ask.importance,
        bucket=Bucket(ask.bucket) if ask.bucket else None,
    )
    made = WritePipeline(require_own_namespace(caller)).process(event)
    return EventAnswer(
        result=made.result,
        reason=made.reason,
        because=made.because,
        bucket=made.bucket,
        importance=made.importance,
        memory_id=str(made.memory_id) if made.memory_id else None,
    )


def memory_ask(ask: MemoryQueryAsk, caller: Caller) -> MemoryQueryAnswer:
    """Ask your memory a question: it reads the kinds that can answer, newest and weightiest first, or keeps silent.

    Use it for questions about people, preferences, what happened, what holds. When it abstains, say that you do not
    know. Not for the rules and lore of the game, nor for a list of all that mentions a word (archival_memory_search).
    Example: {"query": "When did Mira promise the ledger?"}
    """
    found = ReadPipeline(require_own_namespace(caller)).query(
        ask.query, limit=ask.limit, intent=ask.intent
    )
    return MemoryQueryAnswer(
        memories=[present_bucket_hit(hit) for hit in found.memories],
        intent=found.intent,
        abstained=found.abstained,
        because=found.because,
        decided_by=found.decided_by,
        explanation=found.explanation(),
        degraded=list(found.degraded),
    )


def task_begin(ask: TaskBeginAsk, caller: Caller) -> TaskAnswer:
    """Begin a task of several steps in your working memory; it survives a crash.

    Use it before work that may fail on the way, such as finding a bug. Not while another task is under way: close that
    one first. Example: {"description": "The ledger crashes on empty rows", "plan": ["reproduce", "mend", "test"]}
    """
    working = _working(caller)
    working.init_task(ask.description, ask.plan, project_id=ask.project)
    return _task_answer(working)


def task_note(ask: TaskNoteAsk, caller: Caller) -> TaskAnswer:
    """Note a step, a hypothesis or a decision of the task under way.

    Use it after each tool call that mattered, with the error if it failed: errors and turns are what is learned from.
    Not for events of the game (memory_event).
    Example: {"kind": "step", "tool": "run", "text": "2 failed", "error_type": "KeyError", "error_message": "'fare'"}
    """
    working = _working(caller)
    if ask.kind == "hypothesis":
        working.add_hypothesis(ask.text, ask.confidence)
    elif ask.kind == "decision":
        working.record_decision(ask.text)
    else:
        _note_step(working, ask)
    return _task_answer(working)


def task_close(ask: TaskCloseAsk, caller: Caller) -> TaskCloseAnswer:
    """End the task under way: it becomes an episode, and its errors, rules and preferences are learned.

    Use it when the work is done or given up, with what helped. Not for a pause: an open task waits for you.
    Example: {"success": true, "solution": "Read the fare with get() and a default of 0."}
    """
    store = PostgresMemoryStore(require_own_namespace(caller))
    episode = WorkingMemoryManager(store).consolidate(
        outcome=ask.outcome, success=ask.success, solution=ask.solution
    )
    learned = SemanticMemoryManager(store).learn_from_episode(episode)
    return TaskCloseAnswer(
        episode_id=str(episode.id),
        summary=episode.text,
        pivots=[pivot.description for pivot in episode.pivots],
        learned_errors=[f"{bug.error_type}: {bug.error_message}" for bug in learned.bug_patterns],
        learned_rules=[rule.name for rule in learned.code_rules],
    )


def error_lookup(ask: ErrorLookupAsk, caller: Caller) -> ErrorLookupAnswer:
    """Look an error up: whether you have met it, why it came and what helped.

    Use it before you start guessing. Not for questions in words (memory_ask, knowledge_for_task).
    Example: {"error_type": "KeyError", "error_message": "'fare'"}
    """
    store = PostgresMemoryStore(require_own_namespace(caller))
    known = SemanticMemoryManager(store).match_bug_pattern(ask.error_type, ask.error_message)
    earlier = EpisodicMemoryManager(store).find_by_error_pattern(
        ask.error_type, ask.error_message, top_k=3
    )
    return ErrorLookupAnswer(
        known=[_known(bug) for bug in known[:5]],
        earlier=[_earlier(match) for match in earlier if match.score >= MIN_EARLIER_SCORE],
    )


def knowledge_for_task(ask: KnowledgeAsk, caller: Caller) -> KnowledgeAnswer:
    """Return what you have learned that bears on a task: errors, patterns, insights, code rules, preferences.

    Use it once, when you begin. Not for one certain error (error_lookup), nor for what happened (memory_ask).
    Example: {"query": "parsing the toll ledger", "project": "ferry"}
    """
    manager = SemanticMemoryManager(PostgresMemoryStore(require_own_namespace(caller)))
    found = manager.get_relevant_knowledge(
        ask.query, project_id=ask.project or None, limit=ask.limit
    )
    return KnowledgeAnswer(
        errors=[_known(bug) for bug in found.bug_patterns],
        code_patterns=[
            f"{pattern.name}: {pattern.description}".rstrip(": ") for pattern in found.code_patterns
        ],
        insights=[insight.text for insight in found.insights],
        rules=[
            RuleHit(
                name=rule.name,
                description=rule.description,
                before=rule.before_pattern,
                after=rule.after_pattern,
                confidence=round(rule.confidence, 3),
            )
            for rule in found.code_rules
        ],
        preferences=list(found.preferences),
    )


def _working(caller: Caller) -> WorkingMemoryManager:
    return WorkingMemoryManager(PostgresMemoryStore(require_own_namespace(caller)))


def _note_step(working: WorkingMemoryManager, ask: TaskNoteAsk) -> None:
    if not ask.tool:
        raise Invalid("A step names the tool that was used.")
    given = {"file_path": ask.file, "old_string": ask.before, "new_string": ask.after}
    working.record_step(
        ask.tool,
        {name: value for name, value in given.items() if value},
        output=ask.text,
        error_type=ask.error_type,
        error_message=ask.error_message,
    )


def _task_answer(working: WorkingMemoryManager) -> TaskAnswer:
    task = working.task
    return TaskAnswer(
        description=task.description,
        steps=len(task.steps_completed),
        files=task.active_files,
        hypotheses=[supposed.text for supposed in task.hypotheses],
        decisions=[decision.description for decision in task.decisions],
    )


def _known(bug: BugPattern) -> KnownError:
    return KnownError(
        error_type=bug.error_type,
        error_message=bug.error_message,
        cause=bug.cause,
        solution=bug.solution,
        occurrences=bug.occurrences,
        score=round(bug.score, 3),
    )


def _earlier(match: EpisodeMatch) -> EarlierWork:
    episode = match.episode
    return EarlierWork(
        episode_id=str(episode.id),
        task=episode.task[:MAX_SHOWN],
        success=episode.success,
        solution=episode.solution[:MAX_SHOWN],
        score=round(match.score, 3),
    )
