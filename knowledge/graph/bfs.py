"""Bidirectional breadth-first search. Pure: it gets edges from a callback and knows no database."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID


class Hop(NamedTuple):
    src: UUID
    edge: UUID
    dst: UUID


Expand = Callable[[list[UUID]], Iterable[Hop]]
"""Returns the hops that lead away from a frontier of nodes."""


@dataclass
class Side:
    """The search from one end: its frontier, and the hop by which each node was reached."""

    frontier: list[UUID]
    reached_by: dict[UUID, Hop | None]

    def advance(self, expand: Expand) -> None:
        frontier: list[UUID] = []
        for hop in expand(self.frontier):
            if hop.dst not in self.reached_by:
                self.reached_by[hop.dst] = hop
                frontier.append(hop.dst)
        self.frontier = frontier

    def hops_back(self, node: UUID) -> list[Hop]:
        """Return the hops from `node` back to where this side began."""
        hops = []
        while hop := self.reached_by[node]:
            hops.append(Hop(node, hop.edge, hop.src))
            node = hop.src
        return hops


def shortest_hops(expand: Expand, src: UUID, dst: UUID, max_depth: int) -> list[Hop] | None:
    """Return the hops of one shortest path of at most `max_depth` edges, or None."""
    if src == dst:
        return []
    start, goal = Side([src], {src: None}), Side([dst], {dst: None})
    for _step in range(max_depth):
        # The smaller frontier is expanded first: the work grows with its size.
        side, other = (start, goal) if len(start.frontier) <= len(goal.frontier) else (goal, start)
        side.advance(expand)
        meeting = next((node for node in side.frontier if node in other.reached_by), None)
        if meeting is not None:
            forward = [Hop(b, edge, a) for a, edge, b in reversed(start.hops_back(meeting))]
            return forward + goal.hops_back(meeting)
        if not side.frontier:
            return None
    return None
