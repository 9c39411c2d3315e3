"""Pages with content of every app: the overview of a world, search over everything, and the game
master's open decisions."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse

from episodes.models import Episode, Session
from knowledge.editing_models import LoreProposal
from knowledge.graph.contradictions import flagged_facts, open_contradictions, world_days_of
from knowledge.graph.decision_options import case_of
from knowledge.models import Lore
from memory_site.decided import decided_lately
from memory_site.fact_proposals.lists import proposals_of
from memory_site.inbox_counts import count_waiting
from memory_site.missing_entry import explain_missing_entry
from memory_site.players.views import show_news
from memory_site.site_search import search_site
from npcs.models import NPC, DispositionChange, OpinionChange
from npcs.page_queries import disposition_table
from npcs.profiles import present_influence
from retrieval.errors import Problem
from worlds.in_world_days import names_of_days
from worlds.page_streams import since_for
from worlds.pages import Viewer, gm_page, page, render_page

LATEST = 5
CONTRADICTIONS_PER_PAGE = 15
MOST_CHANGES = 50


@page
def home_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Show a world: its NPCs, its latest sessions and episodes, open decisions. Players see what is
    new to them."""
    if not viewer.is_gm:
        return show_news(request, viewer)
    world, audience = viewer.world, viewer.audience
    # The order of changes would tell players of changes of hidden parts.
    order = "-updated_at" if viewer.is_gm else "name"
    npcs = list(NPC.objects.in_world(world).visible_to(audience).order_by(order)[:LATEST])
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
        waiting=count_waiting(viewer.world) if viewer.is_gm else None,
        is_without_entries=viewer.is_gm and not Lore.objects.in_world(world).exists(),
    )


@gm_page
def inbox_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """List every open decision of the game master."""
    since = since_for(request, viewer)
    pending = DispositionChange.objects.in_world(viewer.world).pending().annotate_episode()
    pending = pending.select_related("npc", "party").order_by("-id")
    opinions = OpinionChange.objects.in_world(viewer.world).pending().annotate_episode()
    opinions = opinions.select_related("npc", "other", "faction", "party").order_by("-id")
    # Each of them has a form with all its options; a large import may leave thousands.
    changes = list(pending[: MOST_CHANGES + 1])
    of_others = list(opinions[: MOST_CHANGES + 1])
    clashes: Any = Paginator(open_contradictions(viewer.world), CONTRADICTIONS_PER_PAGE)
    clashes = clashes.get_page(request.GET.get("page"))
    facts = flagged_facts(viewer.world)
    dates = names_of_days(viewer.world, viewer.audience, world_days_of(clashes, facts))
    return render_page(
        request,
        viewer,
        "gm/inbox.html",
        since=since,
        changes=[(entry, present_influence(entry)) for entry in changes[:MOST_CHANGES]],
        opinions=of_others[:MOST_CHANGES],
        has_more_changes=max(len(changes), len(of_others)) > MOST_CHANGES,
        proposals=LoreProposal.objects.filter(world=viewer.world, state="open"),
        contradictions=[case_of(row, dates) for row in clashes],
        page_obj=clashes,
        flagged=facts,
        from_texts=proposals_of(viewer.world).filter(state="open").count(),
        decided=decided_lately(viewer.world),
        dates=dates,
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
