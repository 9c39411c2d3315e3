"""Pages of the relation graph: a drawing with the same facts as a list, and forms that decide
contradictions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Any, Protocol, Self
from uuid import UUID

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_aware, make_aware
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from knowledge.graph import decisions
from knowledge.graph.contradiction_models import Contradiction
from knowledge.graph.decisions import resolve_contradiction
from knowledge.graph.graph_page import (
    DrawnOpinion,
    Subgraph,
    best_connected,
    day_range,
    relations_as_written,
    surroundings,
)
from knowledge.graph.labels import RELATION_LABELS, relation_label
from knowledge.graph.models import GraphEdge, GraphNode, NodeKind
from knowledge.graph.protocol import TooBroad, View
from knowledge.graph.schemas import EdgeOut, EdgeSource, NodeOut
from retrieval.errors import Problem
from worlds.audience_names import audience_models
from worlds.day_field import read_day
from worlds.in_world_days import names_of_days
from worlds.pages import Viewer, gm_page, render_page

DEPTHS = (1, 2, 3)
MOST_SUGGESTED = 1000


OPINION = "DISPOSITION"
"""Stands among the relations for what characters think of parties."""


class OpinionReader(Protocol):
    """Reads what the people among the entities think of the party of this slug; "": of all."""

    def __call__(
        self, viewer: Viewer, nodes: Sequence[NodeOut], slug: str, *, without_entity: bool
    ) -> Sequence[DrawnOpinion]: ...


@dataclass(frozen=True)
class FactRow:
    """A fact, or an opinion, in words, for the list beside the drawing. A page is empty when there
    is none that the viewer may read; game masters get the source of a fact."""

    source: str
    words: str
    target: str
    since: float | None
    until: float | None
    source_page: str
    target_page: str
    label: str = ""
    origin: EdgeSource | None = None


@dataclass(frozen=True)
class Drawn:
    """What the page shows: entities with the addresses of their pages, facts, opinions."""

    nodes: Sequence[NodeOut]
    edges: Sequence[EdgeOut]
    pages: Mapping[UUID, str]
    written: Mapping[UUID, str]
    opinions: Sequence[DrawnOpinion]
    center: GraphNode | None

    def ends_of(self, edge: EdgeOut) -> tuple[UUID, str, UUID]:
        """Return a fact in the direction in which it was written."""
        if edge.id in self.written:
            return edge.dst, relation_label(self.written[edge.id], edge.label), edge.src
        return edge.src, relation_label(edge.relation, edge.label), edge.dst


def show_graph(request: HttpRequest, viewer: Viewer, read_opinions: OpinionReader) -> HttpResponse:
    """Show the surroundings of an entity, or the best connected entities of the world."""
    at, believed_at = day_of_request(request, viewer), belief_of_request(request, viewer)
    depth = min(int(parse_number(request.GET.get("depth")) or 1), max(DEPTHS))
    view = View(viewer.world, viewer.audience, at, believed_at)
    entities, ref = view.entities(), request.GET.get("around", "")
    center = entities.filter(Q(slug=ref) | Q(name__iexact=ref)).first() if ref else None
    chosen = GraphFilter.from_query(request.GET, viewer)
    subgraph = read_subgraph(request, view, center, depth, chosen)
    # What somebody thought on a day of the past is not stored.
    opinions: Sequence[DrawnOpinion] = []
    if at is None and believed_at is None:
        is_whole = center is None and not ref
        opinions = read_opinions(viewer, subgraph[0], chosen.party, without_entity=is_whole)
    subgraph, opinions = chosen.narrow(subgraph, opinions, center)
    nodes, edges = subgraph
    written = relations_as_written(edges)
    drawn = Drawn(nodes, edges, pages_of(nodes, viewer), written, opinions, center)
    days = (day for edge in edges for day in (edge.since, edge.until))
    return render_page(
        request,
        viewer,
        "gm/graph.html",
        around=center,
        depth=depth,
        depths=DEPTHS,
        at=at,
        believed_at=believed_at,
        typed_at=request.GET.get("at", "") if at is None else viewer.typed_day(at),
        span=day_range(view),
        drawing=_drawing_data(drawn),
        sentences=_fact_rows(drawn, is_gm=viewer.is_gm),
        filter=chosen,
        kinds=NodeKind.choices,
        relations=relation_choices(),
        is_ref_unknown=bool(ref) and center is None,
        ref=ref,
        dates=names_of_days(viewer.world, viewer.audience, days),
        entities=entities.order_by("name").values_list("name", flat=True)[:MOST_SUGGESTED],
    )


def read_subgraph(
    request: HttpRequest, view: View, center: GraphNode | None, depth: int, chosen: "GraphFilter"
) -> Subgraph:
    try:
        if center:
            near = surroundings(view, center.pk, depth)
            if near.degraded:
                text = _("Neo4j does not answer. The relations are read from PostgreSQL.")
                messages.warning(request, text, extra_tags="warning")
            return near.nodes, near.edges
        relation = "" if chosen.relation == OPINION else chosen.relation
        return best_connected(view, relation=relation)
    except TooBroad:
        text = _("The graph is too large to draw in time. Choose fewer steps.")
        messages.error(request, text, "bad")
        return (), ()


@dataclass(frozen=True)
class GraphFilter:
    """The kind of entities, the relation and the party that are shown; empty: all."""

    kind: str = ""
    relation: str = ""
    party: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str], viewer: Viewer) -> Self:
        """Read the parameters of an address; unknown values are left out."""
        kind, relation = query.get("kind", ""), query.get("relation", "")
        parties = {party.slug for party in viewer.parties}
        return cls(
            kind if kind in NodeKind.values else "",
            relation if relation in RELATION_LABELS or relation == OPINION else "",
            party if (party := query.get("party", "")) in parties else "",
        )

    @property
    def is_set(self) -> bool:
        return bool(self.kind or self.relation or self.party)

    def narrow(
        self, subgraph: Subgraph, opinions: Sequence[DrawnOpinion], center: GraphNode | None
    ) -> tuple[Subgraph, Sequence[DrawnOpinion]]:
        """Keep the entities of the kind, the centre, and the facts and opinions of the relation
        among them; entities without any left are dropped."""
        nodes, edges = subgraph
        if not (self.kind or self.relation):
            return subgraph, opinions
        middle = center.pk if center else None
        kept = {node.id for node in nodes if self.kind in ("", node.kind) or node.id == middle}
        shown = [
            edge
            for edge in edges
            if self.relation in ("", edge.relation) and {edge.src, edge.dst} <= kept
        ]
        if self.relation not in ("", OPINION):
            opinions = []
        is_shown = self.kind in ("", NodeKind.CHARACTER)
        opinions = [each for each in opinions if (each.node in kept if each.node else is_shown)]
        joined: set[UUID | None] = {end for edge in shown for end in (edge.src, edge.dst)}
        joined |= {middle, *(each.node for each in opinions)}
        return ([node for node in nodes if node.id in joined], shown), opinions


def relation_choices() -> list[tuple[str, str]]:
    relations = [(code, str(words)) for code, words in RELATION_LABELS.items()]
    return [*relations, (OPINION, _("what people think of parties"))]


def pages_of(nodes: Sequence[NodeOut], viewer: Viewer) -> dict[UUID, str]:
    """Return the address of the page of each entity that has one the viewer may read: of its NPC,
    else of its entry. Two queries."""
    npcs: Any = audience_models()["npc"]._default_manager.filter(world=viewer.world)
    slugs = npcs.visible_to(viewer.audience).filter(slug__in=[node.slug for node in nodes])
    people = set(slugs.values_list("slug", flat=True))
    # The layer above, which the graph does not import.
    lore: Any = GraphNode._meta.get_field("lore").related_model
    entries = lore.objects.in_world(viewer.world).visible_to(viewer.audience)
    if not viewer.is_gm:
        entries = entries.only_published()
    entries = entries.filter(nodes__in=[node.id for node in nodes])
    pages = {
        pk: reverse("lore-entry", args=[viewer.world.slug, slug])
        for pk, slug in entries.values_list("nodes", "slug")
    }
    for node in nodes:
        if node.slug in people:
            pages[node.id] = reverse("npc", args=[viewer.world.slug, node.slug])
    return pages


def _drawing_data(drawn: Drawn) -> dict[str, Any]:
    """Return the elements in the shape that static/memory37/graph.js reads."""
    center = drawn.center.pk if drawn.center else None
    nodes = [
        {
            "id": str(node.id),
            "name": node.name,
            "kind": node.kind,
            "slug": node.slug,
            "page": drawn.pages.get(node.id, ""),
            "center": node.id == center,
        }
        for node in drawn.nodes
    ]
    # What two sources say is one line of the drawing; the list has both.
    by_statement: dict[Any, UUID] = {}
    for edge in drawn.edges:
        by_statement.setdefault(drawn.ends_of(edge), edge.id)
    edges = [
        {"id": str(pk), "source": str(source), "target": str(target), "words": words}
        for (source, words, target), pk in by_statement.items()
    ]
    nodes += [
        {"id": each.key, "name": each.name, "kind": NodeKind.CHARACTER, "page": each.page}
        for each in {each.slug: each for each in drawn.opinions if not each.node}.values()
    ]
    parties = {f"party:{each.party}": each for each in drawn.opinions}
    nodes += [
        {"id": key, "name": each.party_name, "kind": "Party", "page": each.party_page}
        for key, each in parties.items()
    ]
    edges += [
        {
            "id": f"{each.key}:{each.party}",
            "source": each.key,
            "target": f"party:{each.party}",
            "words": each.words,
            "label": each.label,
        }
        for each in drawn.opinions
    ]
    return {"nodes": nodes, "edges": edges}


def _fact_rows(drawn: Drawn, *, is_gm: bool) -> list[FactRow]:
    nodes = {node.id: node for node in drawn.nodes}
    pages = {node.id: drawn.pages.get(node.id) or f"?around={node.slug}" for node in drawn.nodes}
    rows = []
    for edge in drawn.edges:
        src, words, dst = drawn.ends_of(edge)
        if src in nodes and dst in nodes:
            names = nodes[src].name, words, nodes[dst].name
            ends = pages[src], pages[dst]
            origin = edge.source if is_gm else None
            rows.append(FactRow(*names, edge.since, edge.until, *ends, origin=origin))
    rows += [
        FactRow(
            each.name,
            each.words,
            each.party_name,
            None,
            None,
            each.page,
            each.party_page,
            each.label,
        )
        for each in drawn.opinions
    ]
    return sorted(rows, key=lambda row: (row.source, row.words, row.target))


def day_of_request(request: HttpRequest, viewer: Viewer) -> float | None:
    """Return the day as of which the graph is asked for; None: now. A text that is no date is
    answered with what to write."""
    try:
        return read_day(viewer.calendar, request.GET.get("at", ""))
    except Problem as problem:
        messages.error(request, problem.detail, "bad")
        return None


def belief_of_request(request: HttpRequest, viewer: Viewer) -> datetime | None:
    """Return the real time for which a game master asks what was believed; None: now. Players are
    never shown what was believed earlier (see `caller_views`)."""
    text = request.GET.get("believed_at", "")
    if not text or not viewer.is_gm:
        return None
    try:
        moment = parse_datetime(text)
    except ValueError:
        moment = None
    if moment is None:
        messages.error(request, _("Write a date and a time, such as 2026-03-31 18:00."), "bad")
        return None
    return moment if is_aware(moment) else make_aware(moment)


def parse_number(text: str | None) -> float | None:
    """Return a finite number; None for anything else, such as `nan`."""
    try:
        number = float(text or "nan")
    except ValueError:
        return None
    return number if isfinite(number) else None


@require_POST
@gm_page
def decide(request: HttpRequest, viewer: Viewer, contradiction: str) -> HttpResponse:
    """Decide a contradiction, with a reason."""
    row = get_object_or_404(Contradiction, world=viewer.world, pk=contradiction)
    try:
        resolution = resolve_contradiction(
            row,
            how=request.POST.get("how", ""),
            reason=request.POST.get("reason", ""),
            by=viewer.name,
            at=read_day(viewer.calendar, request.POST.get("at", "")),
        )
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
    else:
        text = _("Decision saved.")
        if facts := "; ".join(map(str, resolution.flagged_facts[:5])):
            text = _(
                "Decision saved. These facts depended on a retracted fact and are flagged for "
                "review: %(facts)s"
            )
            text %= {"facts": facts}
        messages.success(request, text, extra_tags="good")
    return HttpResponseRedirect(reverse("inbox", args=[viewer.world.slug]))


@require_POST
@gm_page
def remove_flag(request: HttpRequest, viewer: Viewer, fact: str) -> HttpResponse:
    """Remove the flag of a fact that a game master has checked."""
    row = get_object_or_404(GraphEdge.objects.in_world(viewer.world), pk=fact)
    decisions.remove_flag(row, by=viewer.name)
    messages.success(request, _("The flag was removed."), extra_tags="good")
    return HttpResponseRedirect(reverse("inbox", args=[viewer.world.slug]))
