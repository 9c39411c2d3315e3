"""Compare two texts by the cosine of their vectors and by their words.

A pair says the same only if nothing that carries meaning differs: numbers, names, negation, times,
or a word and its opposite. A pair that is similar but differs in one of these may be a
contradiction ("formerly").
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml
from rapidfuzz import fuzz

from memories.text_caches import text_cache
from retrieval.text import WORD_OR_NUMBER, is_cyrillic, light_stem

_LEXICON: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parent / "lexicon.yaml").read_text(encoding="utf-8")
)
"""Words that decide whether two sentences say the same, in English, Russian and Korean."""
NUMBER_WORDS = {
    word: number for number, words in _LEXICON["numbers"].items() for word in words.split()
}
NEGATIONS, TIME_WORDS, FUNCTION_WORDS, PASSIVE = (
    frozenset(_LEXICON[name].split())
    for name in ("negations", "times", "function_words", "passive")
)
SYNONYM_KEY = {word: min(group.split()) for group in _LEXICON["synonyms"] for word in group.split()}
OPPOSITE_OF: dict[str, set[str]] = {}
for _one, _other in (pair.split("/") for pair in _LEXICON["opposites"].split()):
    OPPOSITE_OF.setdefault(_one, set()).add(_other)
    OPPOSITE_OF.setdefault(_other, set()).add(_one)

PLACE_OF = {word: min(group.split()) for group in _LEXICON["places"] for word in group.split()}
"""The first of the words for the same place relation, such as *in* and *inside*."""
PARTICLES = {each: role for role, group in _LEXICON["particles"].items() for each in group.split()}
KOREAN_NOUN = re.compile(
    rf"^([가-힣]{{2,}}?)({'|'.join(sorted(PARTICLES, key=len, reverse=True))})$"
)
CLEFT = re.compile(r"\b(?:is|are|was) the ones? (?:who|that|which)\b", re.IGNORECASE)
USED_TO = re.compile(r"\bused to\b", re.IGNORECASE)
KOREAN_NEGATION = re.compile(r"^못|않|없|아니")
FIRST_WORDS = re.compile(r"(?:^|[.!?]\s+)[\"'“(]*([^\W\d_]+)")
NO_NAMES = FUNCTION_WORDS | TIME_WORDS | NUMBER_WORDS.keys()

SAME_FROM = 0.8
"""`similarity_of` from which two texts without a `difference` say the same. Fitted on the tuning
half of the labelled pairs."""
SIMILAR_FROM = 0.72
"""`similarity_of` from which two texts with a `difference` contradict each other."""
VECTOR_SHARE = 0.8
SPELLING_WEIGHT = 0.8
"""Weight of a word that the other text has in a similar spelling."""
# A bound that is exact may still come out smaller than the sum it bounds.
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
    is_negated: bool
    times: frozenset[str]
    words: frozenset[str]
    raw: frozenset[str]
    stems: frozenset[str]
    sequence: tuple[tuple[str, str], ...]
    """Each word in order: its stem, and as it is written."""
    roles: frozenset[tuple[str, str]]
    """Korean nouns with what their particle makes of them: subject, object, recipient."""
    is_passive: bool
    has_negation: bool
    """Whether it has any, also two that cancel out."""


def compare(one: str, other: str, *, similarity: float, same_speaker: bool = True) -> Verdict:
    """Compare two texts whose vectors have the cosine `similarity`. What two people say in the same
    words are two memories ("I never learned to swim"); they can still contradict each other."""
    verdict = compare_texts(one, other, similarity=similarity)
    is_same = verdict in (Verdict.EXACT, Verdict.NEAR)
    return Verdict.DIFFERENT if is_same and not same_speaker else verdict


def compare_texts(one: str, other: str, *, similarity: float) -> Verdict:
    if fingerprint(one) == fingerprint(other):
        return Verdict.EXACT
    # The bounds are cheap and exclude most pairs.
    if similarity < MIN_COSINE or upper_bound(one, other, similarity=similarity) < SIMILAR_FROM:
        return Verdict.DIFFERENT
    total = similarity_of(one, other, similarity=similarity)
    if name := difference(one, other):
        is_contradiction = total >= SIMILAR_FROM and name not in BOTH_MAY_HOLD
        return Verdict.CONTRADICTS if is_contradiction else Verdict.DIFFERENT
    return Verdict.NEAR if total >= SAME_FROM else Verdict.DIFFERENT


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
    numbers = [word for word in lower if word[0].isdigit() or word in NUMBER_WORDS]
    negations = [
        word
        for word in lower
        if word in NEGATIONS or word.endswith("n't") or KOREAN_NEGATION.search(word)
    ]
    content = [word for word in lower if word not in FUNCTION_WORDS and word not in NEGATIONS]
    return ComparableText(
        numbers=frozenset(
            NUMBER_WORDS.get(word) or word.replace(",", "").rstrip(".:/") for word in numbers
        ),
        names=_names_in(text, tokens),
        # Two negations cancel out, but not in Russian: "никто не видел".
        is_negated=bool(negations) if is_cyrillic(text.lower()) else len(negations) % 2 == 1,
        times=frozenset(word for word in lower if word in TIME_WORDS),
        words=frozenset(stem(SYNONYM_KEY.get(word, word)) for word in content),
        raw=frozenset(lower),
        stems=frozenset(stem(word.removesuffix("'s")) for word in lower),
        sequence=tuple((stem(word.removesuffix("'s")), word) for word in lower),
        roles=frozenset(
            (noun[1], PARTICLES[noun[2]]) for word in lower if (noun := KOREAN_NOUN.match(word))
        ),
        is_passive=bool(PASSIVE & set(lower)),
        has_negation=bool(negations),
    )


def normalize_spelling(text: str) -> str:
    """Replace variants: curly apostrophes, ё, "used to", "X is the one who"."""
    text = text.replace("’", "'").replace("ё", "е").replace("Ё", "Е")
    return USED_TO.sub("formerly", CLEFT.sub("", text))


# Cached here and not in `retrieval`: what holds pieces of memories is emptied by an erasure.
stem = text_cache(maxsize=50_000)(light_stem)


def _names_in(text: str, tokens: list[str]) -> tuple[str, ...]:
    """Stems of capitalized words in order; the first word of a sentence counts only if it occurs
    again."""
    upper = [token for token in tokens if token[0].isupper() and token.casefold() not in NO_NAMES]
    if not upper:
        return ()
    starts = set(FIRST_WORDS.findall(text))
    names = [token for token in upper if token not in starts or tokens.count(token) > 1]
    return tuple(dict.fromkeys(stem(token.casefold().removesuffix("'s")) for token in names))


def _have_same_names(mine: ComparableText, yours: ComparableText) -> bool:
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


def _has_opposites(mine: ComparableText, yours: ComparableText) -> bool:
    only_mine, only_yours = mine.raw - yours.raw, yours.raw - mine.raw
    return any(OPPOSITE_OF.get(word, set()) & only_yours for word in only_mine)


def _has_swapped_names(mine: ComparableText, yours: ComparableText) -> bool:
    """The same names in other roles: who did it to whom. English tells the roles by the order,
    which a passive swaps without changing the meaning, Russian by the cases."""
    # What begins a sentence is a name if the other text has it as one.
    names = {*mine.names, *yours.names}
    own, other = ([each for each in text.sequence if each[0] in names] for text in (mine, yours))
    if len(names) < 2 or Counter(name for name, _ in own) != Counter(name for name, _ in other):
        return False
    if not all(name.isascii() for name in names):
        return sorted(own) != sorted(other)
    has_another_order = [name for name, _ in own] != [name for name, _ in other]
    return has_another_order and mine.is_passive == yours.is_passive


def _has_swapped_words(mine: ComparableText, yours: ComparableText) -> bool:
    """The same words in the same order, but two that are exchanged: the baron hired them against
    the abbey, the abbey hired them against the baron. Where endings tell the roles, words in the
    same forms are only in another order."""
    own, other = (
        [each for each in text.sequence if each[1] not in NO_NAMES] for text in (mine, yours)
    )
    if len(own) != len(other) or len(own) < 3 or mine.is_passive != yours.is_passive:
        return False
    pairs = zip(own, other, strict=True)
    unlike = [(one, two) for one, two in pairs if not _is_one_word(one[0], two[0])]
    if len(unlike) != 2:
        return False
    (first, second), (third, fourth) = unlike
    if not (_is_one_word(first[0], fourth[0]) and _is_one_word(second[0], third[0])):
        return False
    return first[1].isascii() or (first[1] != fourth[1] and second[1] != third[1])


def _is_one_word(one: str, other: str) -> bool:
    return one == other or is_inflection(one, other)


def _says_more(mine: ComparableText, yours: ComparableText) -> bool:
    """One has all words of the other and at least one more: the father of somebody, the character
    of a player, what somebody suspects. Both may hold."""
    for one, other in ((mine, yours), (yours, mine)):
        more = [word for word in one.words if not spelling_match(word, other.words)]
        less = [word for word in other.words if not spelling_match(word, one.words)]
        if more and not less and len(other.words) > 1:
            return True
    return False


def _has_swapped_roles(mine: ComparableText, yours: ComparableText) -> bool:
    """Two Korean nouns, each with another particle: who did it to whom."""
    own, other = dict(mine.roles), dict(yours.roles)
    return sum(own[noun] != other[noun] for noun in own.keys() & other.keys()) > 1


def _has_another_place(mine: ComparableText, yours: ComparableText) -> bool:
    """Each has a word for a place relation that the other lacks: near the mill, in the mill."""
    own, other = ({PLACE_OF[word] for word in text.raw & PLACE_OF.keys()} for text in (mine, yours))
    return bool(own - other) and bool(other - own)


def _differs_in_one_word(mine: ComparableText, yours: ComparableText) -> bool:
    """All words are shared but one on each side: the same statement about something else."""
    only_mine = [word for word in mine.words if not spelling_match(word, yours.words)]
    only_yours = [word for word in yours.words if not spelling_match(word, mine.words)]
    return len(only_mine) == len(only_yours) == 1 and len(mine.words) > 2


DIFFERENCES: dict[str, Callable[[ComparableText, ComparableText], bool]] = {
    "number": lambda mine, yours: mine.numbers != yours.numbers,
    "negation": lambda mine, yours: mine.is_negated != yours.is_negated,
    "time": lambda mine, yours: mine.times != yours.times,
    "name": lambda mine, yours: not _have_same_names(mine, yours),
    "opposite": _has_opposites,
    "order": _has_swapped_names,
    "role": _has_swapped_roles,
    "place": _has_another_place,
    "word": _differs_in_one_word,
    "parts": _has_swapped_words,
    "detail": _says_more,
}
"""What changes the meaning, by name, the cheapest test first."""


BOTH_MAY_HOLD = frozenset({"detail"})
"""Differences that make two statements of one, and no contradiction."""


def spelling_match(word: str, words: frozenset[str]) -> float:
    if word in words:
        return 1.0
    if len(word) < 4:
        return 0.0
    near = (other for other in words if abs(len(other) - len(word)) <= 3)
    is_similar = any(fuzz.ratio(word, other, score_cutoff=80) for other in near)
    return SPELLING_WEIGHT if is_similar else 0.0
