"""The pages that draw on every app: a world at a glance, search over everything, what waits for the game master."""

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
from worlds.pages import Viewer, gm_page, page, show

LATEST = 5
FOUND = 6


@page
def home(request: HttpRequest, looker: Viewer) -> HttpResponse:
    """A world at a glance: who is in it, what happened last, what waits."""
    world, audience = looker.world, looker.audience
    npcs = list(NPC.objects.in_world(world).visible_to(audience).order_by("-updated_at")[:LATEST])
    return show(
        request,
        looker,
        "gm/home.html",
        npcs=disposition_table(npcs, looker.parties, audience),
        sessions=Session.objects.in_world(world).visible_to(audience).latest_first()[:LATEST],
        episodes=Episode.objects.in_world(world)
        .visible_to(audience)
        .not_retracted()
        .with_source()
        .latest_first()[:LATEST],
        waiting=_waiting(looker) if looker.is_gm else None,
    )


def _waiting(looker: Viewer) -> dict[str, Any]:
    world = looker.world
    return {
        "changes": DispositionChange.objects.in_world(world).pending().count(),
        "proposals": LoreProposal.objects.filter(world=world, state="open").count(),
        "contradictions": open_contradictions(world).count(),
    }


@gm_page
def inbox(request: HttpRequest, looker: Viewer) -> HttpResponse:
    """Everything that a game master should decide, in one place."""
    held = DispositionChange.objects.in_world(looker.world).pending().select_related("npc", "party")
    changes = [
        (entry, present_influence(entry)) for entry in held.annotate_episode().order_by("-id")
    ]
    clashes, flagged = list(open_contradictions(looker.world)), flagged_facts(looker.world)
    return show(
        request,
        looker,
        "gm/inbox.html",
        changes=changes,
        proposals=LoreProposal.objects.filter(world=looker.world, state="open"),
        contradictions=clashes,
        flagged=flagged,
        dates=names_of_days(looker.world, looker.audience, world_days_of(clashes, flagged)),
    )


@page
def find(request: HttpRequest, looker: Viewer) -> HttpResponse:
    """One box over everything: what the tools answer for the looker's audience, and people by their names."""
    question = request.GET.get("q", "").strip()
    if not question:
        return show(request, looker, "gm/find.html", q="", found=None)
    try:
        found = _found(looker, question)
    except Problem as problem:
        return show(request, looker, "gm/find.html", q=question, found=None, problem=problem)
    return show(request, looker, "gm/find.html", q=question, found=found)


def _found(looker: Viewer, question: str) -> dict[str, Any]:
    caller = Caller(world=looker.world, audience=looker.audience)
    lore = lore_search(LoreQuestion(query=question, k=FOUND), caller)
    rules = rules_lookup(RulesQuestion(term=question, k=FOUND), caller)
    named = (
        NPC.objects.in_world(looker.world)
        .visible_to(looker.audience)
        .filter(name__icontains=question)
    )
    episodes = Episode.objects.in_world(looker.world).visible_to(looker.audience).not_retracted()
    scopes = [str(looker.world.pk)]
    hits = search(
        episodes,
        SearchRequest(
            query=question,
            scopes=scopes,
            hidden=looker.is_gm,
            limit=FOUND,
            language=looker.world.language,
        ),
    )
    told = episodes.with_source().in_bulk([hit.id for hit in hits])
    return {
        "npcs": named[:FOUND],
        "lore": lore.hits,
        "rules": rules.hits,
        "episodes": [told[hit.id] for hit in hits if hit.id in told],
        "degraded": sorted({*lore.degraded, *rules.degraded, *hits.degraded}),
    }
