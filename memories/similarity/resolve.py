"""What becomes of many contents that arrive one after another: the same as if each had been added alone. Pure.

Each content sees what the ones before it left: a memory that an earlier content made is as good as one of the store,
and one whose place was taken is seen no more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from memories.ledger.plan import Replaced, formerly, judged
from memories.similarity.compare import HOPELESS_BELOW, Verdict, fingerprint
from memories.similarity.nearest import Near
from memories.states import Link
from memories.vectors import Vectors

BLOCK = 512
"""Rows of cosines held at once: 10,000 contents take 20 MB and not 400."""


class TooShallow(Exception):
    """So many of the known memories asked for were replaced on the way that further ones have to be looked at."""


@dataclass(frozen=True)
class Arrivals:
    """Contents in the order they came, the ids their memories will have, and their vectors (None: words must do)."""

    texts: Sequence[str]
    ids: Sequence[UUID]
    queries: Vectors | None
    documents: Vectors | None


@dataclass
class Settled:
    """By position: what a content only confirms, or what its new memory replaces. By memory: what it rests on."""

    confirmed: dict[int, UUID] = field(default_factory=dict)
    new: dict[int, list[Replaced]] = field(default_factory=dict)
    resting_on: dict[UUID, list[int]] = field(default_factory=dict)
    inheriting: dict[UUID, list[UUID]] = field(default_factory=dict)
    replaced: dict[UUID, None] = field(default_factory=dict)

    def memory_of(self, position: int, ids: Sequence[UUID]) -> UUID:
        return self.confirmed.get(position, ids[position])


@dataclass
class Settling:
    """`known` has up to `depth` memories of the store near each content, `k` of which are looked at. `in_use`: new
    memories count at once (else they wait for approval, and what they would replace stays)."""

    arrivals: Arrivals
    known: dict[int, list[Near]]
    k: int
    depth: int
    in_use: bool = True
    done: Settled = field(default_factory=Settled)

    def __post_init__(self) -> None:
        self._live = np.zeros(len(self.arrivals.texts), dtype=bool)
        self._position_of = {pk: position for position, pk in enumerate(self.arrivals.ids)}
        self._said: dict[str, int] = {}

    def settle(self) -> Settled:
        """Raise `TooShallow` when `known` does not reach far enough."""
        count = len(self.arrivals.texts)
        for start in range(0, count, BLOCK):
            stop = min(count, start + BLOCK)
            cosines = self._cosines(start, stop)
            for position in range(start, stop):
                self._arrive(
                    position, None if cosines is None else cosines[position - start, :position]
                )
        return self.done

    def _arrive(self, position: int, cosines: Vectors | None) -> None:
        text = self.arrivals.texts[position]
        alike = judged(text, self._near(position, cosines))
        if alike[Verdict.EXACT]:
            same = alike[Verdict.EXACT][0].id
            self.done.confirmed[position] = same
            self.done.resting_on.setdefault(same, []).append(position)
            return
        merged = [Replaced(near.id, Link.MERGED, "says the same") for near in alike[Verdict.NEAR]]
        self.done.new[position] = [
            *merged,
            *(formerly(text, near) for near in alike[Verdict.CONTRADICTS]),
        ]
        self._take_place(position, [old.id for old in merged])
        if self.in_use:
            self._live[position] = True
            self._said[fingerprint(text) or text] = position

    def _take_place(self, position: int, olds: list[UUID]) -> None:
        """A memory rests on its content, and on all that those rested on that it takes the place of."""
        new = self.arrivals.ids[position]
        resting, inheriting = {position: None}, dict[UUID, None]()
        for old in olds:
            resting |= dict.fromkeys(self.done.resting_on.get(old, ()))
            inheriting |= dict.fromkeys(self.done.inheriting.get(old, ()))
            if old not in self._position_of:
                inheriting[old] = None
            if self.in_use:
                self.done.replaced[old] = None
                if old in self._position_of:
                    self._live[self._position_of[old]] = False
        self.done.resting_on[new] = list(resting)
        if inheriting:
            self.done.inheriting[new] = list(inheriting)

    def _near(self, position: int, cosines: Vectors | None) -> list[Near]:
        known = self.known.get(position, [])
        standing = [near for near in known if near.id not in self.done.replaced]
        if len(known) == self.depth and len(standing) < self.k:
            raise TooShallow
        before = [
            self._as_near(position, place, cosines) for place in self._before(position, cosines)
        ]
        return sorted([*standing, *before], key=lambda near: near.distance)[: self.k]

    def _before(self, position: int, cosines: Vectors | None) -> list[int]:
        """Earlier contents worth comparing: near ones, and the one that has the very same words."""
        text = self.arrivals.texts[position]
        same = self._said.get(fingerprint(text) or text)
        found: list[int] = [] if same is None or not self._live[same] else [same]
        if cosines is None:
            return found
        near = np.flatnonzero((cosines >= HOPELESS_BELOW) & self._live[:position])
        if len(near) > self.k:
            near = near[np.argsort(-cosines[near], kind="stable")[: self.k]]
        return list(dict.fromkeys([*near.tolist(), *found]))

    def _as_near(self, position: int, place: int, cosines: Vectors | None) -> Near:
        distance = 0.0 if cosines is None else 1 - float(cosines[place])
        return Near(position, self.arrivals.ids[place], self.arrivals.texts[place], distance)

    def _cosines(self, start: int, stop: int) -> Vectors | None:
        queries, documents = self.arrivals.queries, self.arrivals.documents
        if queries is None or documents is None or not self.in_use:
            return None
        cosines: Vectors = _unit(queries[start:stop]) @ _unit(documents[:stop]).T
        return cosines


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return units
