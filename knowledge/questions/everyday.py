"""Everyday speech: what players say instead of a rule's name ("knocked flat" for *Prone*).

`everyday.csv` has, for each term of the rules, what is said in each language: patterns, separated
by `|`. A pattern is a list of slots; each of them must be filled, in any order, by words that stand
near each other. `knock/fall flat/down` has two slots with two words each; `NOT` is any negation,
and `@hit` any word of the class `hit` in `everyday_words.csv`. Words count in any inflection. In
Korean a word counts by its beginning, and everything after the first slot is one slot, whose
choices may consist of several words.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from retrieval.text import has_hangul, is_cyrillic, name_words, word_stem

TABLE = Path(__file__).parent / "everyday.csv"
CLASSES = Path(__file__).parent / "everyday_words.csv"
CLASS = re.compile(r"@(\w+)")
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
LONG = {"en": 20, "ru": 16, "ko": 14}
"""Words from which a pattern is less certain: a longer text more often describes something than it
asks, and fills patterns by chance. Our own questions are hardly ever longer (docs/search.md)."""
LONGEST_BEGINNING = 20
"""Syllables of a Korean word that are compared with patterns, whose words are all shorter."""
SHORTEST_STEM = 3
"""Letters; a shorter stem of a longer word (`бо` of `боюсь` and of `бою`) says nothing."""
VERB_SUFFIXES = (
    re.compile(r"(?:ыва|ива|ова)$"),
    re.compile(r"(?<=[^аеиоуыэюя])н(?:ут|ул|ет|еш|ем)?$"),
    re.compile(r"(?<=...)[ае]$|(?<=....)е[тл]$"),
)
"""What is left in a Russian stem of the aspect and tense of a verb: `толкнуть`, `толкал`."""
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

    language: str
    patterns: Iterable[Pattern]
    _by_stem: dict[str, list[Pattern]] = field(
        default_factory=lambda: defaultdict(list), init=False
    )
    _stems: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        for pattern in self.patterns:
            self._stems.update(*pattern.slots)
            # By the slot with the fewest words, which is the most telling one.
            for stem in min(pattern.slots, key=len):
                self._by_stem[stem.split()[0]].append(pattern)

    def knows(self, word: str) -> bool:
        """Whether the folded `word` is in a pattern, so that players do write it. A Korean word
        begins with that of a pattern too often to say so."""
        return not has_hangul(word) and not self._stems.isdisjoint(forms_of(word))

    def find(self, text: str) -> list[Saying]:
        """Return the terms that `text` means, most certain first, each once; of equally certain
        ones those that more patterns mean."""
        words = name_words(text)
        if len(words) > LONGEST:
            return []
        forms = [forms_of(word.norm) for word in words]
        known = {form for each in forms for form in each}
        near = {id(p): p for form in known for p in self._by_stem.get(form, ())}
        weights: dict[str, list[float]] = defaultdict(list)
        for pattern in near.values():
            if fills(pattern, forms, known):
                weights[pattern.term].append(pattern.weight)
        best = sorted(weights.items(), key=lambda each: (-max(each[1]), -sum(each[1])))
        return [Saying(term, self._certainty(len(words)) * max(each)) for term, each in best]

    def _certainty(self, words: int) -> float:
        """How certain the patterns are that a text of so many words fills."""
        share: float = min(1.0, LONG[self.language] / words) ** 4
        return share


@cache
def everyday_speech(language: str) -> EverydaySpeech:
    """Return the patterns of `language`; of another language than those of the table, none."""
    with TABLE.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        patterns = [each for row in rows for each in read_patterns(row, language)]
    return EverydaySpeech(language, patterns)


@cache
def word_classes(language: str) -> dict[str, str]:
    """Return the words of each class, separated as in a slot."""
    with CLASSES.open(encoding="utf-8", newline="") as lines:
        return {row["class"]: row.get(language) or "" for row in csv.DictReader(lines)}


def read_patterns(row: dict[str, str], language: str) -> Iterator[Pattern]:
    classes = word_classes(language)
    for text in (row.get(language) or "").split("|"):
        slots = text.split(maxsplit=1) if language == "ko" else text.split()
        if slots:
            choices = (words_of_slot(slot, language, classes) for slot in slots)
            yield Pattern(row["term"], tuple(frozenset(map(stems_of, each)) for each in choices))


def words_of_slot(slot: str, language: str, classes: dict[str, str]) -> list[str]:
    words = CLASS.sub(lambda match: classes[match[1]], slot.replace("NOT", NEGATIONS[language]))
    return words.split("/")


def stems_of(choice: str) -> str:
    return " ".join(spoken_stem(word.norm) for word in name_words(choice))


def spoken_stem(word: str) -> str:
    """Return the stem by which the words of players compare. In Russian it is the same for most
    forms and both aspects of a verb."""
    stem = word_stem(word)
    if not is_cyrillic(stem):
        return stem
    if len(stem) < SHORTEST_STEM < len(word):
        return word
    for suffix in VERB_SUFFIXES:
        shorter = suffix.sub("", stem)
        stem = shorter if len(shorter) >= SHORTEST_STEM else stem
    return stem


def forms_of(word: str) -> frozenset[str]:
    """Return what a word of a question may be in a pattern: its stem; in Korean any beginning."""
    if has_hangul(word):
        return frozenset(word[:end] for end in range(1, min(len(word), LONGEST_BEGINNING) + 1))
    return frozenset({spoken_stem(word)})


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
