"""A model of question intents, fitted to labelled questions (`intent_examples.jsonl`, three
languages).

Kernel ridge regression on one-against-the-rest targets, in closed form: a new question scores for
each intent by its similarity to the known questions, in vectors, character n-grams (endings, Korean
syllables decomposed) and words. It is fitted once per process and embedder in a fraction of a
second, so no weights are shipped and any embedder works. Without vectors, n-grams and words decide
less accurately in the same way.
"""

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from memories.vectors import Vectors
from retrieval.text import has_hangul

EXAMPLES_FILE = Path(__file__).parent / "intent_examples.jsonl"
# The intent of a question shows in its first few hundred characters.
MAX_CHARACTERS = 400
TOKEN = re.compile(r"\w+|[^\w\s]")
DIGITS = re.compile(r"\d+")
NGRAM_SIZES = range(2, 6)
# Half of the features occur in one example only and say nothing about the next question.
MIN_EXAMPLES = 2
# Width of the vector kernel, weights of the other two kernels, and the ridge: the best where one
# author's questions were held out (`python -m bench.agent_memory`); the optimum is flat.
GAMMA, NGRAM_WEIGHT, WORD_WEIGHT, RIDGE = 1.0, 0.5, 0.2, 0.3

Counts = Counter[str]
Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class IntentExamples:
    """Questions and the intent of each."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]

    def with_examples(self, more: Mapping[str, Iterable[str]]) -> "IntentExamples":
        """Return these and `more` questions by label; a new label needs about ten questions."""
        extra = [(text, label) for label, texts in more.items() for text in texts]
        return IntentExamples(
            (*self.texts, *(text for text, _ in extra)),
            (*self.labels, *(label for _, label in extra)),
        )


@cache
def load_examples() -> IntentExamples:
    rows = [json.loads(line) for line in EXAMPLES_FILE.read_text(encoding="utf-8").splitlines()]
    return IntentExamples(tuple(row["text"] for row in rows), tuple(row["intent"] for row in rows))


class TfIdf:
    """Sublinear tf-idf weights of the features that occur in at least `MIN_EXAMPLES` texts."""

    def __init__(self, counts: list[Counts]) -> None:
        frequency = Counter(feature for one in counts for feature in one)
        common = {feature: n for feature, n in frequency.items() if n >= MIN_EXAMPLES}
        self.columns = {feature: column for column, feature in enumerate(common)}
        self.idf = np.array(
            [1 + math.log((1 + len(counts)) / (1 + n)) for n in common.values()], dtype=np.float32
        )

    def row(self, counts: Counts) -> tuple[NDArray[np.intp], Matrix]:
        """Return columns and their weights, a vector of unit length."""
        pairs = [(self.columns[one], n) for one, n in counts.items() if one in self.columns]
        columns = np.array([column for column, _ in pairs], dtype=np.intp)
        tf = 1 + np.log(np.array([n for _, n in pairs], dtype=np.float32))
        weights = tf * self.idf[columns]
        return columns, weights / (np.linalg.norm(weights) or 1.0)

    def matrix(self, counts: list[Counts]) -> Any:
        """Return a sparse matrix of shape (texts, features)."""
        rows = [self.row(one) for one in counts]
        starts = np.cumsum([0, *(len(columns) for columns, _ in rows)])
        columns = np.concatenate([columns for columns, _ in rows])
        weights = np.concatenate([weights for _, weights in rows])
        return csr_matrix((weights, columns, starts), shape=(len(rows), len(self.idf)))


class IntentModel:
    """A kernel ridge regression fitted to `examples` with their `vectors` (None: without)."""

    def __init__(self, examples: IntentExamples, vectors: Vectors | None) -> None:
        self.labels = tuple(dict.fromkeys(examples.labels))
        ngrams, words = zip(*map(features, examples.texts), strict=True)
        self._tfidf = TfIdf(list(ngrams)), TfIdf(list(words))
        tables = self._tfidf[0].matrix(list(ngrams)), self._tfidf[1].matrix(list(words))
        kernel = (
            NGRAM_WEIGHT * (tables[0] @ tables[0].T).toarray()
            + WORD_WEIGHT * (tables[1] @ tables[1].T).toarray()
        )
        kernel += 0.0 if vectors is None else rbf_kernel(vectors @ vectors.T)
        targets = np.array(
            [[label == one for one in self.labels] for label in examples.labels], dtype=np.float32
        )
        # By regressing on the deviation from the mean, an unknown question scores the label shares.
        self._mean = targets.mean(axis=0)
        dual = np.linalg.solve(kernel + RIDGE * np.eye(len(kernel)), targets - self._mean)
        self._dual = dual.astype(np.float32)
        self._vectors = vectors
        # In primal form the linear kernels cost a question's features, not all examples.
        self._primal = (
            NGRAM_WEIGHT * (tables[0].T @ self._dual),
            WORD_WEIGHT * (tables[1].T @ self._dual),
        )

    def scores(self, question: str, vector: Vectors | None = None) -> dict[str, float]:
        """Return by label about 1 where it fits and about 0 where it does not."""
        scores = self._mean.copy()
        for tfidf, primal, counts in zip(
            self._tfidf, self._primal, features(question), strict=True
        ):
            columns, weights = tfidf.row(counts)
            scores += weights @ primal[columns]
        if self._vectors is not None and vector is not None:
            scores += rbf_kernel(self._vectors @ vector) @ self._dual
        return dict(zip(self.labels, map(float, scores), strict=True))


@lru_cache(maxsize=2)
def model_without_vectors(examples: IntentExamples) -> IntentModel:
    return IntentModel(examples, None)


def rbf_kernel(cosines: Matrix) -> Matrix:
    """exp(−γ‖a − b‖²) of unit vectors, by their cosines: distant examples have no influence,
    however many they are."""
    return np.exp(-GAMMA * (2 - 2 * cosines))  # type: ignore[no-any-return]


def features(text: str) -> tuple[Counts, Counts]:
    """Count character n-grams, and words with word pairs and the marked first and last word. All
    numbers count as one."""
    tokens = TOKEN.findall(DIGITS.sub("0", text[:MAX_CHARACTERS].lower().replace("ё", "е")))
    if not tokens:
        return Counter(), Counter()
    pairs = map(" ".join, pairwise(["<", *tokens, ">"]))
    words = Counter([*tokens, *pairs, f"< {tokens[0]}", f"{tokens[-1]} >"])
    return Counter(ngram for token in tokens for ngram in _ngrams_of(token)), words


def _ngrams_of(token: str) -> Iterable[str]:
    # NFD takes Korean syllables apart, so that endings share letters across stems.
    letters = f" {unicodedata.normalize('NFD', token) if has_hangul(token) else token} "
    return (
        letters[at : at + size] for size in NGRAM_SIZES for at in range(len(letters) - size + 1)
    )
