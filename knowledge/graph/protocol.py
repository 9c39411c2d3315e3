"""The seam: what a graph store does, and for whom and as of when it reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from knowledge.graph.schemas import GraphFact, GraphNeighborhood, GraphPath, UpsertResult
from retrieval.errors import Invalid, Problem
from worlds.audiences import PUBLIC, Audience
from worlds.models import World

MAX_DEPTH = 6
MAX_NODES = 500


@dataclass(frozen=True)
class View:
    """`at`: the world day to look at (none: what holds without a known end). `believed_at`: what we believed then."""

    world: World
    audience: Audience = PUBLIC
    at: float | None = None
    believed_at: datetime | None = None


class GraphStore(Protocol):
    """Bound to a `View`. Raises `NotFound` for nodes that the view does not show, `Invalid` for an unusable depth and
    `TooBroad` when an answer would take too long."""

    view: View

    async def upsert_facts(self, facts: Sequence[GraphFact]) -> UpsertResult: ...

    async def neighbors(self, node_id: UUID, depth: int = 1) -> GraphNeighborhood: ...

    async def shortest_path(self, src_id: UUID, dst_id: UUID, max_depth: int = 4) -> GraphPath: ...


class TooBroad(Problem):
    """The graph is too dense here for this depth."""

    code, title = "too_broad", "Too much to walk through"


def require_depth(depth: int) -> int:
    if not 1 <= depth <= MAX_DEPTH:
        raise Invalid(
            f"depth must be 1 to {MAX_DEPTH}, not {depth}. Ask from a nearer node instead."
        )
    return depth
