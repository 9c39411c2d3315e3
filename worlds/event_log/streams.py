"""Open streams of events (Server-Sent Events), and the one thread of the process that feeds them.

A stream holds neither a thread nor a connection while it waits. The thread looks into the log every
`POLL_SECONDS`, once for all streams that are alike; a database that notified of each commit would
let writers wait for each other (docs/decisions/0055).
"""

import asyncio
import logging
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Hashable, Iterable, Sequence
from dataclasses import replace
from time import monotonic
from uuid import UUID
from weakref import WeakSet

import orjson
from django.conf import settings
from django.db import connection

from retrieval.errors import Problem, RateLimited
from worlds.audiences import Audience, resolve_audience
from worlds.callers import Caller
from worlds.event_log.access import Access
from worlds.event_log.present import present_event
from worlds.event_log.read import (
    SeenEvent,
    events_beyond,
    last_positions,
    latest_event,
    position_of,
)
from worlds.models import World

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.25
ACCESS_SECONDS = 1.0
"""How often the rights of the readers are checked."""
HEARTBEAT_SECONDS = 15.0
RETRY_MILLISECONDS = 2000
BATCH = 500
LATEST, OLDEST = "latest", "oldest"


class TooManyStreams(RateLimited):
    code, title = "too_many_streams", "Too many open streams"


class StreamsFull(Problem):
    code, title = "streams_full", "The server has as many open streams as it may"


class EventStream:
    """The events that `caller` may know of, as frames of Server-Sent Events, for one reader.

    `feed_batch` and `end` are called by the polling thread, everything else by the event loop.
    """

    def __init__(
        self, caller: Caller, access: Access, *, kinds: Sequence[str] = (), since: str = OLDEST
    ) -> None:
        """`since` is the id of an event, `latest` or `oldest`. Raises `EventsGone`."""
        self.caller, self.access, self.kinds = caller, access, tuple(sorted(kinds))
        self.position, self.last_id = begin_of(caller, since)
        self.batch: list[bytes] = []
        self.has_more = self.is_closed = False
        self.reason = ""
        self.loop: asyncio.AbstractEventLoop | None = None
        self.woken = asyncio.Event()

    @property
    def feed(self) -> Hashable:
        """Streams with the same feed get the same events."""
        caller = self.caller
        campaign = caller.campaign.pk if caller.campaign else None
        return caller.world.pk, campaign, caller.audience, self.kinds, self.position

    def feed_batch(self, frames: list[bytes], position: int, *, has_more: bool) -> None:
        self.batch, self.position, self.has_more = frames, position, has_more
        if frames:
            self.wake()

    def end(self, reason: str) -> None:
        self.reason = reason
        self.wake()

    def wake(self) -> None:
        if self.loop and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.woken.set)

    async def frames(self) -> AsyncIterator[bytes]:
        """Yield frames until the reader's right ends. An idle stream yields a comment now and then,
        so that neither side takes the connection for dead."""
        self.loop = asyncio.get_running_loop()
        try:
            # An id without data: a reader that has got no event yet resumes here all the same.
            yield f"retry: {RETRY_MILLISECONDS}\nid: {self.last_id}\n\n".encode()
            while not self.reason:
                # What came before the loop was known has woken nobody.
                if not self.batch and not await self.has_news():
                    yield b": still here\n\n"
                if self.batch:
                    yield b"".join(self.batch)
                    self.batch = []
                    if self.has_more:
                        poller.poll_soon()
            yield end_frame(self.reason)
        finally:
            self.is_closed = True

    async def has_news(self) -> bool:
        """Wait for a batch or the end; return False when it is time for a sign of life."""
        try:
            await asyncio.wait_for(self.woken.wait(), HEARTBEAT_SECONDS)
        except TimeoutError:
            return False
        self.woken.clear()
        return True


def begin_of(caller: Caller, since: str) -> tuple[int, str]:
    """Return the position after which a stream begins, and the id by which it is resumed there."""
    if since == OLDEST:
        return 0, OLDEST
    if since != LATEST:
        return position_of(caller, UUID(since)), since
    position = last_positions([caller.world.pk]).get(caller.world.pk, 0)
    event = latest_event(caller, until=position)
    return position, str(event.pk) if event else OLDEST


def event_frame(seen: SeenEvent, *, with_version: bool) -> bytes:
    event = present_event(seen, with_version=with_version)
    return b"id: %s\ndata: %s\n\n" % (str(event.id).encode(), orjson.dumps(event.model_dump()))


def end_frame(reason: str) -> bytes:
    return b"event: end\ndata: %s\n\n" % orjson.dumps({"reason": reason})


class EventPoller:
    """Feeds the open streams of this process. Its thread runs while there are any."""

    def __init__(self) -> None:
        # Weak: an answer that was dropped before it was read takes its stream along.
        self.streams: WeakSet[EventStream] = WeakSet()
        self.lock, self.poked = threading.Lock(), threading.Event()
        self.thread: threading.Thread | None = None
        self.checked_at = 0.0

    def add(self, stream: EventStream) -> None:
        """Raises `TooManyStreams` or `StreamsFull`."""
        with self.lock:
            streams = self.open_streams()
            own = sum(each.access.owner == stream.access.owner for each in streams)
            if own >= settings.EVENT_STREAMS_PER_KEY:
                raise TooManyStreams(
                    f"{own} streams are open with this key: close one, or read several kinds of "
                    "events in one stream.",
                    headers={"Retry-After": "5"},
                )
            if len(streams) >= settings.EVENT_STREAMS:
                raise StreamsFull("Ask GET /events meanwhile.", headers={"Retry-After": "30"})
            self.streams.add(stream)
            if self.thread is None:
                self.thread = threading.Thread(target=self.run, name="event poller", daemon=True)
                self.thread.start()
        self.poll_soon()

    def poll_soon(self) -> None:
        self.poked.set()

    def open_streams(self) -> list[EventStream]:
        return [each for each in self.streams if not each.is_closed]

    def streams_or_stop(self) -> list[EventStream]:
        """Return the open streams; without any, the thread ends, and `add` starts another."""
        with self.lock:
            streams = self.open_streams()
            if not streams:
                self.thread = None
            return streams

    def run(self) -> None:
        while streams := self.streams_or_stop():
            try:
                self.poll(streams)
            except Exception:  # a database that restarts; the streams stay open meanwhile
                logger.exception("The event log could not be read; it is tried again")
                self.poked.clear()
            finally:
                connection.close()
            del streams
            self.poked.wait(POLL_SECONDS)
            self.poked.clear()

    def poll(self, streams: Iterable[EventStream]) -> None:
        if monotonic() - self.checked_at >= ACCESS_SECONDS:
            self.end_those_without_access(streams)
            self.checked_at = monotonic()
        waiting = [each for each in streams if not each.batch]
        heads = last_positions({each.caller.world.pk for each in waiting})
        behind = [each for each in waiting if each.position < heads.get(each.caller.world.pk, 0)]
        follow_members(behind)
        groups: dict[Hashable, list[EventStream]] = defaultdict(list)
        for stream in behind:
            groups[stream.feed].append(stream)
        for group in groups.values():
            feed_group(group, until=heads[group[0].caller.world.pk])

    def end_those_without_access(self, streams: Iterable[EventStream]) -> None:
        by_kind: dict[type[Access], set[Access]] = defaultdict(set)
        for stream in streams:
            by_kind[type(stream.access)].add(stream.access)
        ended = set[Access]().union(*(kind.find_ended(each) for kind, each in by_kind.items()))
        world_ids = {each.caller.world.pk for each in streams}
        present = set(World.objects.filter(pk__in=world_ids).values_list("pk", flat=True))
        for stream in streams:
            if stream.access in ended:
                stream.end(
                    "The key or sign-in that reads it was withdrawn or changed, or has expired."
                )
            elif stream.caller.world.pk not in present:
                stream.end("The world was deleted.")


def follow_members(streams: Iterable[EventStream]) -> None:
    """Give the callers of `streams` their audiences as they are now: who joined a party or left it
    since the stream was opened counts. One query for each party and character."""
    audiences: dict[tuple[UUID, str], Audience] = {}
    for stream in streams:
        caller = stream.caller
        key = caller.world.pk, str(caller.audience)
        if key not in audiences:
            audiences[key] = resolve_audience(caller.world, caller.audience)
        stream.caller = replace(caller, audience=audiences[key])


def feed_group(group: Sequence[EventStream], *, until: int) -> None:
    """Give streams with the same feed what comes next. A hidden event wakes no reader."""
    first = group[0]
    seen, has_more = events_beyond(
        first.caller, first.position, limit=BATCH, kinds=first.kinds, until=until
    )
    with_version = first.caller.audience.is_gm
    frames = [event_frame(each, with_version=with_version) for each in seen]
    position = until
    if has_more and seen[-1].event.position is not None:
        position = seen[-1].event.position
    for stream in group:
        stream.feed_batch(frames, position, has_more=has_more)


poller = EventPoller()
