"""Pages of sessions with their recaps, and of episodes."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from episodes.models import Episode, Session
from episodes.queries import present_episode
from episodes.querysets import SessionQuerySet
from episodes.recaps import get_recap
from worlds.audiences import Audience
from worlds.models import Party
from worlds.pages import Viewer, page, render_page

SESSIONS_PER_PAGE = 40


def visible_sessions(viewer: Viewer) -> SessionQuerySet:
    rows: SessionQuerySet = Session.objects.in_world(viewer.world).visible_to(viewer.audience)
    return rows.select_related("party", "campaign")


@page
def session_list(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    rows = visible_sessions(viewer).latest_first()
    sessions = Paginator(rows, SESSIONS_PER_PAGE).get_page(request.GET.get("page"))
    return render_page(request, viewer, "gm/sessions.html", page_obj=sessions)


@page
def session_page(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    """A session with its recap and its episodes in order.

    A game master also sees the recap for each party that played, to read it to them.
    """
    session = get_object_or_404(visible_sessions(viewer), external_id=ref)
    episodes = Episode.objects.filter(session=session).visible_to(viewer.audience).not_retracted()
    recaps_by_party = []
    if viewer.is_gm:
        playing = Party.objects.filter(
            episodes__session=session, episodes__retracted_at=None
        ).distinct()
        recaps_by_party = [
            (party, get_recap(session, Audience("party", party.slug)))
            for party in playing.order_by("name")
        ]
    return render_page(
        request,
        viewer,
        "gm/session.html",
        session=session,
        recap=get_recap(session, viewer.audience),
        cuts=recaps_by_party,
        episodes=episodes.with_source().in_order(),
    )


@page
def episode_page(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    """An episode; for a game master with the disposition changes that it caused."""
    rows = Episode.objects.in_world(viewer.world).visible_to(viewer.audience)
    episode = get_object_or_404(rows.with_source(), external_id=ref)
    changes: Any = []
    if viewer.is_gm:
        changes = episode.disposition_changes.select_related("npc", "party").order_by("id")
    return render_page(
        request,
        viewer,
        "gm/episode.html",
        episode=episode,
        episode_out=present_episode(episode, viewer.audience),
        changes=changes,
    )
