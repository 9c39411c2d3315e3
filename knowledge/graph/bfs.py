"""Breadth-first search from both ends. Pure: it asks `expand` for edges and knows no database."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from uuid import UUID

Hop = tuple[UUID, UUID, UUID]  # from, edge, to
Expand = Callable[[list[UUID]], Iterable[Hop]]


@dataclass
class _Side:
    frontier: list[UUID]
    came: dict[UUID, tuple[UUID, UUID] | None] = field(
        default_factory=dict
    )  # node -> (edge, node before)

    def advance(self, expand: Expand) -> None:
        fresh: list[UUID] = []
        for here, edge, there in expand(self.frontier):
            if there not in self.came:
                self.came[there] = (edge, here)
                fresh.append(there)
        self.frontier = fresh

    def trail(self, node: UUID) -> list[Hop]:
        """Return the hops from `node` back to where this side began."""
        hops = []
        while step := self.came[node]:
            edge, before = step
            hops.append((node, edge, before))
            node = before
        return hops


def shortest(expand: Expand, src: UUID, dst: UUID, max_depth: int) -> list[Hop] | None:
    """Return the hops of one shortest path of at most `max_depth` edges, or None. The smaller side goes first."""
    ahead, back = _Side([src], {src: None}), _Side([dst], {dst: None})
    if src == dst:
        return []
    for _step in range(max_depth):
        side, other = (ahead, back) if len(ahead.frontier) <= len(back.frontier) else (back, ahead)
        side.advance(expand)
        met = next((node for node in side.frontier if node in other.came), None)
        if met is not None:
            forth = [(before, edge, node) for node, edge, before in reversed(ahead.trail(met))]
            return forth + back.trail(met)
        if not side.frontier:
            return None
    return None
