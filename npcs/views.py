"""The game master's pages about NPCs and parties. A page fetches, and shows; the rooms decide."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse as address
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from npcs import dispositions, page_queries
from npcs.gm_profile import read_gm_profile
from npcs.models import NPC, Axis, DispositionChange
from npcs.profiles import profile_for_players
from retrieval.errors import Problem
from worlds.callers import Caller
from worlds.models import Party
from worlds.pages import Viewer, gm_page, page, show

NPCS_PER_PAGE = 60


@page
def npc_list(request: HttpRequest, looker: Viewer) -> HttpResponse:
    """Everyone, with what they think of each party at a glance."""
    rows = NPC.objects.in_world(looker.world).visible_to(looker.audience).order_by("name")
    found = Paginator(rows, NPCS_PER_PAGE).get_page(request.GET.get("page"))
    standings = page_queries.disposition_table(list(found), looker.parties, looker.audience)
    return show(request, looker, "gm/npcs.html", found=found, rows=standings)


@page
def npc_page(request: HttpRequest, looker: Viewer, slug: str) -> HttpResponse:
    npc = _npc(looker, slug)
    party = looker.party(request.GET.get("party")) or page_queries.party_to_show(
        npc, looker.parties
    )
    if not looker.is_gm:
        profile = profile_for_players(npc, looker.audience, party)
        return show(
            request, looker, "gm/npc_for_players.html", npc=npc, profile=profile, party=party
        )
    return show(request, looker, "gm/npc.html", **_for_gm(looker, npc, party))


def _for_gm(looker: Viewer, npc: NPC, party: Party | None) -> dict[str, Any]:
    profile = read_gm_profile(Caller.gm(npc.world), npc.slug, None)
    assert profile
    assert profile.dynamic
    return {
        "npc": npc,
        "party": party,
        "profile": profile,
        "standings": page_queries.dispositions_to_show(
            npc, profile.dynamic.disposition, looker.parties
        ),
        "story": page_queries.disposition_history(npc, party) if party else None,
        "secrets": page_queries.secrets_of(npc, party),
        "appearances": page_queries.appearances_of(npc),
        "relations": page_queries.relations_of(npc, looker.audience),
        "pictures": page_queries.pictures_of(npc, looker.audience),
        "axes": Axis.choices,
    }


def _npc(looker: Viewer, slug: str) -> NPC:
    rows = NPC.objects.in_world(looker.world).visible_to(looker.audience)
    npc: NPC = get_object_or_404(
        rows.select_related("home_lore", "faction_lore", "biography"), slug=slug
    )
    return npc


@require_POST
@gm_page
def correct(request: HttpRequest, looker: Viewer, slug: str) -> HttpResponse:
    """A game master's own change of what an NPC thinks of a party."""
    npc, party = _npc(looker, slug), looker.party(request.POST.get("party"))
    if party is None:
        raise Http404

    def change() -> object:
        return dispositions.correct(
            npc,
            party,
            by=_number(request.POST.get("delta", "")),
            reason=request.POST.get("reason", ""),
            made_by=looker.name,
            axis=request.POST.get("axis") or Axis.AFFECTION,
        )

    _try(request, change, done=_("The change is in the ledger."))
    return _to_npc(looker, npc, party)


RULINGS: dict[str, Callable[..., DispositionChange]] = {
    "reverse": dispositions.reverse,
    "restore": dispositions.restore,
    "approve": dispositions.approve,
    "reject": dispositions.reject,
}


@require_POST
@gm_page
def rule(request: HttpRequest, looker: Viewer, change: int) -> HttpResponse:
    """Approve, reject, reverse or restore a change."""
    entry = get_object_or_404(
        DispositionChange.objects.in_world(looker.world).select_related("npc", "party"), pk=change
    )
    verdict = RULINGS.get(request.POST.get("verdict", ""))
    if verdict is None:
        raise Http404
    reason = request.POST.get("reason", "").strip()
    _try(
        request,
        lambda: verdict(entry, reason=reason, made_by=looker.name),
        done=_("Noted. What follows from it is counted anew."),
    )
    if request.POST.get("from") == "inbox":
        return HttpResponseRedirect(address("inbox", args=[looker.world.slug]))
    return _to_npc(looker, entry.npc, entry.party)


def _try(request: HttpRequest, act: Callable[[], object], *, done: str) -> None:
    try:
        act()
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
    else:
        messages.success(request, done, extra_tags="good")


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 0


def _to_npc(looker: Viewer, npc: NPC, party: Party) -> HttpResponse:
    return HttpResponseRedirect(
        address("npc", args=[looker.world.slug, npc.slug]) + f"?party={party.slug}"
    )


@page
def party_page(request: HttpRequest, looker: Viewer, slug: str) -> HttpResponse:
    """What the party knows, who likes it, what is still open."""
    party = looker.party(slug)
    assert party is not None
    return show(
        request,
        looker,
        "gm/party.html",
        party=party,
        friends=page_queries.opinions_of_party(party, looker.audience),
        knows=page_queries.reveals_to_party(party),
        threads=page_queries.open_threads(party) if looker.is_gm else [],
        episodes=page_queries.latest_episodes(party, looker.audience),
    )
