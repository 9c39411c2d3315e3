"""REST API of the memories of an agent, one by one: list, read, change, take out of use, restore.

The operations are added to the router of `memories.api`: one address has one list of methods."""

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Body, Query, Status
from pydantic import Field

from memories.api import key_id, own_namespace, present_memory, require_reviewer, router
from memories.curation import edits, lifecycle
from memories.models import MemoryItem, Namespace
from memories.models.namespaces import Review
from memories.presenters import present_history
from memories.schemas import (
    AgentChange,
    AgentOut,
    EditIn,
    HistoryOut,
    MemoryOut,
    MemoryPage,
    ReasonIn,
)
from memories.states import Bucket, State
from retrieval.tasks import embed_soon
from worlds.keys import Scope
from worlds.rest import caller_of, own_transaction, tag
from worlds.rest_lists import ListQuery, TimeSort, page_of
from worlds.rest_rows import check_unchanged, digest_of_answer, require_unchanged, with_tag

MEMORY = "/item/{uuid:memory_id}"
SORTS = {"created": "id", "updated": "updated_at"}
Exactly = Annotated[str | None, Field(max_length=200, description="Exactly this text.")]


class MemoryListQuery(ListQuery):
    sort: TimeSort = "-created"
    state: Annotated[
        State,
        Field(
            description="`superseded`, `archived`, `expired` and `rejected` are kept as history "
            "and not searched."
        ),
    ] = State.ACTIVE
    bucket: Bucket | None = None
    source: Exactly = None
    subject: Exactly = None
    speaker: Exactly = None


@router.get("/agent", operation_id="agent_get", summary="Get the agent", response=AgentOut)
def get_agent(request: HttpRequest, response: HttpResponse) -> AgentOut:
    """Whose memory the key uses, and whether a person approves what it remembers."""
    return with_tag(response, present_agent(own_namespace(request)))


@router.patch("/agent", operation_id="agent_change", summary="Change the agent", response=AgentOut)
def patch_agent(
    request: HttpRequest, response: HttpResponse, change: Body[AgentChange]
) -> AgentOut:
    """`review`: what waits for a person's approval from now on. Needs the scope admin."""
    caller_of(request).require(Scope.ADMIN)
    namespace = own_namespace(request)
    with require_unchanged(request, namespace, present_agent):
        for name, value in change.model_dump(exclude_unset=True).items():
            setattr(namespace, name, value)
        namespace.save(update_fields=[*change.model_fields_set])
    return with_tag(response, present_agent(namespace))


def present_agent(namespace: Namespace) -> AgentOut:
    return AgentOut(namespace=namespace.name, language=namespace.language, review=namespace.review)


@router.get("", operation_id="memory_list", summary="List memories", response=MemoryPage)
def list_memories(
    request: HttpRequest, response: HttpResponse, query: Query[MemoryListQuery]
) -> dict[str, Any]:
    """Those of one state, by default the active ones, the newest first."""
    rows: Any = own_namespace(request).memories.filter(state=query.state).without_index_columns()
    for name in ("bucket", "source", "subject", "speaker"):
        if (value := getattr(query, name)) is not None:
            rows = rows.filter(**{name: value})
    page = page_of(request, response, rows, query, SORTS)
    return {"memories": list(page.rows), "next_cursor": page.next_cursor}


@router.get(
    MEMORY, operation_id="memory_get", summary="Get a memory with its history", response=HistoryOut
)
def get_memory(request: HttpRequest, response: HttpResponse, memory_id: UUID) -> HistoryOut:
    """All state changes, the memories it replaced, and its observations."""
    memory = lifecycle.find_memory(own_namespace(request), memory_id)
    tag(response, digest_of_answer(present_memory(memory)))
    return present_history(memory)


@router.patch(MEMORY, operation_id="memory_change", summary="Reword a memory", response=MemoryOut)
def patch_memory(
    request: HttpRequest, response: HttpResponse, memory_id: UUID, entry: Body[EditIn]
) -> MemoryOut:
    """The answer is a new memory with a new id; the old wording is superseded and kept. Needs the
    scope agent:review if the agent's memories are reviewed."""
    return reword(request, response, memory_id, entry)


@router.post(
    f"{MEMORY}/edit", operation_id="memory_edit", summary="Reword a memory", response=MemoryOut
)
def edit_memory(
    request: HttpRequest, response: HttpResponse, memory_id: UUID, entry: Body[EditIn]
) -> MemoryOut:
    """The same as PATCH of the memory, for programs that send nothing but POST."""
    return reword(request, response, memory_id, entry)


def reword(
    request: HttpRequest, response: HttpResponse, memory_id: UUID, entry: EditIn
) -> MemoryOut:
    namespace, by = own_namespace(request), key_id(request)
    require_reviewer(request, namespace, Review.ALL)
    memory = lifecycle.find_memory(namespace, memory_id)
    with require_unchanged(request, memory, present_memory, locks=False):
        new = edits.edit(namespace, memory_id, entry.text, by=by, reason=entry.reason)
        # The new wording has no vector yet.
        embed_soon("memory")
    return with_tag(response, present_memory(new))


@router.delete(
    MEMORY,
    operation_id="memory_delete",
    summary="Take a memory out of use",
    response={204: None},
)
def delete_memory(request: HttpRequest, memory_id: UUID) -> Status[None]:
    """Like archiving it: searches do not find it, and it can be restored. `POST /memory/erase`
    deletes for good."""
    archive(request, memory_id)
    return Status(204, None)


@router.post(
    f"{MEMORY}/archive",
    operation_id="memory_archive",
    summary="Archive a memory",
    response=MemoryOut,
)
def archive_memory(
    request: HttpRequest, response: HttpResponse, memory_id: UUID, entry: Body[ReasonIn]
) -> MemoryOut:
    """Exclude the memory from search. It is kept and can be restored."""
    return with_tag(response, present_memory(archive(request, memory_id, reason=entry.reason)))


def archive(request: HttpRequest, memory_id: UUID, *, reason: str = "") -> MemoryItem:
    namespace, by = own_namespace(request), key_id(request)
    memory = lifecycle.find_memory(namespace, memory_id)
    with require_unchanged(request, memory, present_memory, locks=False):
        return lifecycle.archive(namespace, memory_id, by=by, reason=reason)


@router.post(
    f"{MEMORY}/restore",
    operation_id="memory_restore",
    summary="Restore a memory",
    response=MemoryOut,
)
@own_transaction
def restore_memory(
    request: HttpRequest, response: HttpResponse, memory_id: UUID, entry: Body[ReasonIn]
) -> MemoryOut:
    """Make a superseded, archived, expired or rejected memory active again. Needs the scope
    agent:review if the agent's memories are reviewed."""
    namespace = own_namespace(request)
    require_reviewer(request, namespace, Review.ALL)
    check_unchanged(request, lifecycle.find_memory(namespace, memory_id), present_memory)
    by = key_id(request)
    memory = lifecycle.restore(namespace, memory_id, by=by, reason=entry.reason)
    return with_tag(response, present_memory(memory))


@router.post(
    f"{MEMORY}/undo",
    operation_id="memory_undo",
    summary="Undo an edit, merge or split",
    response=list[MemoryOut],
)
def undo(request: HttpRequest, memory_id: UUID) -> list[MemoryItem]:
    """Restore the memories that this one replaced, and supersede this one. Needs the scope
    agent:review if the agent's memories are reviewed."""
    namespace, by = own_namespace(request), key_id(request)
    require_reviewer(request, namespace, Review.ALL)
    memory = lifecycle.find_memory(namespace, memory_id)
    with require_unchanged(request, memory, present_memory, locks=False):
        return edits.undo(namespace, memory_id, by=by)
