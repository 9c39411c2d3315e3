"""REST for the audit: who called what, for which audience, and which rows the answers held."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router
from pydantic import Field

from retrieval.errors import NotFound
from worlds.base_schemas import ResponseModel
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.models import AuditedCall
from worlds.rest import NeedsKey, require_whole_world
from worlds.rest_lists import ListQuery, TimeSort, page_of
from worlds.rest_rows import with_tag
from worlds.schemas import NextCursor

router = Router(tags=["audit"], auth=NeedsKey(Scope.ADMIN))
SORTS = {"created": "id", "updated": "at"}
Name = Annotated[str | None, Field(max_length=120, pattern=r"^[^\x00]*$")]


class AuditedCallOut(ResponseModel):
    """One call of a program."""

    id: UUID
    at: datetime
    operation: str
    interface: str
    audience: str
    key_id: UUID | None
    key_name: str | None
    request_id: str
    asked: dict[str, Any]
    returned: list[str]
    degraded: list[str]
    status: int
    code: str
    milliseconds: float


class AuditPage(ResponseModel):
    """A page of calls."""

    calls: list[AuditedCallOut]
    next_cursor: NextCursor = None


class AuditQuery(ListQuery):
    sort: TimeSort = "-created"
    since: Annotated[datetime | None, Field(description="Calls since then (RFC 3339).")] = None
    until: Annotated[datetime | None, Field(description="Calls before then (RFC 3339).")] = None
    operation: Annotated[Name, Field(description="Calls of this tool or operation.")] = None
    audience: Annotated[Name, Field(description="Calls for this audience.")] = None
    key_id: Annotated[UUID | None, Field(description="Calls with this key.")] = None
    request_id: Annotated[Name, Field(description="The call of this request.")] = None
    failed: Annotated[
        bool | None, Field(description="true: calls that were refused or failed; false: others.")
    ] = None


@router.get(
    "/audit", operation_id="audit_list", summary="List the calls of programs", response=AuditPage
)
def list_calls(
    request: HttpRequest, response: HttpResponse, query: Query[AuditQuery]
) -> dict[str, Any]:
    """Calls of every key of this world over REST, MCP and the tools, as long as they are kept
    (`AUDIT_DAYS`). A row is written some milliseconds after its answer."""
    rows = narrow(calls_of(require_whole_world(request)), query)
    return page_of(request, response, rows, query, SORTS).answer("calls", present_call)


@router.get(
    "/audit/{uuid:call_id}",
    operation_id="audit_get",
    summary="Get a call of a program",
    response=AuditedCallOut,
)
def get_call(request: HttpRequest, response: HttpResponse, call_id: UUID) -> AuditedCallOut:
    """Who asked what, and the ids of the rows that the answer held."""
    row = calls_of(require_whole_world(request)).filter(pk=call_id).first()
    if row is None:
        raise NotFound(f"There is no call {call_id} in the audit of this world.")
    return with_tag(response, present_call(row))


def calls_of(caller: Caller) -> "QuerySet[AuditedCall]":
    return AuditedCall.objects.filter(world=caller.world).select_related("key")


def narrow(rows: "QuerySet[AuditedCall]", query: AuditQuery) -> "QuerySet[AuditedCall]":
    values = {
        "tool": query.operation,
        "audience": query.audience,
        "key": query.key_id,
        "request_id": query.request_id,
        "at__lt": query.until,
    }
    rows = rows.filter(**{name: value for name, value in values.items() if value is not None})
    if query.failed is not None:
        rows = rows.filter(status__gte=400) if query.failed else rows.filter(status__lt=400)
    return rows


def present_call(call: AuditedCall) -> AuditedCallOut:
    same = ("at", "audience", "request_id", "asked", "returned", "degraded", "status", "code")
    return AuditedCallOut(
        id=call.pk,
        operation=call.tool,
        interface=call.door,
        key_id=call.key_id,
        key_name=call.key.name if call.key else None,
        milliseconds=call.milliseconds,
        **{name: getattr(call, name) for name in same},
    )
