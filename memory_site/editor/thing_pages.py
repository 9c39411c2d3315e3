"""The page of a thing, to read: its text with everything that the world knows of it."""

from typing import Any

from django.db.models import prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.http import urlencode

from knowledge.entry_entities import NODE_KINDS
from knowledge.graph.models import GraphNode, NodeKind
from knowledge.graph.protocol import View
from knowledge.graph.views import belief_of_request, day_of_request
from knowledge.models import Lore
from knowledge.views import lore_of
from memories.witnesses.queries import remembered_by
from memory_site.editor import sections
from memory_site.editor.relations import relations_of, words_in_use
from memory_site.editor.things import Thing, find_entry, thing_of_entry, thing_of_npc
from memory_site.npc_merging.addresses import kept_in_place_of
from npcs import page_queries
from npcs.gm_profile import read_gm_profile
from npcs.models import NPC, Axis
from npcs.opinions import opinions_around, standings_of
from npcs.profiles import profile_for_players
from worlds.audiences import Visibility
from worlds.callers import Caller
from worlds.in_world_days import names_of_days
from worlds.models import Party
from worlds.page_streams import since_for
from worlds.pages import Viewer, gm_page, page, render_page

MOST_REMEMBERED = 20
VISIBILITIES = [(each.value, each.label) for each in (Visibility.GM, Visibility.PUBLIC)]
"""Who may know a relation that is written on a page; it is revealed by an episode."""


@page
def entry_page(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """The page of a place, faction, item, …; that of a character is the page of the NPC."""
    try:
        entry = entry_of_request(request, viewer, slug)
    except Http404:
        return redirect_from_merged(viewer, slug)
    thing = thing_of_entry(viewer, entry)
    if thing.npc:
        return HttpResponseRedirect(thing.address())
    context = context_of(request, viewer, thing)
    context["people"] = sections.people_of(viewer, entry)
    if viewer.is_gm and thing.node and thing.node.kind == NodeKind.FACTION:
        standings = standings_of(viewer.world, faction=thing.node)
        context |= {"faction": thing.node, "standings": standings}
    return render_page(request, viewer, "editor/thing.html", **context)


@page
def person_page(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    since = since_for(request, viewer) if viewer.is_gm else ""
    try:
        npc = find_npc(viewer, slug)
    except Http404:
        return redirect_from_merged(viewer, slug)
    if viewer.is_gm:
        prefetch_related_objects([npc], "secrets")
    party = viewer.party(request.GET.get("party"))
    party = party or page_queries.party_to_show(npc, viewer.parties)
    context = context_of(request, viewer, thing_of_npc(viewer, npc)) | {"npc": npc, "party": party}
    context["since"] = since
    if viewer.is_gm:
        # Read after the rest, unless a browser without scripts asks for it: a fifth of the time.
        context["has_mentions"] = bool(request.GET.get("mentions"))
        context |= context_for_play(viewer, npc, party)
        return render_page(request, viewer, "editor/person.html", **context)
    context["profile"] = profile_for_players(npc, viewer.audience, party)
    return render_page(request, viewer, "editor/person_for_players.html", **context)


def redirect_from_merged(viewer: Viewer, slug: str) -> HttpResponse:
    """Lead from the page of an NPC that was merged to that of the other. Raises Http404."""
    kept = kept_in_place_of(viewer, slug)
    if kept is None:
        raise Http404
    return HttpResponseRedirect(thing_of_npc(viewer, kept).address())


@gm_page
def mentions_part(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """What mentions the NPC: a part of its page, which the browser fetches by itself."""
    npc = find_npc(viewer, slug)
    return render_page(request, viewer, "editor/parts/backlinks.html", npc=npc)


def entry_of_request(request: HttpRequest, viewer: Viewer, slug: str) -> Lore:
    campaign = request.GET.get("campaign", "")
    return find_entry(viewer, slug, campaign=campaign, canon="canon" in request.GET)


def find_npc(viewer: Viewer, slug: str) -> NPC:
    rows = NPC.objects.in_world(viewer.world).visible_to(viewer.audience)
    rows = rows.select_related("home_lore", "faction_lore", "biography")
    npc: NPC = get_object_or_404(rows, slug=slug)
    npc.world = viewer.world
    return npc


def context_of(request: HttpRequest, viewer: Viewer, thing: Thing) -> dict[str, Any]:
    """What the pages of things and of people have in common."""
    at, believed_at = day_of_request(request, viewer), belief_of_request(request, viewer)
    view = View(viewer.world, viewer.audience, at, believed_at)
    lines = relations_of(thing.node, view)
    days = (day for line in lines for day in (line.fact.since, line.fact.until))
    context: dict[str, Any] = {
        "thing": thing,
        "entry": thing.entry,
        "text": sections.text_for(viewer, thing.entry),
        "relations": lines,
        "standing_relations": [line for line in lines if not line.is_of_scene],
        "first_meetings": [line for line in lines if line.is_of_scene],
        "at": at,
        "believed_at": believed_at,
        "since": "",
        "typed_at": request.GET.get("at", "") if at is None else viewer.typed_day(at),
        "dates": names_of_days(viewer.world, viewer.audience, days, calendar=viewer.calendar),
        "episodes": sections.episodes_of(viewer, thing),
    }
    if viewer.is_gm:
        knowledge = sections.knowledge_of(thing)
        context |= {
            "parts": knowledge.parts,
            "audience_names": knowledge.names,
            "passages": sections.passages_of(thing.entry),
            "words_in_use": words_in_use(viewer.world) if thing.relation_address else [],
            "visibilities": VISIBILITIES,
        }
    return context


@page
def entity_page(_request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """Lead to the page of the entity: of its NPC, of its entry, or its place in the graph."""
    node = node_of(viewer, slug)
    npc = NPC.objects.in_world(viewer.world).visible_to(viewer.audience).filter(slug=slug).first()
    if npc and node.kind == NodeKind.CHARACTER:
        return HttpResponseRedirect(thing_of_npc(viewer, npc).address())
    kinds = [kind for kind, node_kind in NODE_KINDS.items() if node_kind == node.kind]
    entry = lore_of(viewer).filter(nodes=node, kind__in=kinds).first()
    if entry:
        return HttpResponseRedirect(thing_of_entry(viewer, entry).address())
    query = urlencode({"around": node.slug})
    return HttpResponseRedirect(f"{reverse('graph', args=[viewer.world.slug])}?{query}")


def context_for_play(viewer: Viewer, npc: NPC, party: Party | None) -> dict[str, Any]:
    """What a game master needs to play the NPC, and what it thinks of the parties."""
    profile = read_gm_profile(Caller.gm(npc.world), npc.slug, None)
    assert profile
    assert profile.dynamic
    opinions = profile.dynamic.disposition
    around = opinions_around(npc)
    return {
        "profile": profile,
        "standings": page_queries.dispositions_to_show(npc, opinions, viewer.parties),
        "story": page_queries.disposition_history(npc, party, opinions) if party else None,
        "secrets": page_queries.secrets_of(npc, party),
        "pictures": page_queries.pictures_of(npc, viewer.audience),
        "axes": Axis.choices,
        "opinions": around.of_others,
        "faction_standings": around.of_factions,
        "remembered": remembered_by(npc, limit=MOST_REMEMBERED),
    }


def node_of(viewer: Viewer, slug: str) -> GraphNode:
    """Return the entity of this slug. Raises Http404."""
    nodes = GraphNode.objects.believed_now().in_world(viewer.world).visible_to(viewer.audience)
    node: GraphNode = get_object_or_404(nodes.select_related("world", "lore"), slug=slug)
    return node
