"""The tools an agent keeps its own memory with (as MemGPT has them). Scope agent:write, the key's namespace only."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from memories import conversation, core
from memories.ingest import add
from memories.ledger.lock import namespace_transaction
from memories.ledger.plan import Particulars
from memories.models import CoreVersion
from memories.namespaces import require_own_namespace
from memories.presenters import present_hit
from memories.schemas import AgentRequest, MemoryHit
from memories.search import recall
from worlds.callers import Caller

Section = Literal["SOUL", "TOOLS", "RULE", "USER"]
Limit = Annotated[int, Field(ge=1, le=50, description="At most so many; 1 to 50.")]


class MemoryAsk(AgentRequest):
    """Base of the arguments of all memory tools."""

    model_config = ConfigDict(str_strip_whitespace=True)


class CoreAppendAsk(MemoryAsk):
    section: Section = Field(
        description="SOUL: who I am. TOOLS: my tools. RULE: musts. USER: the user."
    )
    content: str = Field(
        min_length=1, max_length=600, description="One lasting, consequential, certain statement."
    )


class CoreReplaceAsk(MemoryAsk):
    section: Section = Field(description="The section that holds the text.")
    old: str = Field(
        min_length=1, max_length=600, description="Text of exactly one line, quoted as it stands."
    )
    new: str = Field(
        max_length=600, description="What stands there instead; empty takes the line away."
    )


class CoreAnswer(BaseModel):
    """`changed` is false when the change waits for a person; `problems` then say what stands against it."""

    changed: bool
    version: int
    core: str
    problems: list[str] = []


class ArchivalInsertAsk(MemoryAsk):
    content: str = Field(
        min_length=1, max_length=20_000, description="The statement or statements to remember."
    )
    source: str = Field("", max_length=200, description="Where it comes from, if known.")
    subject: str = Field("", max_length=200, description="Whom or what it is about, if one.")
    event_at: datetime | None = Field(None, description="When it happened, if not now.")


class InsertAnswer(BaseModel):
    ids: list[str]
    confirmed: list[str] = Field(description="Known memories that said the same already.")
    replaced: list[str]
    formerly: list[str] = Field(description="Known memories that say otherwise; both stay.")
    waiting: bool = Field(description="True when a person has to approve it first.")


class ArchivalSearchAsk(MemoryAsk):
    query: str = Field(min_length=1, max_length=2000, description="What to look for, in words.")
    limit: Limit = 8
    as_of: datetime | None = Field(None, description="Read what was known at that moment.")


class ArchivalSearchAnswer(BaseModel):
    hits: list[MemoryHit]
    degraded: list[str] = []


class ConversationSearchAsk(MemoryAsk):
    query: str = Field("", max_length=2000, description="What to look for; empty lists the latest.")
    mode: Literal["hybrid", "keyword", "vector"] = Field(
        "hybrid", description="By words, by meaning, or both."
    )
    after: datetime | None = Field(None, description="Said at or after.")
    before: datetime | None = Field(None, description="Said before.")
    limit: Limit = 10


class MessageHit(BaseModel):
    id: str
    text: str
    role: str
    speaker: str
    said_at: datetime
    score: float


class ConversationSearchAnswer(BaseModel):
    hits: list[MessageHit]
    degraded: list[str] = []


def core_memory_append(ask: CoreAppendAsk, caller: Caller) -> CoreAnswer:
    """Add one line to your core memory, the page you always see.

    Use it for what will matter in many later sessions and is certain: who you are, your tools' limits, rules you must
    keep, lasting preferences of the user. Not for events, tasks, guesses or details: use archival_memory_insert.
    Example: {"section": "USER", "content": "Prefers short answers."}
    """
    namespace = require_own_namespace(caller)
    with namespace_transaction(namespace) as locked:
        made = core.append(locked, ask.section, ask.content)
    return _core_answer(caller, made)


def core_memory_replace(ask: CoreReplaceAsk, caller: Caller) -> CoreAnswer:
    """Change or remove one line of your core memory.

    Use it when a line has become wrong or can be said shorter; an empty `new` removes it. Not for adding.
    Example: {"section": "USER", "old": "Prefers short answers.", "new": "Prefers short answers with one example."}
    """
    namespace = require_own_namespace(caller)
    with namespace_transaction(namespace) as locked:
        made = core.replace(locked, ask.section, ask.old, ask.new)
    return _core_answer(caller, made)


def archival_memory_insert(ask: ArchivalInsertAsk, caller: Caller) -> InsertAnswer:
    """Remember something for good: a fact, an event, what somebody said or did.

    Use it for anything worth finding again that does not belong on the core page. What is known already is only
    confirmed. Not for world knowledge of the game: that is written by people.
    Example: {"content": "Mira Voss owes the Lanternbearers a crossing.", "subject": "Mira Voss"}
    """
    about = Particulars(source=ask.source, subject=ask.subject, event_at=ask.event_at)
    written = add.add(
        require_own_namespace(caller), ask.content, models=add.site_models(), about=about
    )
    return InsertAnswer(
        ids=[str(pk) for pk in written.ids],
        confirmed=[str(pk) for pk in written.confirmed],
        replaced=[str(pk) for pk in written.superseded],
        formerly=[str(pk) for pk in written.formerly],
        waiting=written.state == "pending",
    )


def archival_memory_search(ask: ArchivalSearchAsk, caller: Caller) -> ArchivalSearchAnswer:
    """Search your long-term memory by words and meaning.

    Use it before answering from memory, with names and words that the memory would hold. Not for the rules or lore of
    the game (rules_lookup, lore_search), nor for what was said word by word (conversation_search).
    Example: {"query": "what does Mira owe the party"}
    """
    found = recall.search(
        require_own_namespace(caller), ask.query, limit=ask.limit, as_of=ask.as_of
    )
    return ArchivalSearchAnswer(
        hits=[present_hit(memory) for memory in found.memories], degraded=list(found.degraded)
    )


def conversation_search(ask: ConversationSearchAsk, caller: Caller) -> ConversationSearchAnswer:
    """Search the log of your conversations by words, by meaning, by date.

    Use it to find who said what and when, word by word. Without a query it lists the latest. Not for facts you have
    remembered: use archival_memory_search.
    Example: {"query": "toll bell", "after": "2026-11-01T00:00:00Z"}
    """
    found = conversation.search_messages(
        require_own_namespace(caller),
        ask.query,
        mode=ask.mode,
        after=ask.after,
        before=ask.before,
        limit=ask.limit,
    )
    hits = [
        MessageHit(
            id=str(said.pk),
            text=said.text,
            role=said.role,
            speaker=said.speaker,
            said_at=said.said_at,
            score=score,
        )
        for said, score in zip(found.messages, found.scores, strict=True)
    ]
    return ConversationSearchAnswer(hits=hits, degraded=list(found.degraded))


def _core_answer(caller: Caller, made: object) -> CoreAnswer:
    now = core.current(require_own_namespace(caller))
    return CoreAnswer(
        changed=isinstance(made, CoreVersion),
        version=now.number,
        core=now.markdown,
        problems=list(getattr(made, "problems", [])),
    )
