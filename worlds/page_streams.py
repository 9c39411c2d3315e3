"""From which event on an open page is told of changes."""

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest

from worlds.callers import Caller
from worlds.event_log.read import latest_event
from worlds.event_log.streams import OLDEST
from worlds.pages import Viewer


def caller_for(viewer: Viewer) -> Caller:
    """Whose events a page shows: a game master sees those of all campaigns."""
    return Caller(viewer.world, viewer.audience, None if viewer.is_gm else viewer.campaign)


def since_for(request: HttpRequest, viewer: Viewer) -> str:
    """The event after which a page that is made now has to be told of changes; empty for a server
    without streams. Call it before the page reads its rows, so that no change is lost."""
    if not isinstance(request, ASGIRequest):
        return ""
    event = latest_event(caller_for(viewer))
    return str(event.pk) if event else OLDEST
