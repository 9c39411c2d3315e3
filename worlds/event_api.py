"""REST: the event log of the key's world."""

from typing import Annotated, Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import Field

from worlds.base_schemas import StrictModel
from worlds.event_log.read import SeenEvent, events_after, latest_event
from worlds.keys import Scope
from worlds.rest import NeedsKey, caller_of
from worlds.schemas import EventKind, EventOut, Events

router = Router(tags=["events"], auth=NeedsKey(Scope.TOOLS_READ))
MOST_EVENTS = 500


class EventQuery(StrictModel):
    since: Annotated[
        UUID | Literal["latest"] | None,
        Field(
            description="Id of the last event you have; `latest`: only what comes from now on; "
            "empty: from the oldest that is kept."
        ),
    ] = None
    kind: Annotated[
        list[EventKind], Field(max_length=13, description="May be given several times; none: all.")
    ] = []
    limit: Annotated[int, Field(ge=1, le=MOST_EVENTS)] = 100


GONE = {
    "description": "Gone",
    "content": {
        "application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemOut"}}
    },
}


@router.get(
    "/events",
    operation_id="event_list",
    summary="What has changed",
    response=Events,
    openapi_extra={"responses": {410: GONE}},
)
def list_events(request: HttpRequest, query: Query[EventQuery]) -> Events:
    """The changes of the world that the key's audience may know of, in the order in which they
    were committed. An event says what changed, not how: read the row.

    Ask with `next` of the last answer as `since`. None is lost and none comes twice, also when
    writers, this server or the consumer are killed. The log is kept for some weeks; 410 tells that
    it does not reach back to `since`: read the lists again, then go on from `latest`."""
    caller = caller_of(request)
    if query.since == "latest":
        event = latest_event(caller)
        return Events(events=[], next=event.pk if event else None, more=False)
    seen, more = events_after(caller, query.since, limit=query.limit, kinds=query.kind)
    last = seen[-1].event.pk if seen else query.since
    is_gm = caller.audience.is_gm
    events = [present_event(each, with_version=is_gm) for each in seen]
    return Events(events=events, next=last, more=more)


def present_event(seen: SeenEvent, *, with_version: bool) -> EventOut:
    event = seen.event
    return EventOut(
        id=event.pk,
        at=event.at,
        kind=event.kind,
        action=seen.action.value,
        ref=event.ref,
        row=event.row_id,
        version=event.version if with_version else None,
    )
