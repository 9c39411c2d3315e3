"""Do two texts say the same? What a vector cannot tell apart, the words can.

A pair is the same only if nothing that carries meaning differs: numbers, names, negation, times, or
a word and its opposite. A pair that is alike in everything but one of these may be a contradiction
("formerly").
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz import fuzz

from memories.similarity.lexicon import (
    FUNCTION_WORDS,
    NEGATIONS,
    NUMBER_WORDS,
    OPPOSITES,
    PASSIVE,
    SYNONYMS,
    TIME_WORDS,
)
from memories.text_caches import text_cache
from retrieval.text import WORD_OR_NUMBER, light_stem

SYNONYM_KEY = {word: min(group) for group in SYNONYMS for word in group}
OPPOSITE_OF: dict[str, set[str]] = {}
for _one, _other in OPPOSITES:
    OPPOSITE_OF.setdefault(_one, set()).add(_other)
    OPPOSITE_OF.setdefault(_other, set()).add(_one)

CLEFT = re.compile(r"\b(?:is|are|was) the ones? (?:who|that|which)\b", re.IGNORECASE)
USED_TO = re.compile(r"\bused to\b", re.IGNORECASE)
KOREAN_NEGATION = re.compile(r"^못|않|없|아니")
FIRST_WORDS = re.compile(r"(?:^|[.!?]\s+)[\"'“(]*([^\W\d_]+)")
NO_NAMES = FUNCTION_WORDS | TIME_WORDS | NUMBER_WORDS.keys()

SAME_FROM = 0.8
"""Likeness from which a pair that passes the guard is the same. Fitted on the tuning half of the
labelled pairs."""
SIMILAR_FROM = 0.72
"""Likeness from which a pair that fails the guard contradicts."""
VECTOR_SHARE = 0.8
SPELLING_WEIGHT = 0.8
"""Weight of a word that the other text has in a similar spelling."""
ROUNDING = 1e-9
MIN_COSINE = (SIMILAR_FROM - (1 - VECTOR_SHARE)) / VECTOR_SHARE - 0.001
"""Cosine below which not even the same words reach `SIMILAR_FROM`."""


class Verdict(StrEnum):
    EXACT = "exact"
    NEAR = "near"
    CONTRADICTS = "contradicts"
    DIFFERENT = "different"


@dataclass(frozen=True)
class ComparableText:
    """The parts of a text that decide its meaning."""

    numbers: frozenset[str]
    names: tuple[str, ...]
    negated: bool
    times: frozenset[str]
    words: frozenset[str]
    raw: frozenset[str]
    stems: frozenset[str]
    passive: bool


def compare(one: str, other: str, *, similarity: float) -> Verdict:
    """Compare two texts whose vectors have the cosine `similarity`."""
    if fingerprint(one) == fingerprint(other):
        return Verdict.EXACT
    if similarity < MIN_COSINE:
        return Verdict.DIFFERENT
    if upper_bound(one, other, similarity=similarity) < SIMILAR_FROM:
        return Verdict.DIFFERENT
    alike, differing = similarity_of(one, other, similarity=similarity), difference(one, other)
    if not differing and alike >= SAME_FROM:
        return Verdict.NEAR
    return Verdict.CONTRADICTS if differing and alike >= SIMILAR_FROM else Verdict.DIFFERENT


@text_cache(maxsize=16_384)
def fingerprint(text: str) -> str:
    """The text without case, punctuation and spacing: equal for exact duplicates."""
    return " ".join(WORD_OR_NUMBER.findall(normalize_spelling(text).casefold()))


def similarity_of(one: str, other: str, *, similarity: float) -> float:
    """From 0 to 1: mostly the cosine of the vectors, the rest the overlap of the words."""
    return VECTOR_SHARE * max(0.0, similarity) + (1 - VECTOR_SHARE) * overlap(one, other)


def upper_bound(one: str, other: str, *, similarity: float) -> float:
    """The most that `similarity_of` can be, without comparing spellings: it excludes most pairs
    in a fraction of the time."""
    mine, yours = parse_text(one).words, parse_text(other).words
    both, all_words = 2 * len(mine & yours), len(mine) + len(yours)
    most = (both + SPELLING_WEIGHT * (all_words - both)) / all_words if mine and yours else 0.0
    return VECTOR_SHARE * similarity + (1 - VECTOR_SHARE) * most + ROUNDING


def overlap(one: str, other: str) -> float:
    """Dice coefficient of the words, 0 to 1; synonyms count as one, similar spellings in part."""
    mine, yours = parse_text(one).words, parse_text(other).words
    if not mine or not yours:
        return 0.0
    both = mine & yours
    soft = sum(spelling_match(word, yours) for word in mine - both) + sum(
        spelling_match(word, mine) for word in yours - both
    )
    return (2 * len(both) + soft) / (len(mine) + len(yours))


def difference(one: str, other: str) -> str:
    """Name the first of `DIFFERENCES` between two texts, or return an empty string."""
    mine, yours = parse_text(one), parse_text(other)
    return next((name for name, differs in DIFFERENCES.items() if differs(mine, yours)), "")


@text_cache(maxsize=16_384)
def parse_text(text: str) -> ComparableText:
    tokens = WORD_OR_NUMBER.findall(normalize_spelling(text))
    lower = [token.casefold() for token in tokens]
    numbers = frozenset(
        number_key(word) for word in lower if word[0].isdigit() or word in NUMBER_WORDS
    )
    content = [word for word in lower if word not in FUNCTION_WORDS and word not in NEGATIONS]
    return ComparableText(
        numbers=numbers,
        names=names_in(text, tokens),
        # Two negations cancel out.
        negated=sum(map(is_negation, lower)) % 2 == 1,
        times=frozenset(word for word in lower if word in TIME_WORDS),
        words=frozenset(stem(SYNONYM_KEY.get(word, word)) for word in content),
        raw=frozenset(lower),
        stems=frozenset(stem(word.removesuffix("'s")) for word in lower),
        passive=bool(PASSIVE & set(lower)),
    )


def is_negation(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't") or bool(KOREAN_NEGATION.search(word))


def normalize_spelling(text: str) -> str:
    """Replace variants: curly apostrophes, ё, "used to", "X is the one who"."""
    text = text.replace("’", "'").replace("ё", "е").replace("Ё", "Е")
    return USED_TO.sub("formerly", CLEFT.sub("", text))


# Cached here and not in `retrieval`: what holds pieces of memories is emptied by an erasure.
stem = text_cache(maxsize=50_000)(light_stem)


def names_in(text: str, tokens: list[str]) -> tuple[str, ...]:
    """Stems of capitalized words in order; the first word of a sentence counts only if it occurs
    again."""
    upper = [token for token in tokens if token[0].isupper() and token.casefold() not in NO_NAMES]
    if not upper:
        return ()
    starts = set(FIRST_WORDS.findall(text))
    names = [token for token in upper if token not in starts or tokens.count(token) > 1]
    return tuple(dict.fromkeys(stem(token.casefold().removesuffix("'s")) for token in names))


def have_same_names(mine: ComparableText, yours: ComparableText) -> bool:
    """Every name of one is a word of the other.

    Names are looked up among all words: a name that begins a sentence may not be recognized as one.
    """
    return all(
        name in words or any(is_inflection(name, word) for word in words)
        for names, words in ((mine.names, yours.stems), (yours.names, mine.stems))
        for name in names
    )


def is_inflection(name: str, word: str) -> bool:
    """Whether two words are one name with different case endings or particles."""
    # English names have none.
    if name.isascii():
        return False
    shorter, longer = sorted((name, word), key=len)
    return (
        len(shorter) >= 2
        and len(longer) - len(shorter) <= 3
        and longer[: len(shorter) - 1] == shorter[:-1]
    )


def has_opposites(mine: frozenset[str], yours: frozenset[str]) -> bool:
    return any(OPPOSITE_OF[word] & (yours - mine) for word in mine - yours if word in OPPOSITE_OF)


def has_swapped_names(mine: ComparableText, yours: ComparableText) -> bool:
    """The same names in another order: who did it to whom. A passive swaps them without changing
    the meaning."""
    same_set = len(mine.names) >= 2 and Counter(mine.names) == Counter(yours.names)
    return same_set and mine.names != yours.names and mine.passive == yours.passive


def differs_in_one_word(mine: frozenset[str], yours: frozenset[str]) -> bool:
    """All words are shared but one on each side: the same statement about something else."""
    apart = [
        [word for word in side if not spelling_match(word, other)]
        for side, other in ((mine, yours), (yours, mine))
    ]
    return len(apart[0]) == len(apart[1]) == 1 and len(mine) > 2


DIFFERENCES: dict[str, Callable[[ComparableText, ComparableText], bool]] = {
    "number": lambda mine, yours: mine.numbers != yours.numbers,
    "negation": lambda mine, yours: mine.negated != yours.negated,
    "time": lambda mine, yours: mine.times != yours.times,
    "name": lambda mine, yours: not have_same_names(mine, yours),
    "opposite": lambda mine, yours: has_opposites(mine.raw, yours.raw),
    "order": lambda mine, yours: has_swapped_names(mine, yours),
    "word": lambda mine, yours: differs_in_one_word(mine.words, yours.words),
}
"""What changes the meaning, by name, the cheapest test first."""


def number_key(word: str) -> str:
    return NUMBER_WORDS.get(word) or word.replace(",", "").rstrip(".:/")


def spelling_match(word: str, words: frozenset[str]) -> float:
    if word in words:
        return 1.0
    if len(word) < 4:
        return 0.0
    near = (other for other in words if abs(len(other) - len(word)) <= 3)
    return (
        SPELLING_WEIGHT if any(fuzz.ratio(word, other, score_cutoff=80) for other in near) else 0.0
    )
