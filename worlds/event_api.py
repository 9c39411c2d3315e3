"""REST: the event log of the key's world, as a list and as a stream."""

from typing import Annotated, Any, Literal
from uuid import UUID

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Header, Query, Router
from pydantic import Field

from retrieval.errors import Problem
from worlds.base_schemas import StrictModel
from worlds.event_log.access import KeyAccess
from worlds.event_log.present import present_event
from worlds.event_log.read import events_after, latest_event
from worlds.event_log.streams import LATEST, OLDEST, EventStream, poller
from worlds.keys import Scope
from worlds.rest import GONE, NeedsKey, caller_of, key_of
from worlds.schemas import EventKind, Events

router = Router(tags=["events"], auth=NeedsKey(Scope.TOOLS_READ))
MOST_EVENTS = 500


Since = UUID | Literal["latest", "oldest"]


class StreamQuery(StrictModel):
    since: Annotated[
        Since,
        Field(
            description="Id of the last event you have; `latest`: only what comes from now on; "
            "`oldest`: from the oldest that is kept."
        ),
    ] = "oldest"
    kind: Annotated[
        list[EventKind], Field(max_length=14, description="May be given several times; none: all.")
    ] = []


class EventQuery(StreamQuery):
    limit: Annotated[int, Field(ge=1, le=MOST_EVENTS)] = 100


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
    if query.since == LATEST:
        event = latest_event(caller)
        return Events(events=[], next=event.pk if event else None, more=False)
    since = None if query.since == OLDEST else UUID(str(query.since))
    seen, more = events_after(caller, since, limit=query.limit, kinds=query.kind)
    last = seen[-1].event.pk if seen else since
    is_gm = caller.audience.is_gm
    events = [present_event(each, with_version=is_gm) for each in seen]
    return Events(events=events, next=last, more=more)


class StreamNeedsAsgi(Problem):
    code, title = "stream_needs_asgi", "This server process cannot keep a stream open"


STREAM: dict[Any, Any] = {
    200: {
        "description": "Frames of Server-Sent Events: `id` and, as JSON in `data`, the event. The "
        "event `end` says why the server ends the stream.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    410: GONE,
}
STREAM_HEADERS = {
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",  # nginx would hold events back until its buffer is full
}


@router.get(
    "/events/stream",
    operation_id="event_stream",
    summary="What changes, as it changes",
    response={200: None},
    openapi_extra={"responses": STREAM},
)
def stream_events(
    request: HttpRequest,
    query: Query[StreamQuery],
    last_event_id: Annotated[
        Since | Literal[""] | None,
        Header(description="The last `id` of the stream before; goes before `since`."),
    ] = None,
) -> StreamingHttpResponse:
    """The events of `GET /events` as Server-Sent Events, each within a second of its commit. After
    an interruption send the last `id` as `Last-Event-ID`, as browsers do by themselves: none is
    lost and none comes twice. A comment comes every 15 seconds in which there is no event."""
    since = str(last_event_id or query.since)
    stream = EventStream(
        caller_of(request), KeyAccess.of(key_of(request)), kinds=query.kind, since=since
    )
    if not isinstance(request, ASGIRequest):
        raise StreamNeedsAsgi("Serve memory_site.asgi, or ask GET /events.")
    poller.add(stream)
    return StreamingHttpResponse(
        stream.frames(), content_type="text/event-stream", headers=STREAM_HEADERS
    )
