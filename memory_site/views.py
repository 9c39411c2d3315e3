"""Pages with content of every app: the overview of a world, search over everything, and the game
master's open decisions."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from episodes.models import Episode, Session
from knowledge.editing_models import LoreProposal
from knowledge.graph.contradictions import flagged_facts, open_contradictions, world_days_of
from knowledge.models import Lore
from memory_site.missing_entry import explain_missing_entry
from memory_site.site_search import search_site
from npcs.models import NPC, DispositionChange
from npcs.page_queries import disposition_table
from npcs.profiles import present_influence
from retrieval.errors import Problem
from worlds.in_world_days import names_of_days
from worlds.pages import Viewer, gm_page, page, render_page

LATEST = 5


@page
def home_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Show a world: its NPCs, its latest sessions and episodes, open decisions."""
    world, audience = viewer.world, viewer.audience
    npcs = list(NPC.objects.in_world(world).visible_to(audience).order_by("-updated_at")[:LATEST])
    return render_page(
        request,
        viewer,
        "gm/home.html",
        npcs=disposition_table(npcs, viewer.parties, audience),
        sessions=Session.objects.in_world(world).visible_to(audience).latest_first()[:LATEST],
        episodes=Episode.objects.in_world(world)
        .visible_to(audience)
        .not_retracted()
        .with_source()
        .latest_first()[:LATEST],
        waiting=_waiting(viewer) if viewer.is_gm else None,
        is_without_entries=viewer.is_gm and not Lore.objects.in_world(world).exists(),
    )


def _waiting(viewer: Viewer) -> dict[str, Any]:
    world = viewer.world
    return {
        "changes": DispositionChange.objects.in_world(world).pending().count(),
        "proposals": LoreProposal.objects.filter(world=world, state="open").count(),
        "contradictions": open_contradictions(world).count(),
    }


@gm_page
def inbox_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """List every open decision of the game master."""
    pending = DispositionChange.objects.in_world(viewer.world).pending().annotate_episode()
    pending = pending.select_related("npc", "party").order_by("-id")
    clashes, facts = list(open_contradictions(viewer.world)), flagged_facts(viewer.world)
    return render_page(
        request,
        viewer,
        "gm/inbox.html",
        changes=[(entry, present_influence(entry)) for entry in pending],
        proposals=LoreProposal.objects.filter(world=viewer.world, state="open"),
        contradictions=clashes,
        flagged=facts,
        dates=names_of_days(viewer.world, viewer.audience, world_days_of(clashes, facts)),
    )


@page
def search_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Search everything that the viewer may know; explain to a game master why an entry is not
    among the results."""
    question = request.GET.get("q", "").strip()
    context: dict[str, Any] = {"q": question, "entry": request.GET.get("entry", "").strip()}
    if question:
        try:
            context["results"] = search_site(viewer, question)
            if viewer.is_gm and context["entry"]:
                context["findings"] = explain_missing_entry(viewer, question, context["entry"])
        except Problem as problem:
            context["problem"] = problem
    return render_page(request, viewer, "gm/find.html", **context)
