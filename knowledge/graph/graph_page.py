"""Queries of the graph page: few enough entities to draw, the facts among them, and the range of
the day slider."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, Min

from knowledge.graph.models import GraphEdge
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
    # order_by() clears the default order, which would become part of GROUP BY.
    edges = view.facts().valid_on(view.at).order_by()
    degree: Counter[UUID] = Counter()
    for end in ("src", "dst"):
        degree.update(dict(edges.values_list(end).annotate(count=Count("pk"))))
    ids = [pk for pk, _count in degree.most_common(MOST_DRAWN)]
    fields = ("id", "kind", "slug", "name", "since", "until")
    nodes = [to_node_out(row) for row in view.entities().filter(pk__in=ids).values(*fields)]
    # Only between entities of the page: one that is hidden has visible facts all the same.
    return nodes, edges_between(view, [node.id for node in nodes])


def day_range(view: View) -> dict[str, Any] | None:
    """Return the first and the last world day on which a fact begins or ends; None if there are
    no two such days."""
    edges = GraphEdge.objects.in_world(view.world).visible_to(view.audience)
    limits = edges.aggregate(first=Min("since"), last_since=Max("since"), last_until=Max("until"))
    days = [day for day in limits.values() if day is not None]
    return {"first": min(days), "last": max(days)} if len(set(days)) > 1 else None
