"""Whether the answer of a language model says what it was given, and nothing else: by names,
numbers, negations and words. Pure computations.

A text of less than three content words without name, number and negation says too little to be
checked: it counts as covered.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from memories.similarity.comparable_text import (
    ComparableText,
    fingerprint,
    is_inflection,
    parse_text,
    spelling_match,
)
from memories.similarity.compare import overlap
from retrieval.text import split_sentences

MIN_WORDS = 3
"""Content words from which a text without name, number and negation is a statement."""
COVERED_SHARE = 0.5
"""Share of the words of a sentence that the answer has to have."""
SUPPORTED_SHARE = 0.2
"""Share of the words of an answer that the input has to have. Less than the other one: an answer in
other words is no invention."""
ABOUT_FROM = 0.5
"""`overlap` from which a text is about the same thing as another, so that it may replace it."""
EVIDENCE_FROM = 0.3
"""`overlap` from which a text counts as evidence of another."""


@dataclass(frozen=True)
class TextParts:
    """The sentences of some texts, and what occurs in any of them."""

    texts: Sequence[str]

    @cached_property
    def fingerprints(self) -> frozenset[str]:
        return frozenset(map(fingerprint, self.texts))

    @cached_property
    def sentences(self) -> list[ComparableText]:
        return [parse_text(one) for text in self.texts for one in sentences_of(text)]

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset().union(*(one.words for one in self.sentences))

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset().union(*(one.stems for one in self.sentences))

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset().union(*(numbers_of(one) for one in self.sentences))

    def has_numbers_and_names_of(self, part: ComparableText) -> bool:
        return numbers_of(part) <= self.numbers and all(map(self.has_name, part.names))

    def has_name(self, name: str) -> bool:
        return name in self.stems or any(is_inflection(name, stem) for stem in self.stems)

    def share_of_words(self, part: ComparableText) -> float:
        """Return how many of the words of `part` are here, from 0 to 1; 1 if it has none."""
        found = sum(spelling_match(word, self.words) for word in part.words)
        return found / len(part.words) if part.words else 1.0

    def agrees_in_negation(self, part: ComparableText) -> bool:
        """Whether the sentences nearest to `part` deny something if it does, and nothing else."""
        shared = [len(one.words & part.words) for one in self.sentences]
        if not any(shared):
            return not part.has_negation
        nearest = (one for one, n in zip(self.sentences, shared, strict=True) if n == max(shared))
        return any(one.has_negation == part.has_negation for one in nearest)

    def denies_a_part_of(self, part: ComparableText) -> bool:
        """Whether a sentence denies what `part`, which denies nothing, says among other things, and
        no sentence says so."""
        if part.has_negation:
            return False
        return any(
            has_all_words(part, denial.words)
            and not any(
                has_all_words(one, denial.words) for one in self.sentences if not one.has_negation
            )
            for denial in self.sentences
            if denial.has_negation and denial.words
        )


def has_all_words(part: ComparableText, words: Iterable[str]) -> bool:
    """Whether `part` has the words, or those with another ending: a Korean verb changes its last
    syllable when it denies."""
    return all(
        spelling_match(word, part.words)
        or any(
            is_inflection(word, other) or _differ_in_last_syllable(word, other)
            for other in part.words
        )
        for word in words
    )


def _differ_in_last_syllable(word: str, other: str) -> bool:
    is_hangul = bool(word) and "가" <= word[0] <= "힣"
    return is_hangul and len(word) == len(other) > 1 and word[:-1] == other[:-1]


def missing_positions(texts: Sequence[str], answer: Sequence[str]) -> list[int]:
    """Return the positions of the texts of which the answer leaves out a name, a number, a negation
    or most of the words."""
    parts = TextParts(answer)
    return [position for position, text in enumerate(texts) if not is_covered(text, parts)]


def is_covered(text: str, answer: TextParts) -> bool:
    if fingerprint(text) in answer.fingerprints:
        return True
    return all(
        answer.has_numbers_and_names_of(part)
        and answer.agrees_in_negation(part)
        and answer.share_of_words(part) >= COVERED_SHARE
        for part in map(parse_text, sentences_of(text))
        if is_statement(part)
    )


def without_inventions(answer: Iterable[str], given: Sequence[str]) -> list[str]:
    """Return the texts of the answer whose names, numbers, negations and some of whose words were
    given."""
    parts = TextParts(given)
    if not any(map(is_statement, parts.sentences)):
        return list(answer)
    return [text for text in answer if is_supported(text, parts)]


def is_supported(text: str, given: TextParts) -> bool:
    return all(
        given.has_numbers_and_names_of(part)
        and given.agrees_in_negation(part)
        and not given.denies_a_part_of(part)
        and given.share_of_words(part) >= SUPPORTED_SHARE
        for part in map(parse_text, sentences_of(text))
    )


def is_statement(part: ComparableText) -> bool:
    has_detail = bool(part.numbers or part.names or part.has_negation)
    return has_detail or len(part.words) >= MIN_WORDS


def replacing(old: str, memories: Sequence[str]) -> list[int]:
    """Return the positions of the memories that take the place of `old`: those about the same
    thing, else all that say it together. None if they leave it out; all if it says too little to
    be looked for."""
    about = [position for position, text in enumerate(memories) if is_about_same(old, text)]
    if about or not is_statement(parse_text(old)):
        return about or list(range(len(memories)))
    if not is_covered(old, TextParts(memories)):
        return []
    return evidence_of(old, memories) or list(range(len(memories)))


def is_about_same(old: str, text: str) -> bool:
    share = overlap(old, text)
    # A text that says all of `old` has words in common with it: most pairs end here.
    return share >= ABOUT_FROM or (share > 0 and is_covered(old, TextParts([text])))


def evidence_of(text: str, others: Sequence[str]) -> list[int]:
    """Return the positions of those of `others` that say `text` word for word; else of those that
    share enough words; else a number or a name."""
    tests = (is_same_text, shares_words, shares_detail)
    for test in tests:
        if positions := [at for at, other in enumerate(others) if test(text, other)]:
            return positions
    return []


def is_same_text(one: str, other: str) -> bool:
    return fingerprint(one) == fingerprint(other)


def shares_words(one: str, other: str) -> bool:
    return overlap(one, other) >= EVIDENCE_FROM


def shares_detail(one: str, other: str) -> bool:
    """Whether they have a number or a name in common."""
    own, part = parse_text(one), parse_text(other)
    has_name = set(own.names) & part.stems or set(part.names) & own.stems
    return bool(own.numbers & part.numbers or has_name)


def sentences_of(text: str) -> list[str]:
    return [sentence for sentence in split_sentences(text, at_line_breaks=True) if sentence.strip()]


def numbers_of(part: ComparableText) -> frozenset[str]:
    """Return the numbers without leading zeros: `05` is 5."""
    return frozenset(number.lstrip("0") or "0" for number in part.numbers)
