"""Pages of sessions with their recaps, and of episodes."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from episodes.models import Episode, Session
from episodes.queries import present_episode
from episodes.querysets import SessionQuerySet
from episodes.recaps import get_recap
from episodes.report_models import SessionReport
from episodes.titles import names_of_places
from worlds.audiences import audiences_of_parties
from worlds.models import Party
from worlds.page_streams import since_for
from worlds.pages import Viewer, page, render_page

SESSIONS_PER_PAGE, MOST_NOTES = 40, 200


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

    A game master also sees the recap for each party that played, to read it to them, and what an
    engine writes meanwhile.
    """
    since = since_for(request, viewer) if viewer.is_gm else ""
    session = get_object_or_404(visible_sessions(viewer), external_id=ref)
    episodes = Episode.objects.filter(session=session).visible_to(viewer.audience).not_retracted()
    recaps_by_party, material = [], {}
    if viewer.is_gm:
        material = material_of(session)
        playing = Party.objects.filter(
            episodes__session=session, episodes__retracted_at=None
        ).distinct()
        parties = list(playing.order_by("name"))
        recaps_by_party = [
            (party, get_recap(session, audience))
            for party, audience in zip(parties, audiences_of_parties(parties), strict=True)
        ]
    return render_page(
        request,
        viewer,
        "gm/session.html",
        since=since,
        session=session,
        recap=get_recap(session, viewer.audience),
        cuts=recaps_by_party,
        episodes=(shown := list(episodes.with_source().in_order())),
        places=names_of_places(viewer.world, shown, viewer.audience),
        **material,
    )


def material_of(session: Session) -> dict[str, Any]:
    """The game master's notes that no report has used, and the reports that wait."""
    reports = session.reports.exclude(state=SessionReport.State.RECORDED)
    notes = session.notes.filter(report=None).order_by("id")[:MOST_NOTES]
    return {"notes": notes, "waiting": reports.defer("text", "proposal")}


@page
def episode_page(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    """An episode; for a game master with the disposition changes that it caused, and when it is
    retracted."""
    rows = Episode.objects.in_world(viewer.world).visible_to(viewer.audience)
    rows = rows if viewer.is_gm else rows.not_retracted()
    episode = get_object_or_404(rows.with_source(), external_id=ref)
    changes: Any = []
    opinions: Any = []
    loose_ends: Any = []
    present: Any = []
    if viewer.is_gm:
        present = episode.appearances.select_related("npc").order_by("npc__name")
        loose_ends = episode.loose_ends.order_by("id")
        changes = episode.disposition_changes.select_related("npc", "party").order_by("id")
        opinions = episode.opinion_changes.filter(about=None).order_by("id")
        opinions = opinions.select_related("npc", "other")
    return render_page(
        request,
        viewer,
        "gm/episode.html",
        episode=episode,
        episode_out=present_episode(episode, viewer.audience),
        places=names_of_places(viewer.world, [episode], viewer.audience),
        present=present,
        changes=changes,
        opinions=opinions,
        loose_ends=loose_ends,
    )
