"""REST for agents: their own memory, its review, its history and its end. Scope agent:write, the key's namespace."""

from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Body, Query, Router, Status

from memories import conversation, core, transfer
from memories.curation import edits, health, inbox, lifecycle
from memories.erasure import deletion
from memories.ingest import add
from memories.ledger.plan import Particulars
from memories.ledger.single import Written
from memories.models import CoreProposal, CoreVersion, ErasureReceipt, MemoryItem, Namespace
from memories.namespaces import require_own_namespace
from memories.presenters import present_history, present_hit
from memories.schemas import (
    AddIn,
    AddOut,
    CoreDiffOut,
    CoreOut,
    CoreProposalOut,
    CoreVersionOut,
    CoreWriteIn,
    EditIn,
    EraseIn,
    HealthOut,
    HistoryOut,
    MemoryOut,
    MemoryPage,
    MergeIn,
    MessageIn,
    MessageOut,
    PendingOut,
    ReasonIn,
    ReceiptOut,
    ReviewDecisionIn,
    ReviewResultOut,
    SearchIn,
    SearchOut,
    SplitIn,
)
from memories.search import recall
from memories.search.history import page
from memories.states import State
from retrieval.tasks import embed_soon
from worlds.keys import Scope
from worlds.rest import NeedsKey, caller_of, check_match, own_transaction, tag

router = Router(tags=["memory"], auth=NeedsKey(Scope.AGENT_WRITE))
NDJSON = "application/x-ndjson"
Limit = Annotated[int, Query(ge=1, le=100)]


def mine(request: HttpRequest) -> Namespace:
    return require_own_namespace(caller_of(request))


def author(request: HttpRequest) -> str:
    key = caller_of(request).key
    return str(key or "")


def _added(written: Written) -> AddOut:
    lists = {
        name: getattr(written, name)
        for name in ("ids", "superseded", "confirmed", "formerly", "observations")
    }
    version = written.core.number if isinstance(written.core, CoreVersion) else None
    proposal = written.core.pk if isinstance(written.core, CoreProposal) else None
    return AddOut(**lists, state=written.state, core_version=version, core_proposal=proposal)


# --- remember and recall


@router.post("", operation_id="memory_add", summary="Remember", response={201: AddOut})
@own_transaction
def add_memory(request: HttpRequest, entry: Body[AddIn]) -> Status[AddOut]:
    """Everything of one call is stored together or not at all. Known statements are confirmed, not doubled."""
    about = Particulars(**entry.model_dump(exclude={"contents"}))
    written = add.add(mine(request), entry.contents, minds=add.site_models(), about=about)
    return Status(201, _added(written))


@router.post("/search", operation_id="memory_search", summary="Recall", response=SearchOut)
def search_memories(request: HttpRequest, asked: Body[SearchIn]) -> SearchOut:
    """By words and meaning; with the observations each memory rests on."""
    found = recall.search(mine(request), asked.query, **asked.model_dump(exclude={"query"}))
    return SearchOut(
        hits=[present_hit(memory) for memory in found.memories], degraded=list(found.degraded)
    )


@router.get(
    "", operation_id="memory_list", summary="Memories by state, latest first", response=MemoryPage
)
def list_memories(
    request: HttpRequest, state: State = State.ACTIVE, cursor: UUID | None = None, limit: Limit = 50
) -> dict[str, Any]:
    """`superseded`, `archived`, `expired` and `rejected` are history: kept, not retrieved."""
    rows, following = page(mine(request).memories.filter(state=state), cursor=cursor, limit=limit)
    return {"memories": rows, "next_cursor": following}


@router.get(
    "/item/{uuid:memory_id}",
    operation_id="memory_get",
    summary="One with its history",
    response=HistoryOut,
)
def get_memory(request: HttpRequest, memory_id: UUID) -> HistoryOut:
    """Every state it was in, what it replaced, and what it rests on."""
    return present_history(lifecycle.find(mine(request), memory_id))


@router.post(
    "/item/{uuid:memory_id}/edit", operation_id="memory_edit", summary="Reword", response=MemoryOut
)
def edit_memory(request: HttpRequest, memory_id: UUID, entry: Body[EditIn]) -> MemoryItem:
    """The former wording is superseded and kept."""
    namespace = mine(request)
    edited = edits.edit(namespace, memory_id, entry.text, by=author(request), reason=entry.reason)
    embed_soon("memory")
    return edited


@router.post(
    "/item/{uuid:memory_id}/archive",
    operation_id="memory_archive",
    summary="Archive",
    response=MemoryOut,
)
def archive_memory(request: HttpRequest, memory_id: UUID, entry: Body[ReasonIn]) -> MemoryItem:
    """Out of use, kept, restorable."""
    return lifecycle.archive(mine(request), memory_id, by=author(request), reason=entry.reason)


@router.post(
    "/item/{uuid:memory_id}/restore",
    operation_id="memory_restore",
    summary="Restore",
    response=MemoryOut,
)
def restore_memory(request: HttpRequest, memory_id: UUID, entry: Body[ReasonIn]) -> MemoryItem:
    """Back into use, whatever it was out of use for."""
    return lifecycle.restore(mine(request), memory_id, by=author(request), reason=entry.reason)


@router.post("/erase", operation_id="memory_erase", summary="Delete for good", response=ReceiptOut)
def erase(request: HttpRequest, entry: Body[EraseIn]) -> ErasureReceipt:
    """Rows, history, vectors, words, audit and caches; the receipt names what a search afterwards still found."""
    namespace, by, reason = mine(request), author(request), entry.reason
    if entry.scope == "namespace":
        return deletion.erase_namespace(namespace, by=by, reason=reason)
    act = {
        "memory": deletion.erase_memory,
        "source": deletion.erase_source,
        "subject": deletion.erase_subject,
    }
    return act[entry.scope](namespace, entry.target, by=by, reason=reason)


@router.get(
    "/export",
    operation_id="memory_export",
    summary="All of it as JSONL",
    openapi_extra={
        "responses": {200: {"description": "One object a line", "content": {NDJSON: {}}}}
    },
)
def export_memory(request: HttpRequest) -> HttpResponse:
    """Lossless, with history; `manage.py memory import` reads it."""
    lines = "\n".join(transfer.export_namespace(mine(request))) + "\n"
    return HttpResponse(lines, content_type=f"{NDJSON}; charset=utf-8")


@router.get(
    "/health", operation_id="memory_health", summary="State of the store", response=HealthOut
)
def get_health(request: HttpRequest) -> HealthOut:
    """Duplicates, stale, unsourced, never recalled, pending; and the readings of the last days."""
    found = health.examine(mine(request))
    trend = [{"day": reading.day, "counts": reading.counts} for reading in found.trend]
    return HealthOut(counts=found.counts, trend=trend)


# --- review


@router.get(
    "/inbox", operation_id="memory_inbox", summary="Waiting for approval", response=MemoryPage
)
def list_pending(
    request: HttpRequest, cursor: UUID | None = None, limit: Limit = 50
) -> dict[str, Any]:
    """Oldest first."""
    rows = inbox.inbox(mine(request), limit=limit + 1, after=cursor)
    return {
        "memories": rows[:limit],
        "next_cursor": rows[limit - 1].pk if len(rows) > limit else None,
    }


@router.get(
    "/inbox/{uuid:memory_id}",
    operation_id="memory_pending",
    summary="One to decide",
    response=PendingOut,
)
def pending(request: HttpRequest, memory_id: UUID) -> dict[str, Any]:
    """Beside the nearest existing memories and its evidence."""
    shown = inbox.pending(mine(request), memory_id)
    beside = [vars(near) for near in shown.beside]
    return {
        "memory": shown.memory,
        "observations": shown.evidence,
        "replaces": shown.replaces,
        "beside": beside,
    }


@router.post(
    "/inbox/decide",
    operation_id="memory_decide",
    summary="Approve or reject many",
    response=ReviewResultOut,
)
def decide(request: HttpRequest, entry: Body[ReviewDecisionIn]) -> inbox.Decided:
    """Each for itself: what fails is named and does not undo the others."""
    approved = entry.decision == "approve"
    return inbox.decide_all(mine(request), entry.ids, approved=approved, by=author(request))


@router.post(
    "/inbox/{uuid:memory_id}/edit",
    operation_id="memory_approve_edited",
    summary="Approve reworded",
    response=MemoryOut,
)
def approve_edited(request: HttpRequest, memory_id: UUID, entry: Body[EditIn]) -> MemoryItem:
    """The machine's wording is kept as history."""
    edited = inbox.edit(mine(request), memory_id, entry.text, by=author(request))
    embed_soon("memory")
    return edited


@router.post(
    "/inbox/{uuid:memory_id}/split",
    operation_id="memory_approve_split",
    summary="Approve as several",
    response=list[MemoryOut],
)
def approve_split(request: HttpRequest, memory_id: UUID, entry: Body[SplitIn]) -> list[MemoryItem]:
    """One memory for each text."""
    made = inbox.split(mine(request), memory_id, entry.texts, by=author(request))
    embed_soon("memory")
    return made


@router.post(
    "/merge", operation_id="memory_merge", summary="Make one of several", response=MemoryOut
)
def merge(request: HttpRequest, entry: Body[MergeIn]) -> MemoryItem:
    """Pending ones are approved by it; all are superseded and can be brought back by undo."""
    merged = inbox.merge(mine(request), entry.ids, entry.text, by=author(request))
    embed_soon("memory")
    return merged


@router.post(
    "/item/{uuid:memory_id}/undo",
    operation_id="memory_undo",
    summary="Undo edit, merge or split",
    response=list[MemoryOut],
)
def undo(request: HttpRequest, memory_id: UUID) -> list[MemoryItem]:
    """What this memory replaced comes back into use, and it leaves it."""
    return edits.undo(mine(request), memory_id, by=author(request))


# --- core memory


@router.get("/core", operation_id="core_get", summary="The core memory", response=CoreOut)
def get_core(request: HttpRequest, response: HttpResponse) -> CoreOut:
    """Markdown with the sections SOUL, TOOLS, RULE, USER."""
    now = core.current(mine(request))
    tag(response, now.number)
    return CoreOut(version=now.number, markdown=now.markdown)


@router.put("/core", operation_id="core_put", summary="Write the core memory", response=CoreOut)
def put_core(request: HttpRequest, response: HttpResponse, entry: Body[CoreWriteIn]) -> CoreOut:
    """Sections must be intact. `If-Match` with the ETag last read keeps two writers apart."""
    namespace = mine(request)
    check_match(request, core.current(namespace).number)
    made = core.write(namespace, entry.markdown, reason=entry.reason, author=author(request))
    tag(response, made.number)
    return CoreOut(version=made.number, markdown=made.markdown)


@router.get(
    "/core/versions",
    operation_id="core_versions",
    summary="Its versions",
    response=list[CoreVersionOut],
)
def core_versions(request: HttpRequest, limit: Limit = 50) -> list[CoreVersion]:
    """Latest first, each with its reason."""
    return list(mine(request).core_versions.order_by("-number")[:limit])


@router.get(
    "/core/versions/{number}/diff",
    operation_id="core_diff",
    summary="What changed",
    response=CoreDiffOut,
)
def core_diff(request: HttpRequest, number: int, against: int | None = None) -> CoreDiffOut:
    """Against the version before, or the one named."""
    return CoreDiffOut(lines=core.diff(mine(request), number, against=against))


@router.post(
    "/core/versions/{number}/restore",
    operation_id="core_restore",
    summary="Restore",
    response=CoreOut,
)
def core_restore(request: HttpRequest, number: int, entry: Body[ReasonIn]) -> CoreOut:
    """The old text becomes a new version."""
    made = core.restore(mine(request), number, reason=entry.reason, author=author(request))
    return CoreOut(version=made.number, markdown=made.markdown)


@router.get(
    "/core/proposals",
    operation_id="core_proposals",
    summary="Open proposals",
    response=list[CoreProposalOut],
)
def core_proposals(request: HttpRequest) -> list[CoreProposal]:
    """Updates that the policy refused or that wait for approval, with what stands against them."""
    return list(
        mine(request)
        .core_proposals.filter(verdict=CoreProposal.Verdict.OPEN)
        .order_by("-created_at")[:100]
    )


@router.post(
    "/core/proposals/{uuid:proposal_id}/{decision}",
    operation_id="core_decide",
    summary="Approve or reject",
    response=CoreOut,
)
def core_decide(
    request: HttpRequest, proposal_id: UUID, decision: Literal["approve", "reject"]
) -> CoreOut:
    """The core memory as it is afterwards."""
    namespace = mine(request)
    if decision == "approve":
        core.approve(proposal_id, namespace, author=author(request))
    else:
        core.reject(proposal_id, namespace, author=author(request))
    now = core.current(namespace)
    return CoreOut(version=now.number, markdown=now.markdown)


# --- conversation


@router.post(
    "/messages", operation_id="message_add", summary="Log a message", response={201: MessageOut}
)
def add_message(request: HttpRequest, entry: Body[MessageIn]) -> Status[MessageOut]:
    """Found again with the tool conversation_search."""
    said = conversation.log_message(mine(request), **entry.model_dump())
    embed_soon("conversation")
    return Status(201, MessageOut(id=said.pk))
