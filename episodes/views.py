"""Sessions with their recaps, and the episodes that everything rests on."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from episodes.models import Episode, Session
from episodes.queries import present_episode
from episodes.recaps import get_recap
from episodes.schemas import RecapOut
from worlds.audiences import Audience
from worlds.models import Party
from worlds.pages import Viewer, page, render_page

SESSIONS_PER_PAGE = 40


@page
def session_list(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    rows = (
        Session.objects.in_world(viewer.world)
        .visible_to(viewer.audience)
        .select_related("party", "campaign")
    )
    found = Paginator(rows.latest_first(), SESSIONS_PER_PAGE).get_page(request.GET.get("page"))
    return render_page(request, viewer, "gm/sessions.html", found=found)


@page
def session_page(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    """A session: its recap in two cuts for a game master, in one for players, and its episodes in
    order.
    """
    rows = (
        Session.objects.in_world(viewer.world)
        .visible_to(viewer.audience)
        .select_related("party", "campaign")
    )
    session = get_object_or_404(rows, external_id=ref)
    episodes = (
        Episode.objects.filter(session=session)
        .visible_to(viewer.audience)
        .not_retracted()
        .with_source()
        .in_order()
    )
    return render_page(
        request,
        viewer,
        "gm/session.html",
        session=session,
        recap=get_recap(session, viewer.audience),
        cuts=_players_cuts(session) if viewer.is_gm else [],
        episodes=episodes,
    )


def _players_cuts(session: Session) -> list[tuple[Party, RecapOut]]:
    """What may be read to each party that played in the session."""
    played = (
        Party.objects.filter(episodes__session=session, episodes__retracted_at=None)
        .distinct()
        .order_by("name")
    )
    return [(party, get_recap(session, Audience("party", party.slug))) for party in played]


@page
def episode_page(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    """One episode, and for a game master what followed from it."""
    rows = Episode.objects.in_world(viewer.world).visible_to(viewer.audience)
    episode = get_object_or_404(rows.with_source(), external_id=ref)
    changes = (
        episode.disposition_changes.select_related("npc", "party").order_by("id")
        if viewer.is_gm
        else []
    )
    return render_page(
        request,
        viewer,
        "gm/episode.html",
        episode=episode,
        told=present_episode(episode, viewer.audience),
        changes=changes,
    )
