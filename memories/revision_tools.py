"""The tool by which an agent corrects, closes, forgets and restores its memories. Scope
agent:write."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from memories.curation import edits, lifecycle
from memories.models import MemoryItem, Namespace
from memories.models.namespaces import Review
from memories.namespaces import require_own_namespace
from memories.states import Maker, State
from memories.tools import NPCMemoryAsk
from retrieval.errors import Invalid
from retrieval.tasks import embed_soon
from worlds.callers import Caller
from worlds.keys import Scope as KeyScope

Action = Literal["correct", "close", "forget", "restore"]
USES = {"text": "correct", "until": "close"}
"""The arguments that only one action has."""


class MemoryReviseAsk(NPCMemoryAsk):
    memory_id: UUID = Field(description="Id of the memory, as a search showed it.")
    action: Action = Field(
        description="correct: it is wrong. close: it is over. forget: it is of no use. restore."
    )
    text: str = Field("", max_length=20_000, description="correct: the memory as it should be.")
    reason: str = Field("", max_length=250, description="Why; kept in its history.")
    until: Annotated[
        datetime | None, Field(description="close: when it ends, if that is later.")
    ] = None


class MemoryReviseAnswer(BaseModel):
    """The memory after the change; for a correction the new one. `waiting`: a person has to approve
    it, and until then the former one is in use."""

    memory_id: str
    text: str
    state: str
    waiting: bool


def memory_revise(ask: MemoryReviseAsk, caller: Caller) -> MemoryReviseAnswer:
    """Correct a memory, close it, forget it, or restore one.

    Use it when a search shows a memory that is wrong (correct), that is settled or over (close),
    or that should not be found (forget). Nothing is deleted. Not for a value that has changed:
    archival_memory_insert with its key.
    Example: {"memory_id": "018f2a3b-0000-7000-8000-000000000000", "action": "close",
    "reason": "Mira paid the debt."}
    """
    for name, action in USES.items():
        if getattr(ask, name) and ask.action != action:
            raise Invalid(f"`{name}` belongs to the action {action}, not to {ask.action}.")
    if ask.action == "correct" and not ask.text.strip():
        raise Invalid(
            "`correct` needs `text`, the memory as it should be. To drop it, use `forget`."
        )
    memory = revise_memory(require_own_namespace(caller), ask, caller)
    return MemoryReviseAnswer(
        memory_id=str(memory.pk),
        text=memory.text,
        state=memory.state,
        waiting=memory.state == State.PENDING,
    )


def revise_memory(namespace: Namespace, ask: MemoryReviseAsk, caller: Caller) -> MemoryItem:
    # One that the caller may not see is not found, before anything else is said of it.
    lifecycle.find_memory(namespace, ask.memory_id)
    by = str(caller.key or "agent")
    if ask.action == "correct":
        corrected = edits.edit(
            namespace, ask.memory_id, ask.text, by=by, reason=ask.reason, made_by=Maker.TOOL
        )
        # The new wording has no vector yet.
        embed_soon("memory")
        return corrected
    if ask.action == "close":
        return lifecycle.close(namespace, ask.memory_id, by=by, reason=ask.reason, until=ask.until)
    if ask.action == "forget":
        return lifecycle.archive(namespace, ask.memory_id, by=by, reason=ask.reason)
    if namespace.review == Review.ALL:
        # Else an agent could bring into use what a person has rejected.
        caller.require(KeyScope.AGENT_REVIEW)
    return lifecycle.restore(namespace, ask.memory_id, by=by, reason=ask.reason)
