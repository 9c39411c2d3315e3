"""The stream of events for the site's own pages: they fetch again what an engine or another game
master has changed."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session as SignIn
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from retrieval.errors import Invalid
from worlds.event_api import STREAM_HEADERS
from worlds.event_log.streams import LATEST, OLDEST, EventStream, poller
from worlds.lookup import as_uuid
from worlds.models import Membership
from worlds.page_streams import caller_for
from worlds.pages import Viewer, page

NO_STREAM = 204
"""Tells `EventSource` not to try again."""
MOST_KINDS = 20
OF_MEMBERS = [
    field.attname
    for field in Membership._meta.concrete_fields
    if field.is_relation or field.name == "role"
]
"""Columns of a membership that decide on what is seen."""


@dataclass(frozen=True)
class PageAccess:
    """A person who is signed in, with the rights in a world that they had when the page was
    opened."""

    user_id: Any
    session_key: str
    world_id: UUID
    rights: tuple[Any, ...]

    @classmethod
    def of(cls, request: HttpRequest, viewer: Viewer) -> Self:
        user_id, world_id = request.user.pk, viewer.world.pk
        rights = rights_in_worlds({user_id}, {world_id}).get((user_id, world_id), ())
        return cls(user_id, request.session.session_key or "", world_id, rights)

    @property
    def owner(self) -> str:
        return f"user:{self.user_id}"

    @classmethod
    def find_ended(cls, accesses: Collection[Self]) -> set[Self]:
        """Return those who signed out, or whose password or rights were changed: three queries."""
        keys = {each.session_key for each in accesses}
        present = SignIn.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
        signed_in = set(present.values_list("session_key", flat=True))
        users, worlds = {each.user_id for each in accesses}, {each.world_id for each in accesses}
        rights = rights_in_worlds(users, worlds)
        return {
            each
            for each in accesses
            if each.session_key not in signed_in
            or rights.get((each.user_id, each.world_id)) != each.rights
        }


def rights_in_worlds(
    users: Collection[Any], worlds: Collection[UUID]
) -> dict[tuple[Any, UUID], tuple[Any, ...]]:
    """Return what decides on what these users see in these worlds: two queries."""
    columns = ("pk", "is_active", "is_superuser", "password")
    rows = get_user_model().objects.filter(pk__in=users).values_list(*columns)
    members = Membership.objects.filter(user__in=users, world__in=worlds)
    by_pair = {
        (row["user_id"], row["world_id"]): tuple(row.values())
        for row in members.values(*OF_MEMBERS)
    }
    return {
        (pk, world): (*rest, by_pair.get((pk, world))) for pk, *rest in rows for world in worlds
    }


@require_GET
@page
def live(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The changes in the world that the viewer may know of, as Server-Sent Events. `since` and the
    header `Last-Event-ID` name the last event that the page has. Each frame says what has changed,
    and the page fetches it."""
    if not isinstance(request, ASGIRequest):
        return HttpResponse(status=NO_STREAM)
    since = request.headers.get("Last-Event-ID") or request.GET.get("since") or LATEST
    if since not in (LATEST, OLDEST) and as_uuid(since) is None:
        raise Invalid("`since` is the id of an event, latest or oldest.")
    kinds = request.GET.getlist("kind")[:MOST_KINDS]
    access = PageAccess.of(request, viewer)
    stream = EventStream(caller_for(viewer), access, kinds=kinds, since=since)
    poller.add(stream)
    return StreamingHttpResponse(  # type: ignore[return-value]  # pages are declared to be whole
        stream.frames(), content_type="text/event-stream", headers=STREAM_HEADERS
    )
