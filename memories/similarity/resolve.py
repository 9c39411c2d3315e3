"""Decide what each content of a batch does to the known memories: confirm one, replace or
contradict some. A pure computation.

The outcome is that of adding the contents one by one: each content is compared with the memories
that earlier contents of the batch made, and no longer with those that they replaced. A single
content is a batch of one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from uuid import UUID

import numpy as np

from memories.found_memory import FoundMemory
from memories.identity import Identity, united_labels
from memories.similarity.comparable_text import fingerprint
from memories.similarity.compare import (
    MIN_COSINE,
    MIN_COSINE_OF_SAME,
    Verdict,
    compare,
    difference,
    overlap,
)
from memories.similarity.same_statement import same_statement_model
from memories.states import LinkKind
from memories.vectors import Vectors

SAYS_THE_SAME = "says the same"
"""The reason of a merge by rules, by which a person finds it."""
IN_OTHER_WORDS = f"{SAYS_THE_SAME} in other words"
"""The reason of a merge by the model alone, which may be wrong more often."""
BLOCK = 512
"""Rows of cosines in memory at once: 10,000 contents take 20 MB and not 400."""


class Scale(Enum):
    """Whether the thresholds of `compare` were fitted to the cosines of these vectors."""

    FITTED = "fitted"
    UNKNOWN = "unknown"


class TooShallow(Exception):
    """So many of the stored memories nearest to a content were replaced that more of them have
    to be read."""


@dataclass(frozen=True)
class MemoryLink:
    """`newer` takes the place of `older` or, with `Link.FORMERLY`, contradicts it."""

    older: UUID
    newer: UUID
    kind: LinkKind
    reason: str = ""


@dataclass(frozen=True)
class IncomingBatch:
    """Contents in their order, what each is said by and about, the metadata and the ids their
    memories will have, and their vectors (None: compare words alone)."""

    texts: Sequence[str]
    identities: Sequence[Identity]
    labels: Sequence[Mapping[str, Any]]
    ids: Sequence[UUID]
    queries: Vectors | None
    documents: Vectors | None


@dataclass
class BatchResolution:
    """`confirmations`: the memory that says the same as the content at a position. `links`: for
    the position of each content that becomes a new memory, its links to older ones. `labels`: the
    metadata of each of these, with those of the memories it replaces."""

    confirmations: dict[int, UUID] = field(default_factory=dict)
    links: dict[int, list[MemoryLink]] = field(default_factory=dict)
    labels: dict[int, dict[str, Any]] = field(default_factory=dict)


@dataclass
class BatchResolver:
    """`stored_nearest` has up to `depth` stored memories per position (none without vectors),
    nearest first; the nearest `k` are compared.

    Without `in_use` new memories wait for approval: they replace nothing yet and are not compared
    with.
    """

    batch: IncomingBatch
    stored_nearest: Sequence[Sequence[FoundMemory]]
    k: int
    depth: int
    in_use: bool = True
    scale: Scale = Scale.FITTED
    embedder: str = ""
    """That of the vectors; empty for a caller's own."""
    replaced_ids: frozenset[UUID] = frozenset()
    """Stored memories that leave use with the same commit, for another reason."""

    def __post_init__(self) -> None:
        self.resolution = BatchResolution()
        self._replaced_ids = set(self.replaced_ids)
        self._is_live = np.zeros(len(self.batch.texts), dtype=bool)
        self._position_of = {pk: position for position, pk in enumerate(self.batch.ids)}
        self._position_of_text: dict[tuple[str, Identity], int] = {}
        is_known = self.embedder == same_statement_model().embedder
        self._min_cosine = MIN_COSINE_OF_SAME if is_known else MIN_COSINE

    def resolve(self) -> BatchResolution:
        """Raise `TooShallow` when `stored_nearest` does not reach far enough."""
        queries, documents = self.batch.queries, self.batch.documents
        count = len(self.batch.texts)
        for start in range(0, count, BLOCK):
            stop = min(count, start + BLOCK)
            cosines: Vectors | None = None
            if queries is not None and documents is not None and self.in_use:
                cosines = unit_rows(queries[start:stop]) @ unit_rows(documents[:stop]).T
            for position in range(start, stop):
                row = None if cosines is None else cosines[position - start, :position]
                self._resolve_content(position, self._nearest(position, row))
        return self.resolution

    def _resolve_content(self, position: int, nearest: Sequence[FoundMemory]) -> None:
        text, pk = self.batch.texts[position], self.batch.ids[position]
        identity, labels = self.batch.identities[position], self.batch.labels[position]
        by_verdict: dict[Verdict, list[FoundMemory]] = {verdict: [] for verdict in Verdict}
        for near in nearest:
            similarity = self._similarity(text, near)
            verdict = compare(
                text,
                near.text,
                similarity=similarity,
                identities=(identity, near.identity),
                embedder=self.embedder,
            )
            by_verdict[verdict].append(near)
        # What has other labels is replaced by a memory with those of both.
        same = [
            near
            for near in by_verdict[Verdict.EXACT]
            if united_labels(near.metadata, labels) == near.metadata
        ]
        if same:
            self.resolution.confirmations[position] = same[0].id
            return
        reworded = by_verdict[Verdict.REWORDED]
        replaced = [*by_verdict[Verdict.EXACT], *by_verdict[Verdict.NEAR], *reworded]
        for near in replaced:
            labels = united_labels(near.metadata, labels)
        self.resolution.labels[position] = dict(labels)
        # Both sides of a contradiction stay in use: which one holds is not for rules to decide.
        links = [
            MemoryLink(
                near.id, pk, LinkKind.MERGED, IN_OTHER_WORDS if near in reworded else SAYS_THE_SAME
            )
            for near in replaced
        ]
        links += [
            MemoryLink(near.id, pk, LinkKind.FORMERLY, f"another {difference(text, near.text)}")
            for near in by_verdict[Verdict.CONTRADICTS]
        ]
        self.resolution.links[position] = links
        if self.in_use:
            for near in replaced:
                self._replaced_ids.add(near.id)
                if near.id in self._position_of:
                    self._is_live[self._position_of[near.id]] = False
            self._is_live[position] = True
            self._position_of_text[self._words_and_identity(position)] = position

    def _similarity(self, text: str, near: FoundMemory) -> float:
        """The cosine; on an unknown scale no more than the common words bear out: some models give
        unrelated texts a cosine of .8."""
        if self.scale == Scale.FITTED:
            return near.score
        return min(near.score, (1 + overlap(text, near.text)) / 2)

    def _nearest(self, position: int, cosines: Vectors | None) -> list[FoundMemory]:
        """The `k` memories nearest to a content, stored ones and those of earlier contents
        together."""
        stored = self.stored_nearest[position] if self.stored_nearest else ()
        nearest = [near for near in stored if near.id not in self._replaced_ids]
        if len(stored) == self.depth and len(nearest) < self.k:
            raise TooShallow
        for earlier in self._similar_positions(position, cosines):
            cosine = 1.0 if cosines is None else float(cosines[earlier])
            pk, text = self.batch.ids[earlier], self.batch.texts[earlier]
            identity = self.batch.identities[earlier]
            near = FoundMemory(
                pk,
                text,
                score=cosine,
                speaker=identity.speaker,
                subject=identity.subject,
                metadata=self.resolution.labels[earlier],
            )
            nearest.append(near)
        return sorted(nearest, key=lambda near: -near.score)[: self.k]

    def _similar_positions(self, position: int, cosines: Vectors | None) -> list[int]:
        """Earlier contents worth comparing: near ones, and the one with the very same words and
        identity."""
        same = self._position_of_text.get(self._words_and_identity(position))
        same_text = [] if same is None or not self._is_live[same] else [same]
        if cosines is None:
            return same_text
        near = np.flatnonzero((cosines >= self._min_cosine) & self._is_live[:position])
        if len(near) > self.k:
            near = near[np.argsort(-cosines[near], kind="stable")[: self.k]]
        return list(dict.fromkeys([*near.tolist(), *same_text]))

    def _words_and_identity(self, position: int) -> tuple[str, Identity]:
        text = self.batch.texts[position]
        return fingerprint(text) or text, self.batch.identities[position]


def unit_rows(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return units
