"""Whether what was found answers the question at all: better no memory than a wrong one.

Two signs: how near the best memory lies (cosine), and how much of what the question is about stands in it (its content
words, the rare ones counting more). Their weights and the threshold are fitted per embedder on the tuning half of
labelled questions (bench/agent_memory.py prints the error rates) and stand in `thresholds.yaml`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, log
from pathlib import Path
from typing import Any

import yaml

from memories.likeness import meaning

FITTED = Path(__file__).parent / "thresholds.yaml"
LOOKED_AT = 3


@dataclass(frozen=True)
class Seen:
    """What a found memory offers as a sign: its text, and its cosine to the question (None without vectors)."""

    text: str
    cosine: float | None


@dataclass(frozen=True)
class Threshold:
    """Weights of the signs in a logistic sum, and the least support from which an answer is given."""

    cosine: float
    coverage: float
    lead: float
    bias: float
    least: float

    def support(self, signs: "Signs") -> float:
        """From 0 to 1."""
        return 1 / (1 + exp(-(self.bias + self.cosine * signs.cosine + self.coverage * signs.coverage
                              + self.lead * signs.lead)))  # fmt: skip


@dataclass(frozen=True)
class Signs:
    """`lead`: how far the best lies before the third."""

    cosine: float
    coverage: float
    lead: float


def signs(question: str, found: Sequence[Seen]) -> Signs:
    """Signs of the nearest memories, among all that were found."""
    nearest = sorted(found, key=lambda seen: -(seen.cosine or 0.0))
    cosines = [seen.cosine or 0.0 for seen in nearest[:LOOKED_AT]]
    counted = _document_frequency(found)
    best = max((coverage(question, seen.text, counted, len(found)) for seen in nearest[:LOOKED_AT]), default=0.0)
    return Signs(cosines[0] if cosines else 0.0, best, cosines[0] - cosines[-1] if cosines else 0.0)


def coverage(question: str, text: str, counted: dict[str, int], total: int) -> float:
    """The share of the question's content words, weighted by rarity, that stand in `text`."""
    wanted, there = meaning(question).words, meaning(text).words
    weights = {word: log(1 + (total + 1) / (1 + _count(word, counted))) for word in wanted}
    whole = sum(weights.values())
    return sum(weight for word, weight in weights.items() if _stands_in(word, there)) / whole if whole else 0.0


@cache
def thresholds() -> dict[str, Threshold]:
    data: dict[str, dict[str, Any]] = yaml.safe_load(FITTED.read_text(encoding="utf-8"))
    return {name: Threshold(**values) for name, values in data.items()}


def threshold_for(embedder: str) -> Threshold:
    """The one fitted for the embedder, else the one that trusts words alone."""
    return thresholds().get(embedder) or thresholds()["any"]


def _document_frequency(found: Sequence[Seen]) -> dict[str, int]:
    counted: dict[str, int] = {}
    for seen in found:
        for word in meaning(seen.text).words:
            counted[word] = counted.get(word, 0) + 1
    return counted


def _count(word: str, counted: dict[str, int]) -> int:
    return counted.get(word) or sum(times for other, times in counted.items() if _same_word(word, other))


def _stands_in(word: str, words: frozenset[str]) -> bool:
    return word in words or any(_same_word(word, other) for other in words)


def _same_word(one: str, other: str) -> bool:
    """Forms of a word: the same beginning and short endings (a letter or two in scripts that write syllables)."""
    shorter, longer = sorted((one, other), key=len)
    if _is_hangul(shorter[0]):
        return len(shorter) >= 2 and longer[:2] == shorter[:2]
    stem = max(4, len(shorter) - 2)
    return len(shorter) >= 4 and len(longer) - len(shorter) <= 4 and longer[:stem] == shorter[:stem]


def _is_hangul(letter: str) -> bool:
    return "가" <= letter <= "힣"
