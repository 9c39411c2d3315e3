"""Whether two statements in other words say the same: "The miller bought Orla's mare", "Orla sold
her mare to the miller", but not "The miller sold Orla his mare".

Gradient-boosted trees over signs of both texts (`signs_of_pair`) give a probability: the cosine of
their vectors, the words they share and lack, numbers, names, negation, tense, who did it to whom,
and the words that change a statement (`statement_cues.yaml`). They are fitted by `bench.dedup` to
our own statements in three languages, for one embedder. Where they are not sure, a model reads both
texts together (`signs_together`), and a logistic sum of both gives the probability.
"""

import json
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from memories.similarity.comparable_text import (
    LEXICON,
    RELATION_OF,
    SHORT_NAMES,
    ComparableText,
    is_inflection,
    parse_text,
    spelling_match,
)
from memories.similarity.numerals import numbers_of
from memories.similarity.pairs import LogisticSum, has_pair_model, logit, read_together
from memories.similarity.trees import BoostedTrees
from memories.similarity.word_roles import roled_text, signs_of_roles
from memories.text_caches import text_cache
from retrieval.text import has_hangul, is_cyrillic

MODEL_FILE = Path(__file__).parent / "same_statement.json"
CUES_FILE = Path(__file__).parent / "statement_cues.yaml"
FIRST_PERSON = frozenset(LEXICON["first_person"].split())
USER = re.compile(r"\b(?:user|player)(?:'s)?\b|пользовател|игрок|사용자", re.IGNORECASE)
RUSSIAN_PAST = re.compile(r"\b\w{2,}(?:л|ла|ло|ли|лся|лась|лось|лись)\b")
ENGLISH_PAST = re.compile(
    r"\b(?:was|were|had|did|didn't|been|\w{2,}ed|went|gave|took|sold|bought|found|lost|won|left|told|"
    r"said|came|made|became|fell|began|broke|stole|hid|kept|met|knew|saw|taught|sent|paid|led|held|"
    r"built|died|got|sank|wrote|drove|fought|caught|brought|thought|spoke|rode|ran|swore|stood|threw|"
    r"ate|drank|slept)\b"
)
RUSSIAN_FUTURE = re.compile(
    r"\bбуд(?:ет|ут|у|ем)\b|\b(?:с|у|вы|на|по|за|при|пере|про|рас|из|под|вз|воз|от|об|о)\w{2,}"
    r"(?:ит|ет|ят|ут|ют|ёт|у|ю)\b"
)
SURELY_OTHER = 0.05
"""Probability by the trees below which two texts are not read together."""
PAST_IN_KOREAN = "\u11bb"
"""The final consonant ㅆ of a verb; 있 and 겠 have it, too."""


@cache
def cue_patterns() -> tuple[re.Pattern[str], ...]:
    patterns: dict[str, str] = yaml.safe_load(CUES_FILE.read_text(encoding="utf-8"))
    return tuple(re.compile(each, re.IGNORECASE | re.VERBOSE) for each in patterns.values())


@text_cache(maxsize=16_384)
def cues_of(text: str) -> tuple[int, ...]:
    return tuple(len(pattern.findall(text)) for pattern in cue_patterns())


@text_cache(maxsize=16_384)
def numbers_in(text: str) -> frozenset[str]:
    return numbers_of(text)


def signs_of_statements(
    one: str, other: str, *, similarity: float, differences: list[bool], overlap: float
) -> list[float]:
    """Return the signs that the trees read. `similarity`: the cosine; `differences`: which of
    `compare.DIFFERENCES` the two have; `overlap`: of their words, 0 to 1."""
    mine, yours = parse_text(one), parse_text(other)
    lengths = sorted((len(one), len(other)))
    return [
        similarity,
        overlap,
        *signs_of_words(mine, yours),
        *differences,
        *signs_of_numbers(one, other),
        mine.is_negated != yours.is_negated,
        mine.has_negation != yours.has_negation,
        mine.has_negation or yours.has_negation,
        *signs_of_cues(one, other),
        *(before != after for before, after in zip(tense_of(one), tense_of(other), strict=True)),
        is_other_person(one, other),
        *signs_of_roles(one, other),
        lengths[0] / max(lengths[1], 1),
        lengths[1],
        1 if is_cyrillic(one.lower()) else 2 if has_hangul(one) else 0,
    ]


def signs_of_words(mine: ComparableText, yours: ComparableText) -> list[float]:
    left = sorted((_words_left(mine, yours), _words_left(yours, mine)))
    names = sorted((_names_left(mine, yours), _names_left(yours, mine)))
    relations, others = (
        {RELATION_OF[word] for word in text.raw if word in RELATION_OF} for text in (mine, yours)
    )
    apart = sorted((len(relations - others), len(others - relations)))
    return [*left, *names, max(len(mine.names), len(yours.names)), *apart]


def _words_left(one: ComparableText, other: ComparableText) -> int:
    return sum(not spelling_match(word, other.words) for word in one.words)


def _names_left(one: ComparableText, other: ComparableText) -> int:
    """Return how many names of `one` the other lacks, also as a short form."""
    return sum(not _has_name(other, name) for name in one.names)


def lacks_names(one: str, other: str) -> bool:
    """Whether one of the texts has a name that the other lacks, also as a short form or in part:
    *Captain Orsolya Vane* is *Orsolya*."""
    mine, yours = parse_text(one), parse_text(other)
    return _lacks_whole_names(mine, yours) or _lacks_whole_names(yours, mine)


def has_other_details(one: str, other: str) -> bool:
    """Whether each of the texts has a number, or a time, that the other lacks."""
    times = (parse_text(one).times, parse_text(other).times)
    numbers = (numbers_in(one), numbers_in(other))
    return any(bool(mine - yours) and bool(yours - mine) for mine, yours in (times, numbers))


def _lacks_whole_names(one: ComparableText, other: ComparableText) -> bool:
    names = frozenset(one.names)
    runs = groupby(one.sequence, key=lambda word: word[0] in names)
    return any(
        not any(_has_name(other, word) for word, _form in run) for is_name, run in runs if is_name
    )


def _has_name(text: ComparableText, name: str) -> bool:
    return any(name == word or is_inflection(name, word) for word in text.stems) or any(
        SHORT_NAMES.get(name, name) == SHORT_NAMES.get(word) for word in text.stems
    )


def signs_of_numbers(one: str, other: str) -> list[float]:
    mine, yours = numbers_in(one), numbers_in(other)
    return [len(mine ^ yours), len(mine & yours), bool(mine - yours) and bool(yours - mine)]


def signs_of_cues(one: str, other: str) -> list[float]:
    apart = [
        float(bool(mine) != bool(yours))
        for mine, yours in zip(cues_of(one), cues_of(other), strict=True)
    ]
    return [*apart, sum(apart)]


def tense_of(text: str) -> tuple[bool, bool]:
    """Return whether `text` seems to tell of the past, and of the future."""
    lower = text.lower()
    if has_hangul(lower):
        last = lower.rstrip(" .!?").rsplit(" ", 1)[-1]
        is_past = any(
            unicodedata.normalize("NFD", each)[2:] == PAST_IN_KOREAN
            for each in last
            if each not in "있겠"
        )
        return is_past, False
    if is_cyrillic(lower):
        return bool(RUSSIAN_PAST.search(lower)), bool(RUSSIAN_FUTURE.search(lower))
    return bool(ENGLISH_PAST.search(lower)), False


def is_other_person(one: str, other: str) -> bool:
    """Whether one speaks of *I* and the other of the user."""
    mine, yours = (bool(FIRST_PERSON & set(roled_text(text).forms)) for text in (one, other))
    return mine != yours and bool(USER.search(other if mine else one))


def signs_together(one: str, other: str, *, by_trees: float) -> dict[str, float]:
    """Return the signs of the logistic sum, as log odds. Both orders are read: neither text comes
    first."""
    forward, backward = read_together(one, other), read_together(other, one)
    return {
        "trees": logit(by_trees),
        "same": (logit(forward.same) + logit(backward.same)) / 2,
    }


@dataclass(frozen=True)
class SameStatementModel:
    """The trees and the embedder that they were fitted for. `least`: the probability from which two
    statements say the same; `least_by_rules`: that for two of which the rules say so. `together`
    weighs the trees and the model of pairs."""

    embedder: str
    least: float
    least_by_rules: float
    trees: BoostedTrees
    together: LogisticSum

    def by_trees(self, signs: list[float]) -> float:
        return float(self.trees.probabilities([signs])[0])

    def probability(self, one: str, other: str, *, by_trees: float) -> float:
        """Return the probability that both say the same. The pair is read only where the trees
        leave it open."""
        if by_trees < SURELY_OTHER or not has_pair_model():
            return by_trees
        return self.together.probability(signs_together(one, other, by_trees=by_trees))


@cache
def same_statement_model() -> SameStatementModel:
    data: dict[str, Any] = json.loads(MODEL_FILE.read_text(encoding="utf-8"))
    return SameStatementModel(
        data["embedder"],
        data["least"],
        data["least_by_rules"],
        BoostedTrees.of(data),
        LogisticSum(**data["together"]),
    )
