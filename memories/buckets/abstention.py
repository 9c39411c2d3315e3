"""Signs that the memories found answer a question: better no memory than a wrong one.

Signs are read from the memory that fits best: the cosine of its vector; the fit of the question's
words to its words (rare words count more; a word of the memory fits fully, a "dog" fits a "beagle"
by their vectors); the fit of those question words alone that it lacks, because they name the trait
asked for where the rest names the subject; the rarity of the words it lacks; and whether it lacks
the kind of thing asked for (a number, time, name, place or reason). Their weights and the threshold
are fitted per embedder on labelled questions (bench/abstention.py), in `thresholds.yaml`. With the
local embedder trees over more signs give the support (`answer_signs`); its threshold is there, too.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from memories.buckets.answer_signs import answer_model
from memories.buckets.question_fit import (
    MOST_MISSING,
    VERY_RARE,
    Candidate,
    QuestionWord,
    question_words,
    rank_by_fit,
    stems_of,
    weighted_mean,
)
from memories.similarity.question_type import asked_kinds, has_kind
from memories.vectors import Vectors
from retrieval.text import WORD_OR_NUMBER

THRESHOLDS_FILE = Path(__file__).parent / "thresholds.yaml"

WordVectors = Callable[[list[str]], Vectors]


@dataclass(frozen=True)
class Signs:
    """`cosine`: of the best memory. `fit`: of the question's words to it. `strangers`: fit of the
    words that it lacks (1 if none). `missing`: their rarity, at most `MOST_MISSING`. `lacking`: 1
    if it has nothing of the kind asked for."""

    cosine: float = 0.0
    fit: float = 0.0
    strangers: float = 0.0
    missing: float = 0.0
    lacking: float = 0.0


@dataclass(frozen=True)
class AnswerThreshold:
    """Weights of the signs in a logistic sum, and the least support for an answer. Below `lower`
    and from `upper` on the signs are sure; between, a language model is asked if there is one."""

    bias: float
    least: float
    lower: float = 0.0
    upper: float = 1.0
    cosine: float = 0.0
    fit: float = 0.0
    strangers: float = 0.0
    missing: float = 0.0
    lacking: float = 0.0

    def support(self, signs: Signs) -> float:
        """Return 1 / (1 + e^−(bias + Σ weight · sign)), from 0 to 1."""
        total = sum(getattr(self, name) * value for name, value in asdict(signs).items())
        return 1 / (1 + exp(-(self.bias + total)))

    def is_unclear(self, support: float) -> bool:
        return self.lower <= support < self.upper


@cache
def thresholds() -> dict[str, AnswerThreshold]:
    """Return the thresholds by embedder; "any" is by words alone."""
    data: dict[str, dict[str, Any]] = yaml.safe_load(THRESHOLDS_FILE.read_text(encoding="utf-8"))
    return {name: AnswerThreshold(**values) for name, values in data.items()}


def support_of(
    question: str, candidates: Sequence[Candidate], *, embedder: str, words: WordVectors
) -> tuple[float, AnswerThreshold]:
    """Return the support of an answer (0–1) and the threshold it is compared with."""
    threshold = thresholds().get(embedder)
    if threshold and any(candidate.cosine is not None for candidate in candidates):
        model = answer_model()
        if embedder in model.embedders:
            return model.support(question, candidates), threshold
        return threshold.support(signs(question, candidates, words)), threshold
    # Vectors are ignored where no weights were fitted for the embedder, and while it is down.
    by_words = thresholds()["any"]
    texts = [Candidate(candidate.text, None) for candidate in candidates]
    return by_words.support(signs(question, texts)), by_words


def signs(
    question: str, candidates: Sequence[Candidate], embed_words: WordVectors | None = None
) -> Signs:
    """Return the signs of the best candidate. `embed_words` makes vectors of single words."""
    if not candidates:
        return Signs()
    stems = [stems_of(candidate.text) for candidate in candidates]
    words = question_words(question, candidates, stems)
    position = rank_by_fit(words, candidates, stems)[0]
    best, best_stems = candidates[position], stems[position]
    absent = [word for word in words if not word.is_in(best_stems)]
    fits = _absent_word_fits(absent, best.text, embed_words)
    return Signs(
        cosine=best.cosine or 0.0,
        fit=weighted_mean(
            [fits.get(word.text, 1.0) for word in words], [word.rarity for word in words]
        ),
        strangers=sum(fits.values()) / len(fits) if fits else 1.0,
        missing=min(sum(word.rarity for word in absent) / VERY_RARE, MOST_MISSING),
        lacking=float(
            any(not has_kind(best.text, kind, to=question) for kind in asked_kinds(question))
        ),
    )


def _absent_word_fits(
    absent: Sequence[QuestionWord], text: str, embed_words: WordVectors | None
) -> dict[str, float]:
    """Return by word its greatest cosine to a word of `text` (0–1); 0 without vectors."""
    words, own = [word.text for word in absent], list(dict.fromkeys(WORD_OR_NUMBER.findall(text)))
    if not embed_words or not words or not own:
        return dict.fromkeys(words, 0.0)
    rows = embed_words([*words, *own])
    cosines = rows[: len(words)] @ rows[len(words) :].T
    return dict(zip(words, map(float, np.clip(cosines.max(axis=1), 0, 1)), strict=True))
