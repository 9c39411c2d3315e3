"""Choose a world, the audience to view it as, and the theme; list the audited calls."""

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from worlds.audiences import Audience
from worlds.models import AuditedCall
from worlds.pages import (
    CAMPAIGN_KEY,
    CANON,
    SESSION_KEY,
    Viewer,
    gm_page,
    is_for_game_masters,
    listed_worlds,
    render_page,
    viewer_of,
    worlds_of,
)

LOOKS = ("auto", "light", "dark")
A_YEAR = 365 * 24 * 3600
CALLS_PER_PAGE = 50


@login_required
def worlds(request: HttpRequest) -> HttpResponse:
    """List the user's worlds; redirect if there is only one."""
    user_worlds = list(worlds_of(request.user))
    if len(user_worlds) == 1:
        return redirect("world-home", world=user_worlds[0].slug)
    return render(request, "gm/worlds.html", {"worlds": listed_worlds(user_worlds)})


@require_POST
@login_required
def view_as(request: HttpRequest, world: str) -> HttpResponse:
    """View the world as a party or character, or as oneself again."""
    viewer = viewer_of(request, world)
    if not viewer.may_see_all:
        raise Http404
    audience_by_world = request.session.setdefault(SESSION_KEY, {})
    if text := request.POST.get("as", ""):
        audience_by_world[world] = str(parse_audience(viewer, text))
    else:
        audience_by_world.pop(world, None)
    request.session.modified = True
    if text and is_for_game_masters(request.POST.get("next", "")):
        return redirect("world-home", world=world)
    return _back(request, world)


@require_POST
@login_required
def choose_campaign(request: HttpRequest, world: str) -> HttpResponse:
    """Show the pages as they are in a campaign, or the canon of the world alone."""
    viewer = viewer_of(request, world)
    slug = request.POST.get("campaign", "")
    if slug not in {CANON, *(campaign.slug for campaign in viewer.campaigns)}:
        raise Http404
    request.session.setdefault(CAMPAIGN_KEY, {})[world] = slug
    request.session.modified = True
    return _back(request, world)


def parse_audience(viewer: Viewer, text: str) -> Audience:
    audience = Audience.parse(text)
    if audience.kind in ("party", "character") and text not in dict(viewer.party_choices):
        raise Http404
    return audience


@require_POST
def choose_look(request: HttpRequest) -> HttpResponse:
    """Light, dark, or as the system says; kept in a cookie, so that nothing flashes while
    loading.
    """
    look = request.POST.get("look", "auto")
    response = _back(request, "")
    response.set_cookie(
        "look", look if look in LOOKS else "auto", max_age=A_YEAR, samesite="Lax", httponly=True
    )
    return response


def _back(request: HttpRequest, world: str) -> HttpResponseRedirect:
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}):
        target = f"/w/{world}/" if world else "/"
    return HttpResponseRedirect(target)


@gm_page
def audit(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """List every audited call, latest first."""
    calls = (
        AuditedCall.objects.filter(world=viewer.world).select_related("key").order_by("-at", "-pk")
    )
    if tool := request.GET.get("tool", ""):
        calls = calls.filter(tool=tool)
    if audience := request.GET.get("audience", ""):
        calls = calls.filter(audience=audience)
    tools = (
        AuditedCall.objects.filter(world=viewer.world)
        .values_list("tool", flat=True)
        .distinct()
        .order_by("tool")
    )
    page = Paginator(calls, CALLS_PER_PAGE).get_page(request.GET.get("page"))
    return render_page(
        request,
        viewer,
        "gm/audit.html",
        calls=page,
        tools=list(tools),
        tool=tool,
        audience_text=audience,
    )
