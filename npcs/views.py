"""Pages about NPCs and parties, for game masters and players."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse as address
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from npcs import dispositions, page_queries
from npcs.models import NPC, Axis, DispositionChange
from retrieval.errors import Problem
from worlds.models import Party
from worlds.pages import Viewer, gm_page, page, render_page

NPCS_PER_PAGE = 60


@page
def npc_list(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Every NPC with its disposition towards each party."""
    rows = NPC.objects.in_world(viewer.world).visible_to(viewer.audience).order_by("name")
    npcs = Paginator(rows, NPCS_PER_PAGE).get_page(request.GET.get("page"))
    table = page_queries.disposition_table(list(npcs), viewer.parties, viewer.audience)
    return render_page(request, viewer, "gm/npcs.html", page_obj=npcs, rows=table)


def get_npc(viewer: Viewer, slug: str) -> NPC:
    rows = NPC.objects.in_world(viewer.world).visible_to(viewer.audience)
    npc: NPC = get_object_or_404(rows, slug=slug)
    return npc


@require_POST
@gm_page
def correct(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """Write a game master's own change of what an NPC thinks of a party."""
    npc, party = get_npc(viewer, slug), viewer.party(request.POST.get("party"))
    if party is None:
        raise Http404
    try:
        delta = int(request.POST.get("delta", ""))
    except ValueError:
        delta = 0  # refused below with a message that names the range
    with problem_as_message(request, success=_("The change was recorded.")):
        dispositions.correct(
            npc,
            party,
            by=delta,
            reason=request.POST.get("reason", ""),
            made_by=viewer.name,
            axis=request.POST.get("axis") or Axis.AFFECTION,
        )
    return redirect_to_npc(viewer, npc, party)


@require_POST
@gm_page
def rule(request: HttpRequest, viewer: Viewer, change: int) -> HttpResponse:
    """Approve, reject, reverse or restore a change."""
    ledger = DispositionChange.objects.in_world(viewer.world).select_related("npc", "party")
    entry = get_object_or_404(ledger, pk=change)
    write_verdict = dispositions.VERDICTS.get(request.POST.get("verdict", ""))
    if write_verdict is None:
        raise Http404
    reason = request.POST.get("reason", "").strip()
    with problem_as_message(request, success=_("Saved. Dependent values are being recalculated.")):
        write_verdict(entry, reason=reason, made_by=viewer.name)
    if request.POST.get("from") == "inbox":
        return HttpResponseRedirect(address("inbox", args=[viewer.world.slug]))
    return redirect_to_npc(viewer, entry.npc, entry.party)


@contextmanager
def problem_as_message(request: HttpRequest, *, success: str) -> Iterator[None]:
    """Show a `Problem` of the block to the user, or `success`."""
    try:
        yield
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
    else:
        messages.success(request, success, extra_tags="good")


def redirect_to_npc(viewer: Viewer, npc: NPC, party: Party) -> HttpResponse:
    url = address("npc", args=[viewer.world.slug, npc.slug])
    return HttpResponseRedirect(f"{url}?party={party.slug}")


@page
def party_page(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """What the party knows, who has an opinion of it, its open threads and latest episodes."""
    party = viewer.party(slug)
    assert party is not None
    return render_page(
        request,
        viewer,
        "gm/party.html",
        party=party,
        friends=page_queries.opinions_of_party(party, viewer.audience),
        knows=page_queries.reveals_to_party(party),
        threads=page_queries.open_threads(party) if viewer.is_gm else [],
        episodes=page_queries.latest_episodes(party, viewer.audience),
    )
