"""The interface of a graph store, and the view through which it reads."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from django.utils.translation import gettext as _

from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.querysets import EdgeQuerySet, FactQuerySet
from knowledge.graph.schemas import GraphFact, GraphNeighborhood, GraphPath, UpsertResult
from retrieval.errors import Invalid, Problem
from worlds.audiences import PUBLIC, Audience
from worlds.models import World

MAX_DEPTH = 6
MAX_NODES = 500


@dataclass(frozen=True)
class View:
    """Whose knowledge of which world is read. `at` is a world day (None: facts without a known
    end); `believed_at` is a real time, for what was believed then (None: now)."""

    world: World
    audience: Audience = PUBLIC
    at: float | None = None
    believed_at: datetime | None = None

    def entities(self) -> FactQuerySet:
        """Return the entities that the view shows."""
        nodes = GraphNode.objects.believed_at(self.believed_at)
        return nodes.in_world(self.world).visible_to(self.audience)

    def facts(self) -> EdgeQuerySet:
        """Return the facts, of any world day, between entities that the view shows."""
        edges = GraphEdge.objects.in_world(self.world).known_to(self.audience, self.believed_at)
        facts = edges.select_related("src", "dst")
        return facts.filter(src__in=self.entities(), dst__in=self.entities())


@dataclass(frozen=True)
class AdjacentFacts:
    """The facts that join some entities to others, with both ends, the most confident first.
    `degraded` names the part that was down."""

    facts: Sequence[GraphEdge]
    degraded: list[str] = field(default_factory=list)


class GraphStore(Protocol):
    """Reads through one `View`. Raises `NotFound` for nodes that the view hides, `Invalid` for a
    depth out of range and `TooBroad` when the query times out."""

    view: View

    async def upsert_facts(self, facts: Sequence[GraphFact]) -> UpsertResult: ...

    async def neighbors(
        self, node_id: UUID, depth: int = 1, *, limit: int = MAX_NODES
    ) -> GraphNeighborhood: ...

    async def adjacent(self, nodes: Collection[UUID]) -> AdjacentFacts: ...

    async def shortest_path(self, src_id: UUID, dst_id: UUID, max_depth: int = 4) -> GraphPath: ...


class TooBroad(Problem):
    """The query timed out: the graph is too dense here for this depth."""

    code, title = "too_broad", "The graph query took too long"


def query_timeout() -> TooBroad:
    """Return the problem of a query that the database cancelled because of its time."""
    return TooBroad(
        _("The graph query took too long. Use a smaller depth or a less connected entity.")
    )


def require_depth(depth: int) -> int:
    """Return `depth`; raise `Invalid` unless it is 1 to `MAX_DEPTH`."""
    if not 1 <= depth <= MAX_DEPTH:
        raise Invalid(
            _("depth must be 1 to %(most)s, not %(depth)s. Start from a nearer entity.")
            % {"most": MAX_DEPTH, "depth": depth}
        )
    return depth
