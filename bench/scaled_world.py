"""Passages by the million: words by Zipf's law, vectors around those of real texts.

A generated vector is a real one moved towards and away from many of its real neighbours, so that
the spread in each direction is that of text: what an index finds among them it finds among real
ones (docs/scaling.md compares them). Passages come in parts of `PART`; each part is generated
alone, equal for equal numbers.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from bench.generated_world import SYLLABLES, GeneratedEmbedder
from bench.passage_counts import PART
from retrieval.embedders import Vectors, unit_rows

VOCABULARY, EXPONENT = 200_000, 1.1
SHORTEST, LONGEST = 120, 300
PASSAGES_PER_ENTRY = 4
NEIGHBOURS, MOVES = 100, 20
"""Each vector is moved along this many directions to neighbours of the real one. With two, as many
vectors as in a large world lie in separate clusters, which text does not."""
BLOCK = 500
"""Vectors generated at once: more take too much memory."""
COMMON = 30
"""The most frequent words are in nearly every passage, as function words are."""
QUESTION_COSINE = 0.65
"""Of a question and the passage that it was made of, as of real questions and their answers."""


class ScaledEmbedder(GeneratedEmbedder):
    """Looks up the vectors that were generated with the questions."""

    name, dims = "scaled", 1280
    vectors: ClassVar[dict[str, Vectors]] = {}


@dataclass(frozen=True)
class Part:
    """`PART` passages: their ids, the places of their words in the lexicon, their vectors."""

    ids: list[UUID]
    words: list[NDArray[np.int64]]
    vectors: NDArray[np.float16]


@dataclass(frozen=True)
class ScaledQuestion:
    kind: str
    text: str
    vector: Vectors


class ScaledWorld:
    def __init__(self, real_vectors: Vectors) -> None:
        self.real_vectors = real_vectors

    @cached_property
    def lexicon(self) -> NDArray[np.str_]:
        """Different words in the order of their frequency."""
        draw = np.random.default_rng(1)
        syllables = np.array(SYLLABLES)
        made: dict[str, None] = {}
        while len(made) < VOCABULARY:
            for count in draw.integers(2, 6, size=VOCABULARY):
                made["".join(syllables[draw.integers(len(syllables), size=count)])] = None
        return np.array(list(made)[:VOCABULARY])

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        """The cumulated share of each word of the lexicon in all text."""
        shares = 1 / np.arange(1, VOCABULARY + 1) ** EXPONENT
        total: NDArray[np.float64] = np.cumsum(shares) / shares.sum()
        return total

    @cached_property
    def _neighbours(self) -> NDArray[np.int64]:
        """For each real vector the places of the nearest ones."""
        cosines = self.real_vectors @ self.real_vectors.T
        return np.argpartition(-cosines, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]

    def part(self, number: int) -> Part:
        random = np.random.default_rng([37, number])
        lengths = random.integers(SHORTEST, LONGEST, size=PART)
        places = np.searchsorted(self._shares, random.random(int(lengths.sum())))
        words = np.split(places, np.cumsum(lengths)[:-1])
        ids = [passage_id(number * PART + place) for place in range(PART)]
        return Part(ids, words, self.vectors(random, PART).astype(np.float16))

    def vectors(self, random: np.random.Generator, count: int) -> Vectors:
        """Return `count` unit vectors: each is a real one, smoothed by the differences to its
        neighbours."""
        blocks = [self._vectors(random, min(BLOCK, count - n)) for n in range(0, count, BLOCK)]
        return np.concatenate(blocks)

    def _vectors(self, random: np.random.Generator, count: int) -> Vectors:
        centres = random.integers(len(self.real_vectors), size=count)
        near = self._neighbours[centres[:, None], random.integers(NEIGHBOURS, size=(count, MOVES))]
        steps = random.normal(size=(count, 1, MOVES)).astype(np.float32) / np.sqrt(MOVES)
        differences = self.real_vectors[near] - self.real_vectors[centres][:, None]
        return unit_rows(self.real_vectors[centres] + (steps @ differences)[:, 0])

    def question_vector(self, random: np.random.Generator, answer: Vectors) -> Vectors:
        """Return the vector of a question that a passage with the vector `answer` answers. It
        differs from it as the texts around it do, and in ways that no text does."""
        centre = int(np.argmax(self.real_vectors @ answer.astype(np.float32)))
        near = self._neighbours[centre, random.integers(NEIGHBOURS, size=MOVES)]
        differences = self.real_vectors[near] - self.real_vectors[centre]
        around = random.normal(size=MOVES).astype(np.float32) @ differences
        anywhere = random.normal(size=len(answer)).astype(np.float32)
        noise = unit_rows(unit_rows(np.stack([around, anywhere])).sum(axis=0, keepdims=True))[0]
        share = np.sqrt(1 - QUESTION_COSINE**2)
        question = QUESTION_COSINE * answer.astype(np.float32) + share * noise
        vector: Vectors = unit_rows(question[None])[0]
        return vector

    def text(self, words: NDArray[np.int64]) -> str:
        return " ".join(self.lexicon[words].tolist())

    def questions(self, passage_count: int, count: int) -> Iterator[ScaledQuestion]:
        """Yield questions of four kinds about passages from all parts."""
        random = np.random.default_rng(4)
        part_count = passage_count // PART
        for number in range(count):
            place = number * part_count // count
            if number * part_count % count < part_count:
                part = self.part(place)
            chosen = int(random.integers(PART))
            kind, words = question_words(random, part.words[chosen])
            vector = self.question_vector(random, part.vectors[chosen])
            yield ScaledQuestion(kind, self.text(words), vector)


def question_words(
    random: np.random.Generator, words: NDArray[np.int64]
) -> tuple[str, NDArray[np.int64]]:
    """Return the kind of a question about a passage, and its words: mostly some content words among
    common ones, sometimes one word alone, common words alone, or a whole sentence."""
    content = np.unique(words[words >= COMMON])
    common = np.unique(words[words < COMMON])
    draw = random.random()
    if draw < 0.7:
        return "usual", np.concatenate([random.choice(content, 3), random.choice(common, 4)])
    if draw < 0.8:
        return "one word", random.choice(content, 1)
    if draw < 0.9:
        return "common words", random.choice(words[words < 10 * COMMON], 5)
    return "long", words[:40]


def passage_id(number: int) -> UUID:
    """Ids grow with the number, as those of UUIDv7 grow with time."""
    return UUID(int=(0x0193 << 112) | (0x7 << 76) | (0x2 << 62) | number)


def load_real_vectors(path: Path) -> Vectors:
    """Return the vectors of the rules, computed by the local embedder once and kept in `path`."""
    if not path.exists():
        # In a process of its own, which has another embedder.
        command = [sys.executable, "-m", "bench.real_vectors", str(path)]
        others = {name: value for name, value in os.environ.items() if name != "EMBEDDER"}
        subprocess.run(command, env=others, check=True)
    vectors: Vectors = np.load(path)
    return vectors
