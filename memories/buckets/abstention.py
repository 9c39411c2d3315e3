"""Whether what was found answers the question at all: better no memory than a wrong one.

Signs of it, read from the memory that fits best: how near its vector lies; how well the question's words fit its words
(the rare ones counting more; a word that stands in it fits fully, a "dog" fits a "beagle" by their vectors); the same
of those words alone that do not stand in it, for these are the trait that is asked for where the rest names the
subject; how much rarity is missing; and whether it lacks the kind of thing that is asked for (a number, a time, a name,
a place, a reason). Their weights and the threshold are fitted per embedder on labelled questions
(bench/agent_memory.py) and stand in `thresholds.yaml`.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from memories.buckets.question_type import asked_kinds, content_words, has_kind, is_same_word, stem
from memories.similarity.compare import WORD
from memories.vectors import Vectors

THRESHOLDS_FILE = Path(__file__).parent / "thresholds.yaml"
WORDS_COUNT = 0.3
"""What the share of the question's words in a memory adds to its cosine, where the best memory is looked for."""
VERY_RARE = 6.0
"""Rarity of about one word that nothing remembered holds, among hundreds of memories."""

WordVectors = Callable[[list[str]], Vectors]


@dataclass(frozen=True)
class Candidate:
    """What a found memory offers as a sign: its text, and its cosine to the question (None without vectors)."""

    text: str
    cosine: float | None


@dataclass(frozen=True)
class Signs:
    """`cosine`: how near the best memory lies. `fit`: how well the question's words fit it. `strangers`: how well those
    that do not stand in it fit (1 if all do). `missing`: how much rarity these have. `lacking`: whether it has nothing
    of the kind that is asked for."""

    cosine: float = 0.0
    fit: float = 0.0
    strangers: float = 0.0
    missing: float = 0.0
    lacking: float = 0.0


@dataclass(frozen=True)
class AnswerThreshold:
    """Weights of the signs in a logistic sum, and the least support from which an answer is given. Below `lower` and
    from `upper` on the signs are sure; between, whoever has a language model asks it (`checking`)."""

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
        """From 0 to 1."""
        weighed = sum(getattr(self, name) * value for name, value in asdict(signs).items())
        return 1 / (1 + exp(-(self.bias + weighed)))

    def is_unclear(self, support: float) -> bool:
        return self.lower <= support < self.upper


@dataclass(frozen=True)
class Wanted:
    """A word of the question: its rarity among what was found, and the stems there that are forms of it."""

    text: str
    rarity: float
    forms: frozenset[str]


@dataclass(frozen=True)
class Asked:
    """A word of the question, and whether it stands in the memory looked at."""

    text: str
    rarity: float
    stands: bool


def signs(question: str, found: Sequence[Candidate], words: WordVectors | None = None) -> Signs:
    """Signs of the best among all that were found. `words` makes vectors of single words, if it may."""
    if not found:
        return Signs()
    stems = [_stems(seen.text) for seen in found]
    wanted = _wanted(content_words(question), stems)
    place = _order(wanted, found, stems)[0]
    best, there = found[place], stems[place]
    asked = [Asked(word.text, word.rarity, not word.forms.isdisjoint(there)) for word in wanted]
    fits = _fits(asked, best.text, words)
    strange = [fit for word, fit in zip(asked, fits, strict=True) if not word.stands]
    return Signs(
        cosine=best.cosine or 0.0,
        fit=_mean(fits, [word.rarity for word in asked]),
        strangers=_mean(strange, [1.0] * len(strange)) if strange else 1.0,
        missing=sum(word.rarity for word in asked if not word.stands) / VERY_RARE,
        lacking=float(
            any(not has_kind(best.text, kind, to=question) for kind in asked_kinds(question))
        ),
    )


def rank_candidates(question: str, found: Sequence[Candidate]) -> list[int]:
    """Places of what was found, what fits the question best first: the first is the one whose signs are read."""
    stems = [_stems(seen.text) for seen in found]
    return _order(_wanted(content_words(question), stems), found, stems)


@cache
def thresholds() -> dict[str, AnswerThreshold]:
    data: dict[str, dict[str, Any]] = yaml.safe_load(THRESHOLDS_FILE.read_text(encoding="utf-8"))
    return {name: AnswerThreshold(**values) for name, values in data.items()}


def support_of(
    question: str, found: Sequence[Candidate], *, embedder: str, words: WordVectors
) -> tuple[float, AnswerThreshold]:
    """Return the support and what it is to be compared with. Vectors take part where they were fitted for the embedder
    and there are some (it was not down); else words alone are trusted."""
    fitted = thresholds().get(embedder)
    if fitted and any(seen.cosine is not None for seen in found):
        return fitted.support(signs(question, found, words)), fitted
    bare = thresholds()["any"]
    return bare.support(signs(question, [Candidate(seen.text, None) for seen in found])), bare


def _order(
    wanted: Sequence[Wanted], found: Sequence[Candidate], stems: Sequence[frozenset[str]]
) -> list[int]:
    coverage = [_coverage(wanted, there) for there in stems]
    nearness = [
        (seen.cosine or 0.0) + WORDS_COUNT * share
        for seen, share in zip(found, coverage, strict=True)
    ]
    return sorted(range(len(found)), key=nearness.__getitem__, reverse=True)


def _wanted(words: Sequence[str], stems: Sequence[frozenset[str]]) -> list[Wanted]:
    counted = Counter(one for there in stems for one in there)
    found = []
    for word in words:
        root = stem(word)
        forms = frozenset(one for one in counted if is_same_word(root, one))
        times = max((counted[one] for one in forms), default=0)
        found.append(Wanted(word, log(1 + (len(stems) + 1) / (1 + times)), forms))
    return found


def _coverage(wanted: Sequence[Wanted], there: frozenset[str]) -> float:
    """The share of the question's words, weighted by rarity, that stand there."""
    whole = sum(word.rarity for word in wanted)
    return (
        sum(word.rarity for word in wanted if not word.forms.isdisjoint(there)) / whole
        if whole
        else 0.0
    )


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in content_words(text))


def _fits(asked: Sequence[Asked], text: str, words: WordVectors | None) -> list[float]:
    """Of each word the cosine to the word of `text` nearest to it; 1 if it stands there, 0 without vectors."""
    told = list(dict.fromkeys(WORD.findall(text)))
    strange = [word.text for word in asked if not word.stands]
    if not words or not strange or not told:
        return [float(word.stands) for word in asked]
    rows = words([*strange, *told])
    nearest = np.clip((rows[: len(strange)] @ rows[len(strange) :].T).max(axis=1), 0, 1)
    by_word = dict(zip(strange, map(float, nearest), strict=True))
    return [by_word.get(word.text, 1.0) for word in asked]


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    whole = sum(weights)
    return (
        sum(value * weight for value, weight in zip(values, weights, strict=True)) / whole
        if whole
        else 0.0
    )
