"""What a page needs to draw the graph: few enough entities, with a word on each fact, as an audience may see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q

from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.postgres_store import edges_between, neighbors
from knowledge.graph.protocol import View
from knowledge.graph.schemas import EdgeOut, NodeOut

MOST_DRAWN = 150


@dataclass(frozen=True)
class Drawing:
    """`contested` holds the ids of facts with an open contradiction that this audience may know of."""

    nodes: Sequence[NodeOut]
    edges: Sequence[EdgeOut]
    contested: frozenset[UUID]
    truncated: bool


def draw(
    view: View, center: UUID | None = None, *, depth: int = 1, limit: int = MOST_DRAWN
) -> Drawing:
    """Draw around `center`, or the most connected entities of the world. Raises NotFound for a hidden center."""
    if center is None:
        nodes, truncated = _best_connected(view, limit)
    else:
        near = neighbors(view, center, depth, limit=limit)
        nodes, truncated = near.nodes, near.truncated
    edges = edges_between(view, [node.id for node in nodes])
    return Drawing(nodes, edges, contested(view, [edge.id for edge in edges]), truncated)


def contested(view: View, edges: Sequence[UUID]) -> frozenset[UUID]:
    """Return which of these facts stand in an open contradiction."""
    found = open_contradictions(view.world, view.audience).filter(
        Q(first__in=edges) | Q(second__in=edges)
    )
    sides = {side for clash in found for side in (clash.first_id, clash.second_id) if side}
    return frozenset(sides & set(edges))


def days(view: View) -> tuple[float, float] | None:
    """Return the first and the last world day on which a fact that the audience may know begins or ends."""
    shown = (
        GraphEdge.objects.in_world(view.world).visible_to(view.audience).filter(believed_until=None)
    )
    named = {day for pair in shown.values_list("since", "until") for day in pair if day is not None}
    return (min(named), max(named)) if named else None


def _best_connected(view: View, limit: int) -> tuple[list[NodeOut], bool]:
    shown = (
        GraphNode.objects.in_world(view.world).visible_to(view.audience).filter(believed_until=None)
    )
    edges = (
        GraphEdge.objects.in_world(view.world).visible_to(view.audience).filter(believed_until=None)
    )
    degree = Count("facts_from", Q(facts_from__in=edges), distinct=True) + Count(
        "facts_to", Q(facts_to__in=edges), distinct=True
    )
    rows = list(shown.annotate(degree=degree).order_by("-degree", "name")[: limit + 1])
    nodes = [
        NodeOut(id=n.pk, kind=n.kind, slug=n.slug, name=n.name, since=n.since, until=n.until)
        for n in rows[:limit]
    ]
    return nodes, len(rows) > limit
