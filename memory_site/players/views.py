"""The pages of players. A game master opens them as a party or a character."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse

from art.galleries import pictures_to_list
from episodes.models import Episode
from episodes.recaps import recaps_of_sessions
from episodes.views import visible_sessions
from memory_site.players import known
from memory_site.players.news import news_for
from worlds.pages import Viewer, page, render_page
from worlds.visits import note_visit

SESSIONS_PER_PAGE = 5
PICTURES_PER_PAGE = 24
MOST_HANDOUTS = 60
MOST_LOOSE_EPISODES = 30

PlayerView = Callable[[HttpRequest, Viewer], HttpResponse]


def player_page(view: PlayerView) -> Callable[..., HttpResponse]:
    """Decorate a page of players. A game master is asked whose eyes to look through."""

    @wraps(view)
    def for_players(request: HttpRequest, viewer: Viewer) -> HttpResponse:
        if viewer.is_gm:
            return render_page(request, viewer, "players/choose.html")
        return view(request, viewer)

    return page(for_players)


@player_page
def new_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """What became known since the player's last visit."""
    return show_news(request, viewer)


def show_news(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    since = None if viewer.may_see_all else note_visit(request.user, viewer.world)
    news = news_for(viewer, since)
    return render_page(request, viewer, "players/new.html", news=news, since=since)


@player_page
def known_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """People, places, things, or the secrets learned, as `show` says."""
    show = request.GET.get("show", "people")
    if show not in ("people", "places", "things", "secrets"):
        raise Http404
    world, audience, number = viewer.world, viewer.audience, request.GET.get("page")
    context: dict[str, Any] = {"show": show}
    if show == "secrets":
        context["page_obj"], context["secrets"] = known.secrets_page(world, audience, number)
    elif show == "people":
        rows = Paginator(known.people(world, audience), known.PER_PAGE).get_page(number)
        things = known.present_people(rows.object_list, world, audience)
        context |= {"page_obj": rows, "things": things}
    else:
        entries = known.places if show == "places" else known.things
        rows = Paginator(entries(world, audience), known.PER_PAGE).get_page(number)
        things = known.present_entries(rows.object_list, world, audience)
        context |= {"page_obj": rows, "things": things}
    return render_page(request, viewer, "players/known.html", **context)


@player_page
def story_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The sessions with their recaps, the latest first, and on the first page what happened
    outside of sessions."""
    sessions = Paginator(visible_sessions(viewer).latest_first(), SESSIONS_PER_PAGE)
    rows = sessions.get_page(request.GET.get("page"))
    told = recaps_of_sessions(list(rows.object_list), viewer.audience)
    shown = [
        (session, recap, episodes)
        for session, (recap, episodes) in zip(rows.object_list, told, strict=True)
    ]
    loose = loose_episodes(viewer) if rows.number == 1 else []
    return render_page(
        request, viewer, "players/story.html", page_obj=rows, sessions=shown, loose=loose
    )


def loose_episodes(viewer: Viewer) -> list[Episode]:
    """The latest episodes outside of the sessions that the viewer may know."""
    in_sessions = visible_sessions(viewer).order_by().values("pk")
    rows = Episode.objects.not_retracted().exclude(session__in=in_sessions).with_source()
    parts = rows.parts_visible_to(viewer.audience, world=viewer.world)
    found = [row for part in parts for row in part.latest_first()[:MOST_LOOSE_EPISODES]]
    found.sort(key=lambda row: (row.happened_at, row.pk), reverse=True)
    return found[:MOST_LOOSE_EPISODES]


@player_page
def handouts_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The entries that are tagged as handouts, and every picture that the viewer may see."""
    world, audience = viewer.world, viewer.audience
    rows = pictures_to_list(world, audience)
    handouts = known.handouts(world, audience)[:MOST_HANDOUTS]
    return render_page(
        request,
        viewer,
        "players/handouts.html",
        handouts=known.present_entries(handouts, world, audience, with_pictures=False),
        page_obj=Paginator(rows, PICTURES_PER_PAGE).get_page(request.GET.get("page")),
    )
