"""What each content of a batch does to the memories known so far: confirm one, replace some,
contradict some. Pure.

The outcome is that of adding the contents one by one: each content is compared with the memories
that earlier contents of the batch made, and no longer with those that they replaced. A single
content is a batch of one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from memories.similarity.compare import MIN_COSINE, Verdict, compare, difference, fingerprint
from memories.states import Link
from memories.vectors import NearMemory, Vectors

BLOCK = 512
"""Rows of cosines in memory at once: 10,000 contents take 20 MB and not 400."""


class TooShallow(Exception):
    """So many of the stored memories nearest to a content were replaced that more of them have
    to be read."""


@dataclass(frozen=True)
class MemoryLink:
    """`newer` takes the place of `older` or, with `Link.FORMERLY`, contradicts it."""

    older: UUID
    newer: UUID
    kind: Link
    reason: str = ""


@dataclass(frozen=True)
class IncomingBatch:
    """Contents in their order, the ids their memories will have, and their vectors (None:
    compare words alone)."""

    texts: Sequence[str]
    ids: Sequence[UUID]
    queries: Vectors | None
    documents: Vectors | None


@dataclass
class BatchResolution:
    """`confirmed`: the memory that says the same as the content at a position. `links`: for the
    position of each content that becomes a new memory, its links to older ones."""

    confirmed: dict[int, UUID] = field(default_factory=dict)
    links: dict[int, list[MemoryLink]] = field(default_factory=dict)


@dataclass
class BatchResolver:
    """`known` has up to `depth` stored memories per position, nearest first; the nearest `k` are
    compared.

    Without `in_use` new memories wait for approval: they replace nothing yet and are not compared
    with.
    """

    batch: IncomingBatch
    stored_nearest: Mapping[int, Sequence[NearMemory]]
    k: int
    depth: int
    in_use: bool = True

    def __post_init__(self) -> None:
        self.resolution = BatchResolution()
        self._replaced_ids: set[UUID] = set()
        self._is_live = np.zeros(len(self.batch.texts), dtype=bool)
        self._position_of = {pk: position for position, pk in enumerate(self.batch.ids)}
        self._position_of_text: dict[str, int] = {}

    def resolve(self) -> BatchResolution:
        """Raise `TooShallow` when `known` does not reach far enough."""
        count = len(self.batch.texts)
        for start in range(0, count, BLOCK):
            stop = min(count, start + BLOCK)
            cosines = self._cosines(start, stop)
            for position in range(start, stop):
                row = None if cosines is None else cosines[position - start, :position]
                self._resolve_content(position, self._nearest(position, row))
        return self.resolution

    def _resolve_content(self, position: int, nearest: Sequence[NearMemory]) -> None:
        text, pk = self.batch.texts[position], self.batch.ids[position]
        by_verdict: dict[Verdict, list[NearMemory]] = {verdict: [] for verdict in Verdict}
        for near in nearest:
            by_verdict[compare(text, near.text, similarity=1 - near.distance)].append(near)
        if by_verdict[Verdict.EXACT]:
            self.resolution.confirmed[position] = by_verdict[Verdict.EXACT][0].id
            return
        # Both sides of a contradiction stay in use: which one holds is not for rules to decide.
        self.resolution.links[position] = [
            *(
                MemoryLink(near.id, pk, Link.MERGED, "says the same")
                for near in by_verdict[Verdict.NEAR]
            ),
            *(
                MemoryLink(near.id, pk, Link.FORMERLY, f"another {difference(text, near.text)}")
                for near in by_verdict[Verdict.CONTRADICTS]
            ),
        ]
        if self.in_use:
            for near in by_verdict[Verdict.NEAR]:
                self._replaced_ids.add(near.id)
                if near.id in self._position_of:
                    self._is_live[self._position_of[near.id]] = False
            self._is_live[position] = True
            self._position_of_text[fingerprint(text) or text] = position

    def _nearest(self, position: int, cosines: Vectors | None) -> list[NearMemory]:
        """The `k` memories nearest to a content, stored ones and those of earlier contents
        together."""
        known = self.stored_nearest.get(position, ())
        in_use = [near for near in known if near.id not in self._replaced_ids]
        if len(known) == self.depth and len(in_use) < self.k:
            raise TooShallow
        for earlier in self._similar_positions(position, cosines):
            distance = 0.0 if cosines is None else 1 - float(cosines[earlier])
            pk, text = self.batch.ids[earlier], self.batch.texts[earlier]
            in_use.append(NearMemory(position, pk, text, distance))
        return sorted(in_use, key=lambda near: near.distance)[: self.k]

    def _similar_positions(self, position: int, cosines: Vectors | None) -> list[int]:
        """Earlier contents worth comparing: near ones, and the one with the very same words."""
        text = self.batch.texts[position]
        same = self._position_of_text.get(fingerprint(text) or text)
        same_text = [] if same is None or not self._is_live[same] else [same]
        if cosines is None:
            return same_text
        near = np.flatnonzero((cosines >= MIN_COSINE) & self._is_live[:position])
        if len(near) > self.k:
            near = near[np.argsort(-cosines[near], kind="stable")[: self.k]]
        return list(dict.fromkeys([*near.tolist(), *same_text]))

    def _cosines(self, start: int, stop: int) -> Vectors | None:
        queries, documents = self.batch.queries, self.batch.documents
        if queries is None or documents is None or not self.in_use:
            return None
        cosines: Vectors = unit_rows(queries[start:stop]) @ unit_rows(documents[:stop]).T
        return cosines


def unit_rows(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return units
