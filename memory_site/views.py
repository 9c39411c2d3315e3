"""Pages with content of every app: the overview of a world, search over everything, and the game
master's open decisions."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from episodes.models import Episode, Session
from knowledge.graph.contradictions import flagged_facts, open_contradictions, world_days_of
from knowledge.models import LoreProposal
from knowledge.schemas import LoreQuestion, RulesQuestion
from knowledge.tools import lore_search, rules_lookup
from npcs.models import NPC, DispositionChange
from npcs.page_queries import disposition_table
from npcs.profiles import present_influence
from retrieval.errors import Problem
from retrieval.search import SearchRequest, search
from worlds.callers import Caller
from worlds.in_world_days import names_of_days
from worlds.pages import Viewer, gm_page, page, render_page

LATEST = 5
HITS_PER_KIND = 6


@page
def home_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The overview of a world: its NPCs, its latest sessions and episodes, open decisions."""
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
    """Everything that a game master should decide, in one place."""
    held = DispositionChange.objects.in_world(viewer.world).pending().select_related("npc", "party")
    changes = [
        (entry, present_influence(entry)) for entry in held.annotate_episode().order_by("-id")
    ]
    clashes, flagged = list(open_contradictions(viewer.world)), flagged_facts(viewer.world)
    return render_page(
        request,
        viewer,
        "gm/inbox.html",
        changes=changes,
        proposals=LoreProposal.objects.filter(world=viewer.world, state="open"),
        contradictions=clashes,
        flagged=flagged,
        dates=names_of_days(viewer.world, viewer.audience, world_days_of(clashes, flagged)),
    )


@page
def search_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Search everything: the answers of the tools for the viewer's audience, and NPCs by name."""
    question = request.GET.get("q", "").strip()
    if not question:
        return render_page(request, viewer, "gm/find.html", q="", found=None)
    try:
        found = search_all_domains(viewer, question)
    except Problem as problem:
        return render_page(request, viewer, "gm/find.html", q=question, found=None, problem=problem)
    return render_page(request, viewer, "gm/find.html", q=question, found=found)


def search_all_domains(viewer: Viewer, question: str) -> dict[str, Any]:
    caller = Caller(world=viewer.world, audience=viewer.audience)
    lore = lore_search(LoreQuestion(query=question, k=HITS_PER_KIND), caller)
    rules = rules_lookup(RulesQuestion(term=question, k=HITS_PER_KIND), caller)
    named = (
        NPC.objects.in_world(viewer.world)
        .visible_to(viewer.audience)
        .filter(name__icontains=question)
    )
    episodes = Episode.objects.in_world(viewer.world).visible_to(viewer.audience).not_retracted()
    scopes = [str(viewer.world.pk)]
    hits = search(
        episodes,
        SearchRequest(
            query=question,
            scopes=scopes,
            hidden=viewer.is_gm,
            limit=HITS_PER_KIND,
            language=viewer.world.language,
        ),
    )
    episodes_by_id = episodes.with_source().in_bulk([hit.id for hit in hits])
    return {
        "npcs": named[:HITS_PER_KIND],
        "lore": lore.hits,
        "rules": rules.hits,
        "episodes": [episodes_by_id[hit.id] for hit in hits if hit.id in episodes_by_id],
        "degraded": sorted({*lore.degraded, *rules.degraded, *hits.degraded}),
    }
