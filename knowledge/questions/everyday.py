"""Everyday speech: what players say instead of a rule's name ("knocked flat" for *Prone*).

`everyday.csv` has, for each term of the rules, what is said in each language: patterns, separated
by `|`. A pattern is a list of slots; each of them must be filled, in any order, by words that stand
near each other. `knock/fall flat/down` has two slots with two words each; `NOT` is any negation.
Words count in any inflection. In Korean a word counts by its beginning, and everything after the
first slot is one slot, whose choices may consist of several words.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from retrieval.text import has_hangul, name_words, word_stem

TABLE = Path(__file__).parent / "everyday.csv"
LANGUAGES = ("en", "ru", "ko")
NEGATIONS = {
    "en": "not/no/never/cannot/can't/don't/doesn't/won't/isn't/aren't/couldn't/unable/without",
    "ru": "не/нет/нельзя/без/ни/никак",
    "ko": "안/못/없",
}
SPREAD = 5
"""Words that may stand between those of a pattern."""
LONGEST = 60
"""Words; a longer text is a paste, not a question."""
WEIGHTS = {1: 0.5, 2: 0.75}
"""Certainty of a pattern by its slots; more slots are certain."""


@dataclass(frozen=True)
class Pattern:
    term: str
    slots: tuple[frozenset[str], ...]
    """Of each slot the stems that fill it; a Korean choice of several words has blanks."""

    @property
    def weight(self) -> float:
        return WEIGHTS.get(len(self.slots), 1.0)


@dataclass(frozen=True)
class Saying:
    """A term that a question means, and how certain that is (0–1)."""

    term: str
    weight: float


@dataclass
class EverydaySpeech:
    """The patterns of one language, by the stems of their first slots."""

    patterns: Iterable[Pattern]
    _by_stem: dict[str, list[Pattern]] = field(
        default_factory=lambda: defaultdict(list), init=False
    )

    def __post_init__(self) -> None:
        for pattern in self.patterns:
            # By the slot with the fewest words, which is the most telling one.
            for stem in min(pattern.slots, key=len):
                self._by_stem[stem.split()[0]].append(pattern)

    def find(self, text: str) -> list[Saying]:
        """Return the terms that `text` means, most certain first, each once."""
        words = name_words(text)
        if len(words) > LONGEST:
            return []
        forms = [forms_of(word.norm) for word in words]
        known = {form for each in forms for form in each}
        near = {id(p): p for form in known for p in self._by_stem.get(form, ())}
        best: dict[str, float] = {}
        for pattern in near.values():
            if pattern.weight > best.get(pattern.term, 0) and fills(pattern, forms, known):
                best[pattern.term] = pattern.weight
        return [Saying(*each) for each in sorted(best.items(), key=lambda each: -each[1])]


@cache
def everyday_speech(language: str) -> EverydaySpeech:
    """Return the patterns of `language`; of another language than those of the table, none."""
    with TABLE.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        return EverydaySpeech([each for row in rows for each in read_patterns(row, language)])


def read_patterns(row: dict[str, str], language: str) -> Iterator[Pattern]:
    for text in (row.get(language) or "").split("|"):
        slots = text.split(maxsplit=1) if language == "ko" else text.split()
        if slots:
            choices = (slot.replace("NOT", NEGATIONS[language]).split("/") for slot in slots)
            yield Pattern(row["term"], tuple(frozenset(map(stems_of, each)) for each in choices))


def stems_of(choice: str) -> str:
    return " ".join(word_stem(word.norm) for word in name_words(choice))


def forms_of(word: str) -> frozenset[str]:
    """Return what a word of a question may be in a pattern: its stem; in Korean any beginning."""
    if has_hangul(word):
        return frozenset(word[:end] for end in range(1, len(word) + 1))
    return frozenset({word_stem(word)})


def fills(pattern: Pattern, forms: list[frozenset[str]], known: set[str]) -> bool:
    """Whether words that stand near each other fill every slot, each of them another one."""
    if any(
        slot.isdisjoint(known) and not any(" " in each for each in slot) for slot in pattern.slots
    ):
        return False
    places = [list(places_of(slot, forms)) for slot in pattern.slots]
    reach = len(pattern.slots) + SPREAD
    return all(places) and any(is_near(start, places[1:], reach) for start in places[0])


def is_near(start: int, others: list[list[int]], reach: int) -> bool:
    taken = {start}
    for places in others:
        free = [place for place in places if place not in taken and abs(place - start) <= reach]
        if not free:
            return False
        taken.add(min(free, key=lambda place: abs(place - start)))
    return True


def places_of(slot: frozenset[str], forms: list[frozenset[str]]) -> Iterator[int]:
    """Yield the positions of the words that fill `slot`."""
    for place in range(len(forms)):
        for choice in slot:
            words = choice.split()
            after = forms[place : place + len(words)]
            if len(after) == len(words) and all(w in f for w, f in zip(words, after, strict=True)):
                yield place
                break
