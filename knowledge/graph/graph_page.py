"""Queries of the graph page: few enough entities to draw, the facts among them, and the range of
the day slider."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, Min

from knowledge.graph.models import GraphEdge
from knowledge.graph.postgres_store import edges_between
from knowledge.graph.presenters import NODE_COLUMNS, to_node_out
from knowledge.graph.protocol import View
from knowledge.graph.read_metrics import POSTGRES, counted_read
from knowledge.graph.schemas import EdgeOut, GraphNeighborhood, NodeOut
from knowledge.graph.store_selection import read_neighbors

MOST_DRAWN = 150

Subgraph = tuple[Sequence[NodeOut], Sequence[EdgeOut]]


@dataclass(frozen=True)
class DrawnOpinion:
    """What a character thinks of a party: `label` for its colour, `words` to read. `node` is the
    character's entity; None: an NPC (`slug`) that is none."""

    node: UUID | None
    slug: str
    name: str
    page: str
    party: str
    party_name: str
    label: str
    words: str
    party_page: str

    @property
    def key(self) -> str:
        """Identifies the character in the drawing."""
        return str(self.node or f"npc:{self.slug}")


def relations_as_written(edges: Sequence[EdgeOut]) -> dict[UUID, str]:
    """Return the relation of those facts that were written from the target to the source."""
    rows = GraphEdge.objects.filter(pk__in=[edge.id for edge in edges]).exclude(written_as="")
    return dict(rows.values_list("pk", "written_as"))


def surroundings(view: View, center: UUID, depth: int) -> GraphNeighborhood:
    """Return what is within `depth` edges of `center`. Raises `NotFound` for a hidden center,
    and `TooBroad`."""
    return read_neighbors(view, center, depth, limit=MOST_DRAWN)


@counted_read(POSTGRES, "best_connected")
def best_connected(view: View, *, relation: str = "") -> Subgraph:
    """Return the entities with the most facts (of `relation`, if it is given) on the day of `view`,
    and the facts among them. Raises `TooBroad`."""
    # order_by() clears the default order, which would become part of GROUP BY.
    edges = view.facts().valid_on(view.at).order_by()
    edges = edges.filter(relation=relation) if relation else edges
    degree: Counter[UUID] = Counter()
    for end in ("src", "dst"):
        degree.update(dict(edges.values_list(end).annotate(count=Count("pk"))))
    ids = [pk for pk, _count in degree.most_common(MOST_DRAWN)]
    nodes = [to_node_out(row) for row in view.entities().filter(pk__in=ids).values(*NODE_COLUMNS)]
    # Only between entities of the page: one that is hidden has visible facts all the same.
    return nodes, edges_between(view, [node.id for node in nodes])


def day_range(view: View) -> dict[str, Any] | None:
    """Return the first and the last world day on which a fact begins or ends; None if there are
    no two such days."""
    limits = view.facts().aggregate(
        first=Min("since"), last_since=Max("since"), last_until=Max("until")
    )
    days = [day for day in limits.values() if day is not None]
    return {"first": min(days), "last": max(days)} if len(set(days)) > 1 else None
