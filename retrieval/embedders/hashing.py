"""A deterministic embedder for tests: texts that share words have a high cosine."""

import re
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from retrieval.embedders.base import Vectors, record_embedding, unit_rows

WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Hashed words and their beginnings (so that inflections stay near), in 256 dimensions."""

    name = "hashing@256"
    dims = 256

    def __init__(self, dims: int = 0) -> None:
        """`dims` is ignored, as by every local model."""

    def embed_query(self, texts: list[str]) -> Vectors:
        return self._embed(texts, op="query")

    def embed_document(self, texts: list[str]) -> Vectors:
        return self._embed(texts, op="document")

    def probe(self) -> None:
        """It always works."""

    def _embed(self, texts: list[str], *, op: str) -> Vectors:
        with record_embedding(self.name, op=op, texts=len(texts)) as usage:
            words = [WORD.findall(text.casefold()) for text in texts]
            usage.tokens = sum(map(len, words))
            rows = [self._row(row) for row in words]
            return unit_rows(np.stack(rows) if rows else np.zeros((0, self.dims)))

    def _row(self, words: list[str]) -> Vectors:
        row = np.zeros(self.dims, dtype=np.float32)
        row[0] = 0.01  # a text without words still has a direction
        for word in words:
            for place, weight in word_features(word):
                row[place] += weight
        return row


@lru_cache(maxsize=50_000)
def word_features(word: str) -> tuple[tuple[int, float], ...]:
    """Return the columns of a word and of its prefix, each with its weight."""
    whole = 1.0 if len(word) > 3 else 0.2  # short words are mostly function words
    return _column(word, whole), _column(word[:4] + "…", whole / 2)


def _column(feature: str, weight: float) -> tuple[int, float]:
    # The highest bit chooses the sign, so that collisions cancel out on average (feature hashing).
    digest = int.from_bytes(blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest())
    return 1 + digest % (HashingEmbedder.dims - 1), weight if digest >> 63 else -weight
