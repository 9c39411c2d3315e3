"""Signs that a memory answers a question, for the local embedder, and trees that weigh them.

Many signs of one question, each weak: how far the best memory stands out by its vector and by the
words of the question, the rarity of the words that it lacks, and whether other memories have them,
how near single words are to its words, and whether it has the kind of thing asked for.
`bench.abstention` fits boosted trees to them that respect `RISING` and `FALLING`: a memory that has
more of the question never has less support for it. Nothing is read of the question alone but the
kind of thing that it asks for: trees learn from its length and form how an author words what has no
answer. Beside them, a model reads the question with each of the nearest memories
(`signs_together`); a logistic sum of both gives the support.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memories.buckets.question_fit import (
    COVERAGE_WEIGHT,
    MOST_MISSING,
    VERY_RARE,
    Candidate,
    QuestionWord,
    question_words,
    rank_by_fit,
    stems_of,
)
from memories.similarity.comparable_text import normalize_spelling, parse_text
from memories.similarity.pairs import LogisticSum, has_pair_model, logit, read_together
from memories.similarity.question_type import (
    NAME,
    asked_kinds,
    content_words,
    has_kind,
    is_same_word,
    stem,
)
from memories.similarity.same_statement import USER
from memories.similarity.trees import BoostedTrees
from memories.text_caches import text_cache
from memories.vectors import Vectors
from retrieval.embedders import embed_universal
from retrieval.text import WORD_OR_NUMBER, has_hangul, is_cyrillic

MODEL_FILE = Path(__file__).parent / "answer_signs.json"
KINDS = ("number", "time", "name", "place", "reason")
FEW = 3
"""The best memories, of which one may hold what the best one lacks."""
READ = 8
"""Memories that are read together with the question."""
USER_WORD = re.compile(rf"(?:{USER.pattern})\w*", re.IGNORECASE)
BY_PAIRS_ALONE = LogisticSum(-1.5, {"best": 1.0})
"""For a question without words of its own, such as *What is my name?*, which all signs of words
take for one that nothing answers. A round number: no such question is in the sets of the fit."""
RISING = frozenset(
    [
        *("cosine", "first", "second", "gap_second", "gap_third", "gap_tenth", "gap_mean"),
        *("cosine_z", "fit", "fit_gap", "fit_z", "is_nearest", "covers_most", "coverage"),
        *("most_coverage", "coverage_of_few", "coverage_of_all", "has_rarest", "word_fit"),
        *("least_word", "second_least_word", "absent_fit", "trait_fit", "few_have_kind"),
        *(f"has_{kind}" for kind in KINDS),
    ]
)
FALLING = frozenset(
    [
        *("absent", "absent_in_all", "missing", "elsewhere", "absent_elsewhere"),
        *("names_absent", "rarest_absent", "lacking"),
    ]
)


def signs_of_answer(question: str, candidates: Sequence[Candidate]) -> dict[str, float]:
    """Return the signs that the trees read, by name; none without candidates."""
    if not candidates:
        return {}
    cosines = np.array([candidate.cosine or 0.0 for candidate in candidates])
    stems = [stems_of(candidate.text) for candidate in candidates]
    words = question_words(question, candidates, stems)
    few = rank_by_fit(words, candidates, stems)[:FEW]
    best = few[0]
    text = candidates[best].text
    has_word = np.array([[word.is_in(own) for word in words] for own in stems], dtype=float)
    # A question of no content words has no columns.
    has_word = has_word.reshape(len(stems), len(words))
    return {
        **signs_of_cosines(cosines, best),
        **signs_of_coverage(words, has_word, cosines, few),
        **signs_of_names(question, stems[best]),
        **signs_of_single_words(words, has_word[best], text),
        **signs_of_kinds(question, text, [candidates[place].text for place in few]),
        **signs_of_form(question, text, words, stems[best]),
    }


def signs_of_cosines(cosines: NDArray[np.float64], best: int) -> dict[str, float]:
    ordered = np.sort(cosines)[::-1]
    last = len(ordered) - 1
    return {
        "cosine": cosines[best],
        "first": ordered[0],
        "second": ordered[1] if last else 0.0,
        "gap_second": ordered[0] - (ordered[1] if last else 0.0),
        "gap_third": ordered[0] - ordered[min(2, last)],
        "gap_tenth": ordered[0] - ordered[min(9, last)],
        "gap_mean": ordered[0] - ordered.mean(),
        "cosine_z": (cosines[best] - ordered.mean()) / (ordered.std() or 1.0),
        "is_nearest": float(np.argmax(cosines) == best),
    }


def signs_of_coverage(
    words: Sequence[QuestionWord],
    has_word: NDArray[np.float64],
    cosines: NDArray[np.float64],
    few: Sequence[int],
) -> dict[str, float]:
    """What of the question's words, weighted by their rarity, the best memory has, the best `few`,
    and all. `has_word`: shape (memories, words)."""
    best = few[0]
    rarity = np.array([word.rarity for word in words])
    total = float(rarity.sum()) or 1.0
    coverage = has_word @ rarity / total
    fit = cosines + COVERAGE_WEIGHT * coverage
    highest = np.sort(fit)[::-1]
    absent = has_word[best] == 0
    anywhere = has_word.any(axis=0)
    return {
        "fit": highest[0],
        "fit_gap": highest[0] - (highest[1] if len(highest) > 1 else 0.0),
        "fit_z": (highest[0] - highest.mean()) / (highest.std() or 1.0),
        "coverage": coverage[best],
        "covers_most": float(coverage[best] >= coverage.max() - 1e-9),
        "most_coverage": coverage.max(),
        "coverage_of_few": float(has_word[few].any(axis=0) @ rarity) / total,
        "coverage_of_all": float(anywhere @ rarity) / total,
        "absent": int(absent.sum()),
        "absent_in_all": int((~anywhere).sum()),
        "missing": min(float(rarity[absent].sum()) / VERY_RARE, MOST_MISSING),
        "elsewhere": float(rarity[absent & anywhere].sum()) / total,
        "absent_elsewhere": int((absent & anywhere).sum()),
        "has_rarest": float(bool(words) and has_word[best][int(np.argmax(rarity))]),
        "rarest_absent": float(rarity[absent].max()) if absent.any() else 0.0,
    }


def signs_of_names(question: str, stems: frozenset[str]) -> dict[str, float]:
    names = [stem(name) for name in NAME.findall(question)]
    absent = [name for name in names if not any(is_same_word(name, one) for one in stems)]
    return {"names_absent": len(absent)}


def signs_of_single_words(
    words: Sequence[QuestionWord], has_word: NDArray[np.float64], text: str
) -> dict[str, float]:
    """How near the nearest word of the memory is to each word of the question; 1 if it stands
    there. `trait_fit`: of what it lacks together, which is the trait asked for."""
    own = list(dict.fromkeys(WORD_OR_NUMBER.findall(text)))
    if not words or not own:
        names = ("word_fit", "least_word", "second_least_word", "absent_fit", "trait_fit")
        return dict.fromkeys(names, 0.0)
    rows = np.array([word_vector(word.text) for word in words])
    others = np.array([word_vector(word) for word in own])
    is_there = has_word > 0
    nearest = np.where(is_there, 1.0, (rows @ others.T).max(axis=1))
    rarity = np.array([word.rarity for word in words])
    ordered = np.sort(nearest)
    trait, whole = rows[~is_there].sum(axis=0), others.sum(axis=0)
    length = float(np.linalg.norm(trait) * np.linalg.norm(whole))
    return {
        "word_fit": float(nearest @ rarity / rarity.sum()),
        "least_word": ordered[0],
        "second_least_word": ordered[min(1, len(ordered) - 1)],
        "absent_fit": float(nearest[~is_there].mean()) if not is_there.all() else 1.0,
        "trait_fit": float(trait @ whole) / length if length else 1.0,
    }


@text_cache(maxsize=20_000)
def word_vector(word: str) -> Vectors:
    """Return the vector of one word by the Universal Sentence Encoder alone, in some 3 ms."""
    row: Vectors = embed_universal([normalize_spelling(word).casefold()])[0]
    return row


def signs_of_kinds(question: str, text: str, few: Sequence[str]) -> dict[str, float]:
    asked = asked_kinds(question)
    has = {kind: has_kind(text, kind, to=question) for kind in KINDS}
    return {
        "kinds": len(asked),
        **{f"asks_{kind}": float(kind in asked) for kind in KINDS},
        **{f"has_{kind}": float(has[kind]) for kind in KINDS},
        "lacking": float(any(not has[kind] for kind in asked)),
        "few_have_kind": float(
            any(all(has_kind(one, kind, to=question) for kind in asked) for one in few)
        ),
    }


def signs_of_form(
    question: str, text: str, words: Sequence[QuestionWord], stems: frozenset[str]
) -> dict[str, float]:
    roots = [stem(word.text) for word in words]
    return {
        "memory_length": len(text),
        "new_words": sum(not any(is_same_word(root, one) for root in roots) for one in stems),
        "language": 1 if is_cyrillic(question.lower()) else 2 if has_hangul(question) else 0,
        "memory_is_negated": float(parse_text(text).has_negation),
    }


def signs_together(
    question: str, candidates: Sequence[Candidate], *, by_trees: float
) -> dict[str, float]:
    """Return the signs of the logistic sum, as log odds: of the trees, and of how far the memories
    nearest to the question answer it."""
    nearest = sorted(candidates, key=lambda one: -(one.cosine or 0.0))[:READ]
    answers = [logit(read_together(question, one.text).answers) for one in nearest]
    return {"trees": logit(by_trees), "best": max(answers), "nearest": answers[0]}


def without_user(question: str, candidates: Sequence[Candidate]) -> str:
    """Return the question without *the user*, where memories say *I*: none of them lacks it."""
    if any(USER.search(candidate.text) for candidate in candidates):
        return question
    return USER_WORD.sub(" ", question)


@dataclass(frozen=True)
class AnswerModel:
    """The trees, the names of the signs in their order, and the embedders whose cosines they
    know. `together` weighs the trees and the model of pairs."""

    embedders: tuple[str, ...]
    signs: tuple[str, ...]
    trees: BoostedTrees
    together: LogisticSum

    @classmethod
    def of(cls, data: dict[str, Any]) -> "AnswerModel":
        together = LogisticSum(**data["together"])
        return cls(tuple(data["embedders"]), tuple(data["signs"]), BoostedTrees.of(data), together)

    def by_trees(self, signs: dict[str, float]) -> float:
        return float(self.trees.probabilities([[signs[name] for name in self.signs]])[0])

    def support(self, question: str, candidates: Sequence[Candidate]) -> float:
        """Return the support of an answer, 0 to 1."""
        if not candidates:
            return 0.0
        words = without_user(question, candidates)
        by_trees = self.by_trees(signs_of_answer(words, candidates))
        if not has_pair_model():
            return by_trees
        signs = signs_together(question, candidates, by_trees=by_trees)
        if not content_words(words):
            return BY_PAIRS_ALONE.probability(signs)
        return self.together.probability(signs)


@cache
def answer_model() -> AnswerModel:
    return AnswerModel.of(json.loads(MODEL_FILE.read_text(encoding="utf-8")))
