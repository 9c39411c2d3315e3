"""Whether a newer memory took the place of an older one, as far as a question goes: "Where is the
smith?", "He works behind the temple", "He hammers down at the ford since the temple threw him out".

Texts that share no words need more than a comparison of words. Gradient-boosted trees over signs
of the question and both memories (`signs_of_update`) give a probability. They are fitted by
`bench.updates` to our own statements in three languages, for one embedder, and stored as plain
numbers.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from memories.similarity.comparable_text import (
    ComparableText,
    is_inflection,
    parse_text,
    spelling_match,
)
from memories.similarity.compare import difference, overlap
from memories.similarity.question_type import (
    asked_kinds,
    content_words,
    has_kind,
    is_same_word,
    stem,
)
from memories.similarity.trees import BoostedTrees
from memories.text_caches import text_cache
from retrieval.embedders import Vectors, unit_parts

MODEL_FILE = Path(__file__).parent / "updates.json"
CHANGES_FILE = Path(__file__).parent / "changes.yaml"
MULTILINGUAL = (1, 2)
"""Of the parts of a vector those of the models that read every text."""
TURNED_ROUND = frozenset({"order", "role", "relation", "opposite", "parts", "clauses", "possessor"})
"""Differences of two statements that share their words."""


@dataclass(frozen=True)
class StatedText:
    """A text with its vector (dims,) and the vector's parts, each of length 1."""

    text: str
    vector: Vectors
    parts: tuple[Vectors, ...]

    @classmethod
    def of(cls, text: str, vector: Vectors) -> "StatedText":
        return cls(text, vector, unit_parts(vector))


@dataclass(frozen=True)
class ComparedTexts:
    """A question and the memories found for it. What one of them answers is judged beside the
    others: an update of the answer is nearer to it, and to the question, than they are."""

    question: StatedText
    texts: Sequence[StatedText]

    @cached_property
    def relevance(self) -> Vectors:
        return np.array([text.vector for text in self.texts]) @ self.question.vector

    @cached_property
    def cosines_of_texts(self) -> Vectors:
        vectors = np.array([text.vector for text in self.texts])
        between: Vectors = vectors @ vectors.T
        return between

    @cached_property
    def multilingual_relevance(self) -> Vectors:
        """By the parts that every text has."""
        parts = [np.array([text.parts[part] for text in self.texts]) for part in MULTILINGUAL]
        of_question = [self.question.parts[part] for part in MULTILINGUAL]
        cosines = [rows @ row for rows, row in zip(parts, of_question, strict=True)]
        return np.mean(cosines, axis=0)  # type: ignore[no-any-return]

    @cached_property
    def multilingual_cosines(self) -> Vectors:
        parts = [np.array([text.parts[part] for text in self.texts]) for part in MULTILINGUAL]
        return np.mean([rows @ rows.T for rows in parts], axis=0)  # type: ignore[no-any-return]


def signs_of_update(compared: ComparedTexts, older: int, newer: int) -> list[float]:
    """Return the signs that the trees read, of two of the texts by their positions."""
    one, two = compared.texts[older], compared.texts[newer]
    return [
        *signs_of_pair(one, two),
        *signs_of_answers(compared.question, one, two, best=float(compared.relevance.max())),
        *signs_beside_others(compared, older, newer),
    ]


def signs_beside_others(compared: ComparedTexts, older: int, newer: int) -> list[float]:
    """How far the two stand out: by how much each is nearer to the question, and both to one
    another, than the best of the others is, and how many of them are nearer."""
    others = [at for at in range(len(compared.texts)) if at not in (older, newer)]
    between = compared.cosines_of_texts
    signs = [
        (float(between[older, newer]) + float(compared.relevance[[older, newer]].sum())) / 3,
    ]
    for relevance in (compared.relevance, compared.multilingual_relevance):
        signs += [lead(relevance, at, others) for at in (older, newer)]
        signs += [int((relevance > relevance[at]).sum()) for at in (older, newer)]
    for matrix in (between, compared.multilingual_cosines):
        signs += [lead(matrix[older], newer, others), lead(matrix[newer], older, others)]
    signs += [sum(between[older, at] > between[older, newer] for at in others)]
    signs += [sum(between[newer, at] > between[older, newer] for at in others)]
    return signs


def lead(values: Vectors, at: int, others: Sequence[int]) -> float:
    """Return how much the value at a position exceeds the highest of the others; 0 for none."""
    return float(values[at] - values[list(others)].max()) if others else 0.0


def signs_of_pair(older: StatedText, newer: StatedText) -> list[float]:
    one, two = parse_text(older.text), parse_text(newer.text)
    left_one, left_two = words_left(one, two), words_left(two, one)
    shared, most = shared_names(one, two)
    differs_in = difference(older.text, newer.text)
    lengths = sorted((len(older.text), len(newer.text)))
    return [
        *cosines(older, newer),
        float(older.vector @ newer.vector),
        overlap(older.text, newer.text),
        left_one,
        left_two,
        min(left_one, left_two),
        shared,
        most - shared,
        speaks_of_change(newer.text),
        speaks_of_change(older.text),
        one.numbers != two.numbers,
        one.is_negated != two.is_negated,
        one.has_negation != two.has_negation,
        bool(differs_in),
        differs_in == "detail",
        differs_in in TURNED_ROUND,
        lengths[0] / max(lengths[1], 1),
    ]


def signs_of_answers(
    question: StatedText, older: StatedText, newer: StatedText, *, best: float
) -> list[float]:
    """How well each answers, and what of the question both name: their subject."""
    first, second = (float(question.vector @ answer.vector) for answer in (older, newer))
    kinds = asked_kinds(question.text)
    words, one, two = (word_stems(each.text) for each in (question, older, newer))
    in_one = [word for word in words if has_word(one, word)]
    in_two = [word for word in words if has_word(two, word)]
    in_both = [word for word in in_one if word in in_two]
    count = max(len(words), 1)
    return [
        first,
        second,
        min(first, second),
        first - second,
        *cosines(question, older)[1:],
        *cosines(question, newer)[1:],
        any(has_kind(older.text, kind, to=question.text) for kind in kinds),
        any(has_kind(newer.text, kind, to=question.text) for kind in kinds),
        len(kinds),
        len(in_one) / count,
        len(in_two) / count,
        len(in_both),
        len(in_both) / count,
        first / best,
        second / best,
    ]


def cosines(one: StatedText, other: StatedText) -> list[float]:
    return [float(mine @ yours) for mine, yours in zip(one.parts, other.parts, strict=True)]


def words_left(one: ComparableText, other: ComparableText) -> int:
    """Return how many words of `one` have no counterpart in `other`."""
    return sum(not spelling_match(word, other.words) for word in one.words)


def shared_names(one: ComparableText, two: ComparableText) -> tuple[int, int]:
    """Return how many names both have, and how many the one with more has. What begins a sentence
    in one text is a name if it is one in the other."""
    names = {*one.names, *(word for word in one.stems if word in two.names)}
    others = {*two.names, *(word for word in two.stems if word in one.names)}
    shared = sum(
        any(name == word or is_inflection(name, word) for word in two.stems) for name in names
    )
    return shared, max(len(names), len(others))


@text_cache(maxsize=16_384)
def word_stems(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in content_words(text))


def has_word(stems: Sequence[str], word: str) -> bool:
    return any(is_same_word(word, other) for other in stems)


@cache
def change_pattern() -> re.Pattern[str]:
    patterns: dict[str, str] = yaml.safe_load(CHANGES_FILE.read_text(encoding="utf-8"))
    return re.compile("|".join(patterns.values()), re.IGNORECASE | re.VERBOSE)


def speaks_of_change(text: str) -> bool:
    return bool(change_pattern().search(text))


@dataclass(frozen=True)
class UpdateModel:
    """The trees, the embedder that they were fitted for, and the probability from which a memory is
    shown as possibly outdated."""

    embedder: str
    least: float
    trees: BoostedTrees

    @classmethod
    def of(cls, data: dict[str, Any]) -> "UpdateModel":
        return cls(data["embedder"], data["least"], BoostedTrees.of(data))

    def probabilities(self, rows: Sequence[Sequence[float]]) -> NDArray[np.float64]:
        """Return for each row of signs the probability of an update, 0 to 1."""
        return self.trees.probabilities(rows)


@cache
def update_model() -> UpdateModel:
    return UpdateModel.of(json.loads(MODEL_FILE.read_text(encoding="utf-8")))
