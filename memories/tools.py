"""Tools of an agent for its own memory, named as in MemGPT. They need the scope agent:write."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from memories import conversation, core, core_lines
from memories.ingest import add
from memories.ledger.commit import namespace_transaction
from memories.ledger.plan import Particulars
from memories.models import CoreProposal, CoreVersion, Namespace
from memories.namespaces import require_own_namespace
from memories.presenters import present_search
from memories.schemas import AgentRequest, SearchOut
from memories.search import recall
from memories.search.filters import MemoryFilter
from memories.search.relevant import MENTIONS
from memories.states import State
from worlds.callers import Caller

REVIEWED = "The core memory is reviewed: a person has to approve the change."
Section = Literal["SOUL", "TOOLS", "RULE", "USER"]
# Descriptions are part of each request to a language model: their total size is tested.
Limit = Annotated[int, Field(ge=1, le=50, description="Maximum; 1 to 50.")]
Source = Annotated[str, Field(max_length=200, description="Where it comes from, if known.")]
Subject = Annotated[str, Field(max_length=200, description="The one person or thing it is about.")]
Scope = Annotated[str, Field(max_length=120, description="A part of your memory, as stored.")]
Tags = Annotated[list[str], Field(max_length=20, description="Labels; all of them to search.")]
Key = Annotated[
    str, Field(max_length=200, description="Your name for what it states; replaces that one.")
]
Names = Annotated[
    list[Annotated[str, Field(max_length=120)]],
    Field(max_length=50, description="Names and aliases of what it is about."),
]
Resolved = Annotated[bool | None, Field(description="Whether it is settled.")]
Metadata = Annotated[
    dict[str, Any],
    # Strict schemas have no open objects.
    Field(description="Any values; these to search.", json_schema_extra={"x-engine-only": True}),
]
Supersedes = Annotated[
    list[UUID], Field(max_length=50, description="Ids of memories that it replaces.")
]
Expires = Annotated[datetime | None, Field(description="From then on it is not found.")]
EventTime = Annotated[
    datetime | None, Field(description="When it happened, if not now (2026-05-04T19:30Z).")
]


class MemoryAsk(AgentRequest):
    """Base of the arguments of all memory tools."""

    model_config = ConfigDict(str_strip_whitespace=True)


class NPCMemoryAsk(MemoryAsk):
    """Base of the arguments of tools that also read and write the memory of an NPC."""

    model_config = ConfigDict(populate_by_name=True)

    as_: Annotated[
        str | None,
        Field(pattern=r"^npc:.{1,110}$", alias="as", description="npc:<id>: the NPC's memory."),
    ] = None


class CoreAppendAsk(MemoryAsk):
    section: Section = Field(
        description="SOUL: who I am. TOOLS: my tools. RULE: musts. USER: the user."
    )
    content: str = Field(
        min_length=1, max_length=600, description="One lasting, consequential, certain statement."
    )


class CoreReplaceAsk(MemoryAsk):
    section: Section = Field(description="The section of the text.")
    old: str = Field(min_length=1, max_length=600, description="Text that is in exactly one line.")
    new: str = Field(max_length=600, description="The new text; empty removes the line.")


class CoreEvidence(BaseModel):
    """A line, the ids of the memories it comes from, and how many others of them were retracted."""

    section: str = Field(description="The section of the core memory.")
    text: str
    memories: list[str] = Field(description="Ids of the memories it comes from.")
    retracted: int = Field(0, description="How many others were deleted or are not in use.")


class CoreAnswer(BaseModel):
    """`changed` is false when the change waits for a person; `problems` then gives the reasons."""

    changed: bool
    version: int
    core: str
    problems: list[str] = []
    lines: list[CoreEvidence] = []


class ArchivalInsertAsk(NPCMemoryAsk):
    content: str = Field(
        min_length=1, max_length=20_000, description="The statement or statements to remember."
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


class InsertAnswer(BaseModel):
    ids: list[str]
    confirmed: list[str] = Field(description="Known memories that say the same.")
    replaced: list[str]
    formerly: list[str] = Field(description="Known memories that it contradicts; both are kept.")
    waiting: bool = Field(description="True if a person has to approve it.")


class FilteredAsk(NPCMemoryAsk):
    """Base of the arguments of tools that read: what a memory has to fit, all of it."""

    scope: Scope = ""
    tags: Tags = []
    subject: Subject = ""
    source: Source = ""
    resolved: Resolved = None
    metadata: Metadata = {}

    def where(self) -> MemoryFilter:
        return MemoryFilter(**self.model_dump(include=set(FilteredAsk.model_fields) - {"as_"}))


class ArchivalSearchAsk(FilteredAsk):
    query: str = Field(min_length=1, max_length=2000, description="What to look for, in words.")
    limit: Limit = 8
    as_of: datetime | None = Field(None, description="Search what was known at that moment.")


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

    Use it for what will matter in many later sessions and is certain: who you are, limits of your
    tools, rules you must keep, lasting preferences of the user. Not for events, tasks, guesses or
    details: use archival_memory_insert.
    Example: {"section": "USER", "content": "Prefers short answers."}
    """
    with namespace_transaction(require_own_namespace(caller)) as namespace:
        change = core.append(namespace, ask.section, ask.content)
        return present_core_change(namespace, change)


def core_memory_replace(ask: CoreReplaceAsk, caller: Caller) -> CoreAnswer:
    """Change or remove one line of your core memory.

    Use it when a line is wrong or can be shorter; an empty `new` removes it. Not for adding a line.
    Example: {"section": "USER", "old": "Prefers short answers.",
    "new": "Prefers very short answers."}
    """
    with namespace_transaction(require_own_namespace(caller)) as namespace:
        change = core.replace(namespace, ask.section, ask.old, ask.new)
        return present_core_change(namespace, change)


def archival_memory_insert(ask: ArchivalInsertAsk, caller: Caller) -> InsertAnswer:
    """Remember something for good: a fact, an event, what somebody said or did.

    Use it for anything worth finding again that does not belong on the core page. A statement that
    is already known is confirmed. Not for world knowledge of the game: people write that.
    Example: {"content": "Mira Voss owes the Lanternbearers a crossing.", "subject": "Mira Voss"}
    """
    about = Particulars(**ask.model_dump(exclude={"content", "as_"}))
    namespace = require_own_namespace(caller)
    result = add.add(namespace, ask.content, models=add.site_models(namespace), about=about)
    return InsertAnswer(
        ids=[str(pk) for pk in result.ids],
        confirmed=[str(pk) for pk in result.confirmed],
        replaced=[str(pk) for pk in result.superseded],
        formerly=[str(pk) for pk in result.formerly],
        waiting=result.state == State.PENDING,
    )


def archival_memory_search(ask: ArchivalSearchAsk, caller: Caller) -> SearchOut:
    """Search your long-term memory by words and meaning.

    Use it before you answer from memory, with names and words that the memory contains. Not for the
    rules or lore of the game (rules_lookup, lore_search), nor for literal conversations
    (conversation_search).
    Example: {"query": "what does Mira owe the party"}
    """
    namespace = require_own_namespace(caller)
    result = recall.search(
        namespace, ask.query, limit=ask.limit, as_of=ask.as_of, where=ask.where(), share=MENTIONS
    )
    return present_search(result)


def conversation_search(ask: ConversationSearchAsk, caller: Caller) -> ConversationSearchAnswer:
    """Search the log of your conversations by words, meaning and date.

    Use it to find who said what and when, word by word. Without a query it lists the latest. Not
    for facts that you remember: use archival_memory_search.
    Example: {"query": "toll bell", "after": "2026-11-01T00:00:00Z"}
    """
    result = conversation.search_messages(require_own_namespace(caller), **ask.model_dump())
    hits = [
        MessageHit(
            id=str(message.pk),
            text=message.text,
            role=message.role,
            speaker=message.speaker,
            said_at=message.said_at,
            score=score,
        )
        for message, score in zip(result.messages, result.scores, strict=True)
    ]
    return ConversationSearchAnswer(hits=hits, degraded=list(result.degraded))


def present_core_change(
    namespace: Namespace, change: CoreVersion | CoreProposal | None
) -> CoreAnswer:
    current = core.current(namespace)
    return CoreAnswer(
        changed=isinstance(change, CoreVersion),
        version=current.number,
        core=current.markdown,
        problems=(change.problems or [REVIEWED]) if isinstance(change, CoreProposal) else [],
        lines=[
            CoreEvidence(
                section=line.section,
                text=line.text,
                memories=[str(memory.pk) for memory in line.memories],
                retracted=line.retracted,
            )
            for line in core_lines.lines_with_evidence(namespace, current.markdown)
        ],
    )
