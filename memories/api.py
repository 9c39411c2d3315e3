"""REST API of an agent's memory: scope agent:write, the namespace of the caller's key."""

from typing import Annotated, Any, Literal
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Body, Query, Router, Status

from memories import conversation, core, transfer
from memories.curation import health, inbox, lifecycle
from memories.erasure import deletion
from memories.ingest import add
from memories.ledger.plan import Particulars
from memories.models import CoreProposal, CoreVersion, ErasureReceipt, MemoryItem, Namespace
from memories.models.namespaces import Review
from memories.namespaces import require_own_namespace
from memories.presenters import present_search
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
from retrieval.errors import Forbidden
from retrieval.tasks import embed_soon
from worlds.keys import Scope
from worlds.rest import NeedsKey, caller_of, expecting, own_transaction, tag
from worlds.rest_rows import digest_of_answer, require_unchanged, with_tag

router = Router(tags=["memory"], auth=NeedsKey(Scope.AGENT_WRITE))
NDJSON = "application/x-ndjson"
PENDING = "/inbox/{uuid:memory_id}"
JSON_LINES = {200: {"description": "One JSON object per line", "content": {NDJSON: {}}}}
Limit = Annotated[int, Query(ge=1, le=100)]


def own_namespace(request: HttpRequest) -> Namespace:
    """Return the caller's namespace; raise `Forbidden` for one of whose episodes the caller may
    know a part."""
    namespace = require_own_namespace(caller_of(request))
    if namespace.only_campaign:
        raise Forbidden(
            "This memory is of the whole world, and the key is bound to a campaign: use the tools "
            "that search it."
        )
    return namespace


def require_reviewer(request: HttpRequest, namespace: Namespace, *reviews: Review) -> None:
    """Raise `WrongScope` unless the caller may approve, if the namespace has one of these
    `reviews`: otherwise an agent's own key could bring into use what waits for a person."""
    if namespace.review in reviews:
        caller_of(request).require(Scope.AGENT_REVIEW)


def key_id(request: HttpRequest) -> str:
    """Return the id of the caller's key, the author of what the request changes."""
    return str(caller_of(request).key or "")


def present_memory(memory: MemoryItem) -> MemoryOut:
    return MemoryOut.model_validate(memory)


def present_core(core_text: CoreVersion | core.CurrentCore) -> CoreOut:
    return CoreOut(version=core_text.number, markdown=core_text.markdown)


# --- add, search, read


@router.post("", operation_id="memory_add", summary="Add memories", response={201: AddOut})
@own_transaction
def add_memory(request: HttpRequest, entry: Body[AddIn]) -> Status[AddOut]:
    """Store all contents in one transaction. A statement that is already known is confirmed."""
    about = Particulars(**entry.model_dump(exclude={"contents"}))
    namespace = own_namespace(request)
    models = add.site_models(namespace)
    result = add.add(namespace, entry.contents, models=models, about=about)
    names = ("ids", "superseded", "confirmed", "formerly", "observations", "state")
    answer = AddOut(**{name: getattr(result, name) for name in names})
    if isinstance(result.core, CoreVersion):
        answer.core_version = result.core.number
    elif result.core is not None:
        answer.core_proposal = result.core.pk
    return Status(201, answer)


@router.post("/search", operation_id="memory_search", summary="Search memories", response=SearchOut)
def search_memories(request: HttpRequest, entry: Body[SearchIn]) -> SearchOut:
    """Search by words and vectors. Each hit has the observations it is derived from."""
    namespace = require_own_namespace(caller_of(request))
    options = entry.model_dump(exclude={"query", "where"})
    result = recall.search(namespace, entry.query, where=entry.where.filter(), **options)
    return present_search(result)


@router.post(
    "/erase", operation_id="memory_erase", summary="Delete permanently", response=ReceiptOut
)
def erase(request: HttpRequest, entry: Body[EraseIn]) -> ErasureReceipt:
    """Delete rows, history, vectors, word statistics, audit entries and caches. The receipt lists
    what a search of all tables found afterwards."""
    return deletion.erase(
        own_namespace(request),
        entry.scope,
        entry.target,
        by=key_id(request),
        reason=entry.reason,
        also=entry.also,
    )


@router.get(
    "/export",
    operation_id="memory_export",
    summary="Export as JSONL",
    openapi_extra={"responses": JSON_LINES},
)
def export_memory(request: HttpRequest) -> HttpResponse:
    """All rows with their history; `manage.py memory import` reads the file."""
    lines = "\n".join(transfer.export_namespace(own_namespace(request))) + "\n"
    return HttpResponse(lines, content_type=f"{NDJSON}; charset=utf-8")


@router.get("/health", operation_id="memory_health", summary="Store health", response=HealthOut)
def get_health(request: HttpRequest) -> HealthOut:
    """Counts of duplicates, stale, unsourced, never recalled and pending memories, with the
    readings of the last 30 days."""
    result = health.record_health(own_namespace(request))
    trend = [{"day": reading.day, "counts": reading.counts} for reading in result.trend]
    return HealthOut(counts=result.counts, trend=trend)


# --- review


@router.get("/inbox", operation_id="memory_inbox", summary="List pending", response=MemoryPage)
def list_pending(
    request: HttpRequest, cursor: UUID | None = None, limit: Limit = 50
) -> dict[str, Any]:
    """Memories that wait for approval, oldest first."""
    # One row more than asked for shows whether there is a next page.
    rows = inbox.inbox(own_namespace(request), limit=limit + 1, after=cursor)
    next_cursor = str(rows[limit - 1].pk) if len(rows) > limit else None
    return {"memories": rows[:limit], "next_cursor": next_cursor}


@router.get(PENDING, operation_id="memory_pending", summary="Get pending", response=PendingOut)
def get_pending(request: HttpRequest, response: HttpResponse, memory_id: UUID) -> dict[str, Any]:
    """A pending memory with its observations, what it would replace and the nearest memories."""
    case = inbox.pending(own_namespace(request), memory_id)
    tag(response, digest_of_answer(present_memory(case.memory)))
    return {**vars(case), "observations": case.evidence}


@router.post(
    "/inbox/decide",
    operation_id="memory_decide",
    summary="Approve or reject many",
    response=ReviewResultOut,
)
def decide(request: HttpRequest, entry: Body[ReviewDecisionIn]) -> inbox.DecisionResult:
    """Each decision is independent: `failed` names the memories that could not be decided and
    why. Needs the scope agent:review."""
    caller_of(request).require(Scope.AGENT_REVIEW)
    is_approval, by = entry.decision == "approve", key_id(request)
    return inbox.decide_all(own_namespace(request), entry.ids, is_approval=is_approval, by=by)


@router.post(
    f"{PENDING}/edit",
    operation_id="memory_approve_edited",
    summary="Approve with edits",
    response=MemoryOut,
)
def approve_edited(
    request: HttpRequest, response: HttpResponse, memory_id: UUID, entry: Body[EditIn]
) -> MemoryOut:
    """The original wording is kept as history. Needs the scope agent:review."""
    caller_of(request).require(Scope.AGENT_REVIEW)
    namespace = own_namespace(request)
    pending = lifecycle.find_memory(namespace, memory_id)
    with require_unchanged(request, pending, present_memory, locks=False):
        memory = inbox.edit(namespace, memory_id, entry.text, by=key_id(request))
        embed_soon("memory")
    return with_tag(response, present_memory(memory))


@router.post(
    f"{PENDING}/split",
    operation_id="memory_approve_split",
    summary="Approve as several",
    response=list[MemoryOut],
)
def approve_split(request: HttpRequest, memory_id: UUID, entry: Body[SplitIn]) -> list[MemoryItem]:
    """Create one memory for each text. Needs the scope agent:review."""
    caller_of(request).require(Scope.AGENT_REVIEW)
    namespace = own_namespace(request)
    pending = lifecycle.find_memory(namespace, memory_id)
    with require_unchanged(request, pending, present_memory, locks=False):
        memories = inbox.split(namespace, memory_id, entry.texts, by=key_id(request))
        embed_soon("memory")
    return memories


@router.post("/merge", operation_id="memory_merge", summary="Merge", response=MemoryOut)
def merge(request: HttpRequest, entry: Body[MergeIn]) -> MemoryItem:
    """Replace several memories by one. Pending ones are approved first; undo restores all of
    them. Needs the scope agent:review if the agent's memories are reviewed."""
    namespace = own_namespace(request)
    require_reviewer(request, namespace, Review.ALL)
    memory = inbox.merge(namespace, entry.ids, entry.text, by=key_id(request))
    embed_soon("memory")
    return memory


# --- core memory


@router.get("/core", operation_id="core_get", summary="Get the core memory", response=CoreOut)
def get_core(request: HttpRequest, response: HttpResponse) -> CoreOut:
    """Markdown with the sections SOUL, TOOLS, RULE, USER."""
    current = core.current(own_namespace(request))
    tag(response, current.number)
    return present_core(current)


@router.put("/core", operation_id="core_put", summary="Replace the core memory", response=CoreOut)
def put_core(request: HttpRequest, response: HttpResponse, entry: Body[CoreWriteIn]) -> CoreOut:
    """All four sections are required. Send `If-Match` with the last ETag to detect other
    writers. Needs the scope agent:review if the agent's core memory is reviewed: without it, use
    the tools, whose changes wait for approval."""
    namespace, author = own_namespace(request), key_id(request)
    require_reviewer(request, namespace, Review.CORE, Review.ALL)
    # Version 0 is the empty template, so the first writer can send a tag too.
    with expecting(request, core.current(namespace).number) as number:
        version = core.write_by_hand(
            namespace, entry.markdown, reason=entry.reason, author=author, base_number=number
        )
    tag(response, version.number)
    return present_core(version)


@router.get(
    "/core/versions",
    operation_id="core_versions",
    summary="List core versions",
    response=list[CoreVersionOut],
)
def core_versions(request: HttpRequest, limit: Limit = 50) -> list[CoreVersion]:
    """Latest first, each with its reason."""
    return list(own_namespace(request).core_versions.order_by("-number")[:limit])


@router.get(
    "/core/versions/{number}/diff",
    operation_id="core_diff",
    summary="Diff of a core version",
    response=CoreDiffOut,
)
def core_diff(request: HttpRequest, number: int, against: int | None = None) -> CoreDiffOut:
    """Unified diff from version `against`, by default the previous one, to `number`."""
    return CoreDiffOut(lines=core.diff(own_namespace(request), number, against=against))


@router.post(
    "/core/versions/{number}/restore",
    operation_id="core_restore",
    summary="Restore a core version",
    response=CoreOut,
)
def core_restore(
    request: HttpRequest, response: HttpResponse, number: int, entry: Body[ReasonIn]
) -> CoreOut:
    """Store the text of the old version as a new version. Needs the scope agent:review if the
    agent's core memory is reviewed."""
    namespace, author = own_namespace(request), key_id(request)
    require_reviewer(request, namespace, Review.CORE, Review.ALL)
    with expecting(request, core.current(namespace).number):
        version = core.restore(namespace, number, reason=entry.reason, author=author)
    tag(response, version.number)
    return present_core(version)


@router.get(
    "/core/proposals",
    operation_id="core_proposals",
    summary="List open core proposals",
    response=list[CoreProposalOut],
)
def core_proposals(request: HttpRequest) -> "QuerySet[CoreProposal]":
    """Updates that the policy refused (see `problems`) or that wait for approval, latest first."""
    proposals = own_namespace(request).core_proposals
    return proposals.filter(verdict=CoreProposal.Verdict.OPEN).order_by("-created_at", "-pk")[:100]


@router.post(
    "/core/proposals/{uuid:proposal_id}/{decision}",
    operation_id="core_decide",
    summary="Approve or reject a core proposal",
    response=CoreOut,
)
def core_decide(
    request: HttpRequest, proposal_id: UUID, decision: Literal["approve", "reject"]
) -> CoreOut:
    """Return the core memory after the decision. Needs the scope agent:review."""
    caller_of(request).require(Scope.AGENT_REVIEW)
    namespace, author = own_namespace(request), key_id(request)
    if decision == "approve":
        core.approve(proposal_id, namespace, author=author)
    else:
        core.reject(proposal_id, namespace, author=author)
    return present_core(core.current(namespace))


# --- conversation


@router.post(
    "/messages", operation_id="message_add", summary="Log a message", response={201: MessageOut}
)
def add_message(request: HttpRequest, entry: Body[MessageIn]) -> Status[MessageOut]:
    """The tool conversation_search searches this log."""
    message = conversation.log_message(own_namespace(request), **entry.model_dump())
    embed_soon("conversation")
    return Status(201, MessageOut(id=message.pk))
