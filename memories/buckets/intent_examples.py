"""What a question wants, learnt from questions whose intent is known (`intent_examples.jsonl`, three languages).

A closed form (kernel ridge regression on one-against-the-rest targets): two questions are alike by their vectors, by
their letter sequences (endings, Korean syllables taken apart) and by their words, and a new question gets of each
intent what the known ones like it have. Fitted once per process and embedder in a fraction of a second, so no weights
are shipped and any embedder will do. Without vectors letters and words decide: less well, but the same way.
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

EXAMPLES_FILE = Path(__file__).parent / "intent_examples.jsonl"
READ = 400
"""Characters of a question that are looked at: it seldom takes more to ask."""
TOKEN = re.compile(r"\w+|[^\w\s]")
DIGITS = re.compile(r"\d+")
HANGUL = re.compile(r"[가-힣]")
LETTERS_IN_ROW = range(2, 6)
SEEN_IN = 2
"""Examples a feature must stand in: half of them stand in one and tell nothing of the next question."""
BREADTH, LETTERS, WORDS, RIDGE = 1.0, 0.5, 0.2, 0.3
"""Weight of the three kinds of likeness and of the ridge: best where one author's questions were held out
(`python -m bench.agent_memory`), flat around it."""

Counts = Counter[str]
Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class IntentExamples:
    """Questions and what each of them wants."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]

    def with_examples(self, more: Mapping[str, Iterable[str]]) -> "IntentExamples":
        """Return these and `more` questions by label; new labels are welcome (ten questions of one are a beginning)."""
        added = [(text, label) for label, texts in more.items() for text in texts]
        return IntentExamples(
            (*self.texts, *(text for text, _ in added)),
            (*self.labels, *(label for _, label in added)),
        )


@cache
def load_examples() -> IntentExamples:
    rows = [json.loads(line) for line in EXAMPLES_FILE.read_text(encoding="utf-8").splitlines()]
    return IntentExamples(tuple(row["text"] for row in rows), tuple(row["intent"] for row in rows))


class TfIdf:
    """Weights of the features of a text: the rare ones count more, and one text as much as another."""

    def __init__(self, counts: list[Counts]) -> None:
        seen = Counter(feature for one in counts for feature in one)
        kept = [(feature, times) for feature, times in seen.items() if times >= SEEN_IN]
        self.number = {feature: number for number, (feature, _) in enumerate(kept)}
        self.rarity = np.array(
            [1 + math.log((1 + len(counts)) / (1 + times)) for _, times in kept], dtype=np.float32
        )

    def row(self, counts: Counts) -> tuple[NDArray[np.intp], Matrix]:
        """Return numbers of features and their weights (of unit length together)."""
        known = [
            (self.number[feature], times)
            for feature, times in counts.items()
            if feature in self.number
        ]
        numbers = np.array([number for number, _ in known], dtype=np.intp)
        weights = (
            1 + np.log(np.array([times for _, times in known], dtype=np.float32))
        ) * self.rarity[numbers]
        return numbers, weights / (np.linalg.norm(weights) or 1.0)

    def table(self, counts: list[Counts]) -> Any:
        rows = [self.row(one) for one in counts]
        starts = np.cumsum([0, *(len(numbers) for numbers, _ in rows)])
        numbers = np.concatenate([numbers for numbers, _ in rows])
        return csr_matrix(
            (np.concatenate([w for _, w in rows]), numbers, starts),
            shape=(len(rows), len(self.rarity)),
        )


class IntentModel:
    """What was learnt from `examples`, whose vectors are `vectors` (None: without)."""

    def __init__(self, examples: IntentExamples, vectors: Vectors | None) -> None:
        self.labels = tuple(dict.fromkeys(examples.labels))
        counts = [features(text) for text in examples.texts]
        self._weighing = tuple(TfIdf([one[kind] for one in counts]) for kind in (0, 1))
        tables = [self._weighing[kind].table([one[kind] for one in counts]) for kind in (0, 1)]
        self._vectors = vectors
        alike = (
            LETTERS * (tables[0] @ tables[0].T).toarray()
            + WORDS * (tables[1] @ tables[1].T).toarray()
        )
        alike += 0.0 if vectors is None else rbf_kernel(vectors @ vectors.T)
        targets = np.array(
            [[label == one for one in self.labels] for label in examples.labels], dtype=np.float32
        )
        self._usual = targets.mean(axis=0)
        self._votes = np.linalg.solve(
            alike + RIDGE * np.eye(len(alike)), targets - self._usual
        ).astype(np.float32)
        self._of_feature = (
            LETTERS * (tables[0].T @ self._votes),
            WORDS * (tables[1].T @ self._votes),
        )

    def scores(self, question: str, vector: Vectors | None = None) -> dict[str, float]:
        """Return by label near 1 what fits and near 0 what does not."""
        found = self._usual.copy()
        for weighing, votes, counts in zip(
            self._weighing, self._of_feature, features(question), strict=True
        ):
            numbers, weights = weighing.row(counts)
            found += weights @ votes[numbers]
        if self._vectors is not None and vector is not None:
            found += rbf_kernel(self._vectors @ vector) @ self._votes
        return dict(zip(self.labels, map(float, found), strict=True))


@lru_cache(maxsize=2)
def model_without_vectors(examples: IntentExamples) -> IntentModel:
    return IntentModel(examples, None)


def rbf_kernel(cosines: Matrix) -> Matrix:
    """A bell around each vector: what lies far off has no say, however much there is of it."""
    return np.exp(-BREADTH * (2 - 2 * cosines))  # type: ignore[no-any-return]


def features(text: str) -> tuple[Counts, Counts]:
    """Letter sequences, and words with their neighbours, the first and the last one marked. Numbers are all alike."""
    tokens = TOKEN.findall(DIGITS.sub("0", text[:READ].lower().replace("ё", "е")))
    if not tokens:
        return Counter(), Counter()
    bounded = ["<", *tokens, ">"]
    words = [*tokens, *map(" ".join, pairwise(bounded)), f"< {tokens[0]}", f"{tokens[-1]} >"]
    return Counter(
        sequence for token in tokens for sequence in _sequences(_letters(token))
    ), Counter(words)


def _letters(token: str) -> str:
    return f" {unicodedata.normalize('NFD', token) if HANGUL.search(token) else token} "


def _sequences(letters: str) -> Iterable[str]:
    return (
        letters[at : at + size] for size in LETTERS_IN_ROW for at in range(len(letters) - size + 1)
    )
