"""Tools of an agent: events, questions, working memory, errors, knowledge. Scope agent:write, the
key's namespace."""

from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, Field

from memories.agent_schemas import IntentName, KnownError
from memories.buckets.events import MemoryEvent
from memories.buckets.intents import QueryClassifier
from memories.buckets.read_pipeline import ReadPipeline
from memories.buckets.write_pipeline import WritePipeline
from memories.coding_agent import EpisodicMemoryManager, SemanticMemoryManager, WorkingMemoryManager
from memories.coding_agent.semantic import BugPattern
from memories.coding_agent.stores import PostgresMemoryStore
from memories.coding_agent.working import WorkingTask
from memories.namespaces import require_own_namespace
from memories.presenters import present_bucket_hit, present_query
from memories.schemas import BucketHit
from memories.states import Bucket
from memories.tools import (
    EventTime,
    Expires,
    FilteredAsk,
    Key,
    Limit,
    MemoryAsk,
    Metadata,
    Names,
    NPCMemoryAsk,
    Resolved,
    Scope,
    Source,
    Subject,
    Supersedes,
    Tags,
)
from retrieval.errors import Invalid
from retrieval.search import Rerank
from retrieval.tasks import embed_soon
from worlds.callers import Caller

BucketName = Literal["profile", "preference", "episodic", "semantic", "fact"]
MIN_EARLIER_SCORE = 0.7
"""Least similarity of the errors of earlier work; two unrelated error names, KeyError and
TimeoutError, have 0.6."""
MAX_KNOWN_ERRORS = 5
MAX_SHOWN = 400
"""Characters of an episode's task and solution in an answer."""


class EventAsk(NPCMemoryAsk):
    content: str = Field(
        min_length=1, max_length=20_000, description="What happened, or a new fact."
    )
    bucket: BucketName | None = Field(None, description="The kind of memory, if you are sure.")
    importance: float | None = Field(
        None, ge=0, le=1, description="From 0 to 1; rated if not given."
    )
    source: Source = ""
    subject: Subject = ""
    event_at: EventTime = None
    scope: Scope = ""
    tags: Tags = []
    key: Key = ""
    names: Names = []
    resolved: Resolved = None
    metadata: Metadata = {}
    supersedes: Supersedes = []
    expires_at: Expires = None


class EventAnswer(BaseModel):
    """`result`: stored, merged into a known memory, or dropped; `because` gives the reason."""

    result: str
    reason: str | None = None
    because: str = ""
    memory_id: str | None = None
    bucket: str | None = None
    importance: float | None = None
    waiting: bool = Field(False, description="True if a person has to approve it.")


class MemoryQueryAsk(FilteredAsk):
    query: str = Field(min_length=1, max_length=2000, description="The question, in full.")
    intent: IntentName | None = Field(None, description="The kind of answer, if the words mislead.")
    limit: Limit = 8


class MemoryQueryAnswer(BaseModel):
    """`abstained`: no memory answers the question well enough; `because` gives the reason.
    `decided_by`: signs, relevance, names, model or nobody. `explanation`: one line per step."""

    memories: list[BucketHit]
    intent: str
    abstained: bool
    because: str = ""
    decided_by: str = "nobody"
    explanation: list[str]
    degraded: list[str] = []


class TaskBeginAsk(MemoryAsk):
    description: str = Field(min_length=1, max_length=2000, description="What has to be done.")
    plan: list[str] = Field([], max_length=20, description="The planned steps.")
    project: str = Field("", max_length=255, description="The project, if it has a name.")


class TaskNoteAsk(MemoryAsk):
    kind: Literal["step", "hypothesis", "decision"] = Field(description="What you record.")
    text: str = Field(
        min_length=1,
        max_length=2000,
        description="The step's output, the hypothesis or the decision.",
    )
    tool: str = Field(
        "", max_length=120, description="For a step: the tool you used; edit for a change."
    )
    file: str = Field("", max_length=500, description="For a step: the file.")
    before: str = Field("", max_length=4000, description="For an edit: the lines as they were.")
    after: str = Field("", max_length=4000, description="For an edit: the lines as they are now.")
    error_type: str = Field("", max_length=200, description="For a failed step: the error's name.")
    error_message: str = Field(
        "", max_length=1000, description="For a failed step: the error's message."
    )
    confidence: float = Field(0.5, ge=0, le=1, description="For a hypothesis: your confidence.")


class TaskCloseAsk(MemoryAsk):
    success: bool = Field(description="Whether the task was done.")
    outcome: str = Field("", max_length=2000, description="How it ended.")
    solution: str = Field("", max_length=2000, description="What helped.")


class TaskAnswer(BaseModel):
    """The open task."""

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
        min_length=1, max_length=200, description="The error's name, such as KeyError."
    )
    error_message: str = Field("", max_length=2000, description="The error's message.")


class EarlierWork(BaseModel):
    episode_id: str
    task: str
    success: bool
    solution: str
    score: float


class ErrorLookupAnswer(BaseModel):
    """Both lists are sorted by similarity; an empty list means that nothing similar is known."""

    known: list[KnownError]
    earlier: list[EarlierWork]


class KnowledgeAsk(MemoryAsk):
    query: str = Field(min_length=1, max_length=2000, description="The task at hand, in words.")
    project: str = Field(
        "", max_length=255, description="Rules of this project and general ones; all if empty."
    )
    limit: int = Field(5, ge=1, le=20, description="Maximum per kind.")


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
    """Give one event to your memory. It is sorted into a bucket, rated, and stored or merged, or
    dropped with a reason.

    Use it for what happens while you work and play. Not for a lasting line of your core page
    (core_memory_append), nor for text that must be stored in any case (archival_memory_insert).
    Example: {"content": "Mira promised Tobin the ledger by midsummer.", "subject": "Mira"}
    """
    bucket = Bucket(ask.bucket) if ask.bucket else None
    event = MemoryEvent(**ask.model_dump(exclude={"bucket", "as_"}), bucket=bucket)
    outcome = WritePipeline(require_own_namespace(caller)).process(event)
    return EventAnswer(
        result=outcome.result,
        reason=outcome.reason,
        because=outcome.because,
        bucket=outcome.bucket,
        importance=outcome.importance,
        memory_id=str(outcome.memory_id) if outcome.memory_id else None,
        waiting=outcome.waiting,
    )


def memory_ask(ask: MemoryQueryAsk, caller: Caller) -> MemoryQueryAnswer:
    """Ask your memory a question. It answers from all buckets, or abstains when no memory
    answers well enough.

    Use it for questions about people, preferences, events and facts. When it abstains, say that you
    do not know. Not for the rules and lore of the game, nor to list all memories that mention a
    word (archival_memory_search).
    Example: {"query": "When did Mira promise the ledger?"}
    """
    pipeline = ReadPipeline(
        require_own_namespace(caller),
        rerank=Rerank.FAST,
        classifier=QueryClassifier(embeds_examples=False),
    )
    result = pipeline.query(ask.query, limit=ask.limit, intent=ask.intent, where=ask.where())
    hits = [present_bucket_hit(hit) for hit in result.memories]
    return MemoryQueryAnswer(memories=hits, **present_query(result))


def task_begin(ask: TaskBeginAsk, caller: Caller) -> TaskAnswer:
    """Open a task of several steps in your working memory. It survives a crash.

    Use it before work that may fail, such as finding a bug. Not while another task is open: close
    that one first.
    Example: {"description": "The ledger crashes on empty rows", "plan": ["reproduce", "mend",
    "test"]}
    """
    working = WorkingMemoryManager(store_of(caller))
    return present_task(working.init_task(ask.description, ask.plan, project_id=ask.project))


def task_note(ask: TaskNoteAsk, caller: Caller) -> TaskAnswer:
    """Record a step, a hypothesis or a decision of the open task.

    Use it after each important tool call, with the error if it failed: you learn from errors and
    decisions. Not for events of the game (memory_event).
    Example: {"kind": "step", "tool": "run", "text": "2 failed", "error_type": "KeyError",
    "error_message": "'fare'"}
    """
    working = WorkingMemoryManager(store_of(caller))
    if ask.kind == "hypothesis":
        working.add_hypothesis(ask.text, ask.confidence)
    elif ask.kind == "decision":
        working.record_decision(ask.text)
    elif not ask.tool:
        raise Invalid("A step names the tool that was used.")
    else:
        # Edits, from which rules are learned, are recognized by these argument names.
        tool_input = {"file_path": ask.file, "old_string": ask.before, "new_string": ask.after}
        working.record_step(
            ask.tool,
            {name: value for name, value in tool_input.items() if value},
            output=ask.text,
            error_type=ask.error_type,
            error_message=ask.error_message,
        )
    return present_task(working.task)


def task_close(ask: TaskCloseAsk, caller: Caller) -> TaskCloseAnswer:
    """Close the open task: it becomes an episode, and its errors, rules and preferences are
    learned.

    Use it when the work is done or given up, with what helped. Not for a pause: the task stays
    open.
    Example: {"success": true, "solution": "Read the fare with get() and a default of 0."}
    """
    store = store_of(caller)
    with store.atomically():
        episode = WorkingMemoryManager(store).consolidate(**ask.model_dump())
        lessons = SemanticMemoryManager(store).learn_from_episode(episode)
        embed_soon("memory")
    return TaskCloseAnswer(
        episode_id=str(episode.id),
        summary=episode.text,
        pivots=[pivot.description for pivot in episode.pivots],
        learned_errors=[f"{bug.error_type}: {bug.error_message}" for bug in lessons.bug_patterns],
        learned_rules=[rule.name for rule in lessons.code_rules],
    )


def error_lookup(ask: ErrorLookupAsk, caller: Caller) -> ErrorLookupAnswer:
    """Look up an error: whether you met it before, its cause and what helped.

    Use it before you guess. Not for questions in words (memory_ask, knowledge_for_task).
    Example: {"error_type": "KeyError", "error_message": "'fare'"}
    """
    store = store_of(caller)
    bugs = SemanticMemoryManager(store).match_bug_pattern(ask.error_type, ask.error_message)
    episodes = EpisodicMemoryManager(store)
    matches = episodes.find_by_error_pattern(ask.error_type, ask.error_message, top_k=3)
    return ErrorLookupAnswer(
        known=[present_error(bug) for bug in bugs[:MAX_KNOWN_ERRORS]],
        earlier=[
            EarlierWork(
                episode_id=str(match.episode.id),
                task=match.episode.task[:MAX_SHOWN],
                success=match.episode.success,
                solution=match.episode.solution[:MAX_SHOWN],
                score=round(match.score, 3),
            )
            for match in matches
            if match.score >= MIN_EARLIER_SCORE
        ],
    )


def knowledge_for_task(ask: KnowledgeAsk, caller: Caller) -> KnowledgeAnswer:
    """Return what you have learned for a task: errors, code patterns, insights, code rules,
    preferences.

    Use it once, when you begin. Not for one certain error (error_lookup), nor for what happened
    (memory_ask).
    Example: {"query": "parsing the toll ledger", "project": "ferry"}
    """
    manager = SemanticMemoryManager(store_of(caller))
    project_id = ask.project or None
    knowledge = manager.get_relevant_knowledge(ask.query, project_id=project_id, limit=ask.limit)
    patterns = ((pattern.name, pattern.description) for pattern in knowledge.code_patterns)
    return KnowledgeAnswer(
        errors=[present_error(bug) for bug in knowledge.bug_patterns],
        code_patterns=[f"{name}: {description}".rstrip(": ") for name, description in patterns],
        insights=[insight.text for insight in knowledge.insights],
        rules=[
            RuleHit(
                name=rule.name,
                description=rule.description,
                before=rule.before_pattern,
                after=rule.after_pattern,
                confidence=round(rule.confidence, 3),
            )
            for rule in knowledge.code_rules
        ],
        preferences=list(knowledge.preferences),
    )


def store_of(caller: Caller) -> PostgresMemoryStore:
    return PostgresMemoryStore(require_own_namespace(caller))


def present_task(task: WorkingTask) -> TaskAnswer:
    return TaskAnswer(
        description=task.description,
        steps=len(task.steps_completed),
        files=task.active_files,
        hypotheses=[hypothesis.text for hypothesis in task.hypotheses],
        decisions=[decision.description for decision in task.decisions],
    )


def present_error(bug: BugPattern) -> KnownError:
    return KnownError.model_validate(replace(bug, score=round(bug.score, 3)))
