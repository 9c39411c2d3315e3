"""A large random world: words by Zipf's law, vectors in clusters, written with COPY."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from django.db import connection, models
from numpy.typing import NDArray

from retrieval.embedders import Vectors, unit_rows

VOCABULARY, CLUSTERS, DIMS = 30_000, 200, 1024
SHORTEST, LONGEST = 120, 300
VECTORS_FILE = "BENCH_VECTORS"
WARDS = 100
"""Values of the metadata field by which one per cent is filtered."""
SYLLABLES = [
    first + second
    for first in "bdfgklmnprstvz"
    for second in ("a", "e", "i", "o", "u", "ar", "en", "il")
]


@dataclass(frozen=True)
class GeneratedPassage:
    text: str
    vector: Vectors
    ward: int


class GeneratedEmbedder:
    """An embedder that looks up the vectors generated with the questions. Another process (the web
    server) reads them from the file that `save_vectors` wrote."""

    name, dims = "made", DIMS
    vectors: ClassVar[dict[str, Vectors]] = {}

    def __init__(self, **_options: int) -> None:
        if path := os.environ.get(VECTORS_FILE):
            with np.load(path) as known:
                self.vectors.update(zip(known["texts"].tolist(), known["vectors"], strict=True))

    def embed_query(self, texts: list[str]) -> Vectors:
        return np.stack([self.vectors[text] for text in texts])

    embed_document = embed_query


def save_vectors(questions: "list[tuple[str, Vectors]]", path: Path) -> None:
    """Write the vectors of `questions` to a file. Another process finds it by the variable
    `VECTORS_FILE`."""
    np.savez(
        path,
        texts=[text for text, _vector in questions],
        vectors=[vector for _text, vector in questions],
    )


class WorldGenerator:
    """Generates the same world for the same seed."""

    def __init__(self, seed: int = 37) -> None:
        self._random = np.random.default_rng(seed)

    @property
    def words(self) -> NDArray[np.str_]:
        return self.words_of_all()

    @staticmethod
    @cache
    def words_of_all() -> NDArray[np.str_]:
        draw = np.random.default_rng(1)
        made = {
            "".join(draw.choice(SYLLABLES, size=draw.integers(2, 5)))
            for _try in range(VOCABULARY * 2)
        }
        return np.array(sorted(made)[:VOCABULARY])

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.random.default_rng(2).permutation(VOCABULARY)

    @property
    def centres(self) -> Vectors:
        return self.centres_of_all()

    @staticmethod
    @cache
    def centres_of_all() -> Vectors:
        return unit_rows(np.random.default_rng(3).normal(size=(CLUSTERS, DIMS)))

    def passages(self, count: int) -> Iterator[GeneratedPassage]:
        for number in range(count):
            text = self._sentence(int(self._random.integers(SHORTEST, LONGEST)))
            yield GeneratedPassage(
                text, self.vector_near(int(self._random.integers(CLUSTERS))), number % WARDS
            )

    def vector_near(self, cluster: int) -> Vectors:
        noise = self._random.normal(size=DIMS) / np.sqrt(DIMS)
        vector: Vectors = unit_rows((self.centres[cluster] + noise)[None])[0]
        return vector

    def questions(self, passages: list[GeneratedPassage]) -> Iterator[tuple[str, Vectors]]:
        """Yield questions of 4 rare and 4 common words of a passage, with a vector near its own."""
        for passage in passages:
            words = sorted(set(passage.text.split()), key=self._rank)
            sample = [
                *self._random.choice(words[len(words) // 2 :], 4),
                *self._random.choice(words[:30], 4),
            ]
            noise = self._random.normal(size=DIMS) * 0.7 / np.sqrt(DIMS)
            yield " ".join(sample), unit_rows((passage.vector + noise)[None])[0]

    def _sentence(self, length: int) -> str:
        ranks = self._random.zipf(1.15, size=length * 3)
        return " ".join(self.words[self._order[ranks[ranks <= VOCABULARY][:length] - 1]])

    def _rank(self, word: str) -> int:
        return self._ranks[word]

    @cached_property
    def _ranks(self) -> dict[str, int]:
        return {str(self.words[place]): rank for rank, place in enumerate(self._order)}


def copy_rows(model: type[models.Model], rows: Iterator[Any], batch: int = 2_000) -> int:
    """Write unsaved instances by COPY; triggers fire, signals do not."""
    fields = [field for field in model._meta.concrete_fields if field.name != "search_vector"]
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    statement = f"COPY {connection.ops.quote_name(model._meta.db_table)} ({names}) FROM STDIN"
    count = 0
    while part := list(islice(rows, batch)):
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in part:
                values = [
                    field.get_db_prep_save(field.pre_save(row, True), connection)
                    for field in fields
                ]
                copy.write_row(values)
        count += len(part)
    return count
