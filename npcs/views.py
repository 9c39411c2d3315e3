"""Pages about NPCs and parties, for game masters and players."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse as address
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from episodes.loose_ends import loose_ends_in_force
from npcs import dispositions, page_queries
from npcs.models import NPC, Axis, DispositionChange
from npcs.npc_list import LABELS, SEEN, SORTS, NPCFilter, NPCList
from npcs.opinion_pages import problem_as_message
from npcs.opinions import standings_of
from retrieval.errors import Problem
from worlds.models import Party
from worlds.pages import Viewer, gm_page, page, render_page

MOST_CLOSED = 30
MOST_OPEN = 100


@page
def npc_list(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The NPCs with their dispositions: filtered, sorted, and counted by what they think."""
    npcs = NPCList(viewer, NPCFilter.from_query(request.GET, viewer))
    listed = npcs.page(request.GET.get("page"))
    return render_page(
        request,
        viewer,
        "gm/npcs.html",
        page_obj=listed,
        npcs=[row.npc for row in listed],
        filter=npcs.filter,
        party=npcs.party,
        columns=npcs.columns,
        counts=[(label, count, npcs.filter.with_label(label)) for label, count in npcs.counts],
        choices=npcs.choices,
        labels=LABELS,
        sorts=SORTS,
        seen=SEEN,
    )


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
        points = int(request.POST.get("delta", ""))
    except ValueError:
        points = 0  # refused below with a message that names the range
    common: Any = {
        "reason": request.POST.get("reason", ""),
        "made_by": viewer.name,
        "hold_if_large": True,
    }
    try:
        if request.POST.get("as") == "value":
            entry = dispositions.set_score(npc, party, to=points, **common)
        else:
            axis = request.POST.get("axis") or Axis.AFFECTION
            entry = dispositions.correct(npc, party, by=points, axis=axis, **common)
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
    else:
        text = _("The change was recorded.")
        if entry.held:
            text = _("So large a change waits for approval: approve it below or in the inbox.")
        messages.success(request, text, extra_tags="good")
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
        standings=standings_of(viewer.world, party=party) if viewer.is_gm else [],
        knows=page_queries.reveals_to_party(party, viewer.audience),
        **(loose_ends_of(party) if viewer.is_gm else {}),
        threads=page_queries.open_threads(party) if viewer.is_gm else [],
        episodes=page_queries.latest_episodes(party, viewer.audience),
    )


def loose_ends_of(party: Party) -> dict[str, Any]:
    """Those that are open, and those that were closed last."""
    rows = loose_ends_in_force(party.world, party=party)
    closed = rows.filter(closed_at__isnull=False).order_by("-closed_at", "-pk")
    return {"loose_ends": rows.filter(closed_at=None)[:MOST_OPEN], "closed": closed[:MOST_CLOSED]}
