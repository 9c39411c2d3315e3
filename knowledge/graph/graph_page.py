"""Queries of the graph page: few enough entities to draw, the facts among them, and the range of
the day slider."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, Min, Q, QuerySet

from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.postgres_store import edges_between, neighbors
from knowledge.graph.presenters import to_node_out
from knowledge.graph.protocol import View
from knowledge.graph.schemas import EdgeOut, NodeOut

MOST_DRAWN = 150

Subgraph = tuple[Sequence[NodeOut], Sequence[EdgeOut]]


def surroundings(view: View, center: UUID, depth: int) -> Subgraph:
    """Return what is within `depth` edges of `center`. Raises `NotFound` for a hidden center,
    and `TooBroad`."""
    near = neighbors(view, center, depth, limit=MOST_DRAWN)
    return near.nodes, near.edges


def best_connected(view: View) -> Subgraph:
    """Return the entities with the most facts on the day of `view`, and the facts among them.
    Raises `TooBroad`."""
    visible = visible_nodes(view)
    edges = GraphEdge.objects.believed().in_world(view.world).visible_to(view.audience)
    edges = edges.filter(valid_on(view.at), src__in=visible, dst__in=visible)
    degree: Counter[UUID] = Counter()
    for end in ("src", "dst"):
        # order_by() clears the default order, which would become part of GROUP BY.
        counts = edges.order_by().values_list(end).annotate(count=Count("pk"))
        degree.update(dict(counts))
    ids = [pk for pk, _count in degree.most_common(MOST_DRAWN)]
    fields = ("id", "kind", "slug", "name", "since", "until")
    nodes = [to_node_out(row) for row in visible.filter(pk__in=ids).values(*fields)]
    return nodes, edges_between(view, ids)


def visible_nodes(view: View) -> "QuerySet[GraphNode]":
    nodes: QuerySet[GraphNode] = GraphNode.objects.in_world(view.world).visible_to(view.audience)
    return nodes


def valid_on(day: float | None) -> Q:
    """Facts that are valid on a world day; without one, those that have no known end."""
    if day is None:
        return Q(until=None)
    return Q(Q(since=None) | Q(since__lte=day), Q(until=None) | Q(until__gt=day))


def day_range(view: View) -> dict[str, Any] | None:
    """Return the first and the last world day on which a fact begins or ends; None if there are
    no two such days."""
    edges = GraphEdge.objects.in_world(view.world).visible_to(view.audience)
    limits = edges.aggregate(first=Min("since"), last_since=Max("since"), last_until=Max("until"))
    days = [day for day in limits.values() if day is not None]
    return {"first": min(days), "last": max(days)} if len(set(days)) > 1 else None
