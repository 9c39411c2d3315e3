"""Pages of the relation graph: a drawing with the same facts as a list, and forms that decide
contradictions."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from knowledge.graph.decisions import resolve_contradiction
from knowledge.graph.graph_page import Subgraph, best_connected, day_range, surroundings
from knowledge.graph.labels import relation_label
from knowledge.graph.models import Contradiction, GraphEdge, GraphNode
from knowledge.graph.protocol import TooBroad, View
from knowledge.graph.schemas import NodeOut
from retrieval.errors import Problem
from worlds.in_world_days import names_of_days
from worlds.pages import Viewer, gm_page, page, render_page

DEPTHS = (1, 2, 3)
MOST_SUGGESTED = 1000


@dataclass(frozen=True)
class FactRow:
    """A fact in words, for the list beside the drawing."""

    source: NodeOut
    words: str
    target: NodeOut
    since: float | None
    until: float | None


@page
def graph(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Show the surroundings of an entity, or the best connected entities of the world."""
    at = parse_number(request.GET.get("at"))
    depth = int(parse_number(request.GET.get("depth")) or 1)
    view = View(viewer.world, viewer.audience, at=at)
    entities, ref = view.entities(), request.GET.get("around", "")
    center = entities.filter(Q(slug=ref) | Q(name__iexact=ref)).first() if ref else None
    subgraph: Subgraph = ((), ())
    try:
        if center:
            subgraph = surroundings(view, center.pk, min(depth, max(DEPTHS)))
        else:
            subgraph = best_connected(view)
    except TooBroad:
        text = _("The graph is too large to draw in time. Choose fewer steps.")
        messages.error(request, text, "bad")
    days = (day for edge in subgraph[1] for day in (edge.since, edge.until))
    return render_page(
        request,
        viewer,
        "gm/graph.html",
        around=center,
        depth=depth,
        depths=DEPTHS,
        at=at,
        span=day_range(view),
        drawing=_drawing_data(subgraph, center),
        sentences=_fact_rows(subgraph),
        dates=names_of_days(viewer.world, viewer.audience, days),
        entities=entities.order_by("name").values_list("slug", "name")[:MOST_SUGGESTED],
    )


def _drawing_data(subgraph: Subgraph, center: GraphNode | None) -> dict[str, Any]:
    """Return the elements in the shape that static/memory37/graph.js reads."""
    nodes, edges = subgraph
    return {
        "nodes": [
            {
                "id": str(node.id),
                "name": node.name,
                "kind": node.kind,
                "slug": node.slug,
                "center": center is not None and node.id == center.pk,
            }
            for node in nodes
        ],
        "edges": [
            {
                "id": str(edge.id),
                "source": str(edge.src),
                "target": str(edge.dst),
                "words": relation_label(edge.relation, edge.label),
            }
            for edge in edges
        ],
    }


def _fact_rows(subgraph: Subgraph) -> list[FactRow]:
    nodes = {node.id: node for node in subgraph[0]}
    rows = []
    for edge in subgraph[1]:
        if edge.src in nodes and edge.dst in nodes:
            words = relation_label(edge.relation, edge.label)
            src, dst = nodes[edge.src], nodes[edge.dst]
            rows.append(FactRow(src, words, dst, edge.since, edge.until))
    return sorted(rows, key=lambda row: (row.source.name, row.words, row.target.name))


def parse_number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


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
            at=parse_number(request.POST.get("at")),
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
    GraphEdge.objects.in_world(viewer.world).filter(pk=fact).update(flag="")
    messages.success(request, _("The flag was removed."), extra_tags="good")
    return HttpResponseRedirect(reverse("inbox", args=[viewer.world.slug]))
