"""Whether what was found answers the question at all: better no memory than a wrong one.

Signs of it: how near the best memory lies and how far before the next; how much of what the question is about stands in
it (its content words, the rare ones counting more); and how near the word that fits worst comes to any word of the
memory (a "dog" to a "beagle"). Their weights and the threshold are fitted
per embedder on labelled questions (bench/agent_memory.py) and stand in `thresholds.yaml`.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from memories.likeness import WORD, meaning
from memories.vectors import Vectors

FITTED = Path(__file__).parent / "thresholds.yaml"
LOOKED_AT = 3

WordVectors = Callable[[list[str]], Vectors]


@dataclass(frozen=True)
class Seen:
    """What a found memory offers as a sign: its text, and its cosine to the question (None without vectors)."""

    text: str
    cosine: float | None


@dataclass(frozen=True)
class Signs:
    """Each from 0 to 1. `lead`, `first`: how far the best lies before the third and the second; `weakest`: how well the
    worst fitting word fits."""

    cosine: float
    coverage: float
    lead: float
    first: float = 0.0
    weakest: float = 0.0


@dataclass(frozen=True)
class Threshold:
    """Weights of the signs in a logistic sum, and the least support from which an answer is given."""

    bias: float
    least: float
    cosine: float = 0.0
    coverage: float = 0.0
    lead: float = 0.0
    first: float = 0.0
    weakest: float = 0.0

    def support(self, signs: Signs) -> float:
        """From 0 to 1."""
        weighed = sum(getattr(self, name) * value for name, value in asdict(signs).items())
        return 1 / (1 + exp(-(self.bias + weighed)))


def signs(question: str, found: Sequence[Seen], words: WordVectors | None = None) -> Signs:
    """Signs of the nearest memories, among all that were found. `words` makes vectors of single words, if it may."""
    nearest = sorted(found, key=lambda seen: -(seen.cosine or 0.0))[:LOOKED_AT]
    cosines = [seen.cosine or 0.0 for seen in nearest] or [0.0]
    counted = _document_frequency(found)
    return Signs(
        cosine=cosines[0],
        coverage=max((coverage(question, seen.text, counted, len(found)) for seen in nearest), default=0.0),
        lead=cosines[0] - cosines[-1],
        first=cosines[0] - cosines[min(1, len(cosines) - 1)],
        weakest=_weakest(question, [seen.text for seen in nearest], words) if words and nearest else 0.0,
    )


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


def _weakest(question: str, texts: Sequence[str], words: WordVectors) -> float:
    """In the memory where this is best: the cosine of the question's worst fitting word to the word nearest to it."""
    asked = _content_words(question)
    told = [list(dict.fromkeys(WORD.findall(text))) for text in texts]
    if not asked or not any(told):
        return 0.0
    known = list(dict.fromkeys([*asked, *(word for text in told for word in text)]))
    rows = dict(zip(known, words(known), strict=True))
    return max(min(_fit(word, text, rows) for word in asked) for text in told if text)


def _fit(word: str, text: list[str], rows: dict[str, Any]) -> float:
    if _stands_in(word.casefold(), frozenset(other.casefold() for other in text)):
        return 1.0
    return float(np.clip(max(rows[word] @ rows[other] for other in text), 0, 1))


def _content_words(question: str) -> list[str]:
    return [word for word in dict.fromkeys(WORD.findall(question)) if meaning(word).words and not _asks(word)]


def _asks(word: str) -> bool:
    return word.casefold().startswith(ASKING[1]) or word.casefold() in ASKING[0]


ASKING = (
    frozenset(
        {
            *("what", "who", "whom", "whose", "when", "where", "which", "how", "why"),
            *("кто", "кого", "кому", "что", "чего", "чем", "где", "когда", "куда", "откуда", "почему", "зачем"),
            *("чей", "чья", "чьё", "чьи", "누가", "언제", "왜", "몇", "무슨", "어떤"),
        }
    ),
    ("как", "котор", "скольк", "무엇", "뭐", "어디", "어느", "누구", "얼마"),
)
"""Words that ask (and how they begin): no memory has to hold them."""


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
