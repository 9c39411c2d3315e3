"""The relation graph for reading: a drawing, and the same as a list, at a chosen day; contradictions to decide."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count, Max, Min, Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from knowledge.graph.decisions import resolve_contradiction
from knowledge.graph.labels import relation_label
from knowledge.graph.models import Contradiction, GraphEdge, GraphNode
from knowledge.graph.postgres_store import neighbors
from knowledge.graph.protocol import TooBroad, View
from retrieval.errors import Problem
from worlds.in_world_days import names_of_days
from worlds.pages import Viewer, gm_page, page, show

MOST_DRAWN = 150
DEPTHS = (1, 2, 3)


@dataclass(frozen=True)
class Sentence:
    """An edge as words, for the list beside the drawing."""

    source: Any
    words: str
    target: Any
    since: float | None
    until: float | None


@page
def graph(request: HttpRequest, looker: Viewer) -> HttpResponse:
    """The surroundings of an entity, or the best connected entities of the world."""
    at, depth = _number(request.GET.get("at")), int(_number(request.GET.get("depth")) or 1)
    view = View(looker.world, looker.audience, at=at)
    around = _entity(looker, request.GET.get("around", ""))
    try:
        nodes, edges = (
            _around(view, around, min(depth, max(DEPTHS)))
            if around
            else _best_connected(looker, at)
        )
    except TooBroad:
        messages.error(
            request, _("There is too much around here to draw in time: choose fewer steps."), "bad"
        )
        nodes, edges = [], []
    return show(
        request,
        looker,
        "gm/graph.html",
        around=around,
        depth=depth,
        depths=DEPTHS,
        at=at,
        span=_span(looker),
        drawing=_drawing(nodes, edges, around),
        sentences=_sentences(nodes, edges),
        dates=names_of_days(
            looker.world,
            looker.audience,
            (day for edge in edges for day in (edge.since, edge.until)),
        ),
        entities=_visible(looker).order_by("name").values_list("slug", "name")[:1000],
    )


def _visible(looker: Viewer) -> Any:
    return GraphNode.objects.in_world(looker.world).visible_to(looker.audience)


def _entity(looker: Viewer, slug: str) -> GraphNode | None:
    node: GraphNode | None = (
        _visible(looker).filter(Q(slug=slug) | Q(name__iexact=slug)).first() if slug else None
    )
    return node


def _around(view: View, node: GraphNode, depth: int) -> tuple[list[Any], list[Any]]:
    found = neighbors(view, node.pk, depth, limit=MOST_DRAWN)
    return list(found.nodes), list(found.edges)


def _best_connected(looker: Viewer, at: float | None) -> tuple[list[Any], list[Any]]:
    """The entities with the most relations that the looker may know of, and the relations among them."""
    nodes = _visible(looker)
    edges = _holding(
        GraphEdge.objects.in_world(looker.world).visible_to(looker.audience), at
    ).filter(src__in=nodes, dst__in=nodes)
    counted = (
        edges.values("src")
        .annotate(n=Count("pk"))
        .union(edges.values("dst").annotate(n=Count("pk")), all=True)
    )
    degree: dict[Any, int] = {}
    for row in counted:
        key = row.get("src") or row.get("dst")
        degree[key] = degree.get(key, 0) + row["n"]
    best = sorted(degree, key=lambda key: -degree[key])[:MOST_DRAWN]
    return list(nodes.filter(pk__in=best)), list(edges.filter(src__in=best, dst__in=best))


def _holding(edges: Any, at: float | None) -> Any:
    """Edges that are believed now and hold on the world day `at` (without one: that have no known end)."""
    believed = edges.filter(believed_until=None)
    if at is None:
        return believed.filter(until=None)
    return believed.filter(Q(since=None) | Q(since__lte=at), Q(until=None) | Q(until__gt=at))


def _span(looker: Viewer) -> dict[str, float] | None:
    edges = GraphEdge.objects.in_world(looker.world).visible_to(looker.audience)
    found = edges.aggregate(first=Min("since"), last_since=Max("since"), last_until=Max("until"))
    days = [day for day in found.values() if day is not None]
    return {"first": min(days), "last": max(days)} if len(set(days)) > 1 else None


def _ends(edge: Any) -> tuple[Any, Any]:
    return (edge.src_id, edge.dst_id) if isinstance(edge, GraphEdge) else (edge.src, edge.dst)


def _words(edge: Any) -> str:
    relation = edge.relation_id if isinstance(edge, GraphEdge) else edge.relation
    return relation_label(str(relation), edge.label)


def _key(node: Any) -> Any:
    return node.pk if isinstance(node, GraphNode) else node.id


def _drawing(nodes: list[Any], edges: list[Any], around: GraphNode | None) -> dict[str, Any]:
    """The elements that the drawing library wants."""
    center = str(around.pk) if around else ""
    return {
        "nodes": [
            {
                "id": str(_key(node)),
                "name": node.name,
                "kind": str(node.kind),
                "slug": node.slug,
                "center": str(_key(node)) == center,
            }
            for node in nodes
        ],
        "edges": [
            {
                "id": str(
                    _key(edge)
                    if isinstance(edge, GraphNode)
                    else getattr(edge, "pk", None) or edge.id
                ),
                "source": str(_ends(edge)[0]),
                "target": str(_ends(edge)[1]),
                "words": _words(edge),
            }
            for edge in edges
        ],
    }


def _sentences(nodes: list[Any], edges: list[Any]) -> list[Sentence]:
    by_key = {_key(node): node for node in nodes}
    told = []
    for edge in edges:
        source, target = _ends(edge)
        if source in by_key and target in by_key:
            told.append(
                Sentence(by_key[source], _words(edge), by_key[target], edge.since, edge.until)
            )
    return sorted(told, key=lambda each: (each.source.name, each.words, each.target.name))


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


@require_POST
@gm_page
def decide(request: HttpRequest, looker: Viewer, contradiction: str) -> HttpResponse:
    """A game master decides a contradiction, with a reason."""
    found = get_object_or_404(Contradiction, world=looker.world, pk=contradiction)
    try:
        decided = resolve_contradiction(
            found,
            how=request.POST.get("how", ""),
            reason=request.POST.get("reason", ""),
            by=looker.name,
            at=_number(request.POST.get("at")),
        )
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
    else:
        messages.success(request, _decided(decided.flagged), extra_tags="good")
    return HttpResponseRedirect(reverse("inbox", args=[looker.world.slug]))


@require_POST
@gm_page
def looked_at(request: HttpRequest, looker: Viewer, fact: str) -> HttpResponse:
    """A game master has looked at a flagged fact again: it still holds."""
    GraphEdge.objects.in_world(looker.world).filter(pk=fact).update(flag="")
    messages.success(request, _("It is no longer flagged."), extra_tags="good")
    return HttpResponseRedirect(reverse("inbox", args=[looker.world.slug]))


def _decided(flagged: list[GraphEdge]) -> str:
    if not flagged:
        return _("Decided.")
    shaken = "; ".join(str(edge) for edge in flagged[:5])
    return _("Decided. These rested on what was taken back, and are flagged: %(shaken)s") % {
        "shaken": shaken
    }
