"""Short forms that players write: `dmg`, `sorc`, `лвл`, `파볼`.

`abbreviations.csv` has short forms, `|` between several, what they stand for, and, for a short form
that is also an ordinary word, a pattern of what must stand somewhere in such a question (`lock`
beside a level is a warlock). A short form is written out only if the rules have the words that it
stands for, and if it is not a name of the world's own rules.
"""

import csv
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from retrieval.text import (
    Word,
    compose,
    fold_name,
    is_cyrillic,
    name_forms,
    name_words,
    text_forms,
)

TABLE = Path(__file__).parent / "abbreviations.csv"
MOST_WORDS = 40
"""A longer text is a paste, not a question."""
LONGEST = 3
"""Words of a short form."""
UNITS = r"lvls?|lv|levels?|лвл\w{0,2}|ур|уров\w+|левел\w{0,2}"
JOINED = (
    re.compile(rf"(?<=\d)(?=(?:{UNITS})(?![^\W\d_]))", re.IGNORECASE),
    re.compile(rf"(?<![^\W_])(?:{UNITS})(?=\d)", re.IGNORECASE),
)
"""Between a number and a unit that are written together: `5лвл`, `lvl5`."""
SHORTEST_INFLECTED = 4
"""Letters; the cases of a shorter form are ordinary words (`мод`, `мода`)."""

IsKnown = Callable[[str, str], bool]


@dataclass(frozen=True)
class Abbreviation:
    """What a short form stands for, if the text matches `beside`."""

    long: str
    beside: re.Pattern[str] | None

    def is_meant_in(self, text: str) -> bool:
        return self.beside is None or self.beside.search(text) is not None


@cache
def abbreviations() -> dict[str, Abbreviation]:
    """Return what each short form stands for, by the folded short form, in Russian also by its
    cases."""
    by_form: dict[str, Abbreviation] = {}
    with TABLE.open(encoding="utf-8", newline="") as lines:
        rows = [(each["short"].split("|"), read_row(each)) for each in csv.DictReader(lines)]
    for shorts, meaning in rows:
        by_form.update((form, meaning) for short in shorts for form in cases_of(short))
    # A short form as it stands in the table comes before a case of another.
    by_form.update((fold_name(short), meaning) for shorts, meaning in rows for short in shorts)
    return by_form


def read_row(row: dict[str, str]) -> Abbreviation:
    return Abbreviation(row["long"], re.compile(row["beside"]) if row["beside"] else None)


def cases_of(short: str) -> Iterable[str]:
    folded = fold_name(short)
    return name_forms(folded) if is_cyrillic(folded) and is_inflected(folded) else ()


def is_inflected(folded: str) -> bool:
    return " " not in folded and len(folded) >= SHORTEST_INFLECTED


def write_out(text: str, is_known: IsKnown) -> str:
    """Return `text` with short forms written out. `is_known(short, long)` tells whether the rules
    have what is written out."""
    for joint in JOINED:
        text = joint.sub(lambda match: f"{match[0]} ", text)
    composed, words = compose(text), name_words(text)
    if len(words) > MOST_WORDS:
        return text
    parts, place, plain = [], 0, composed.lower()
    while words:
        count, meaning = first_short_form(words, plain, is_known)
        if meaning:
            parts += [composed[place : words[0].start], meaning.long]
            place = words[count - 1].end
        words = words[count:]
    return "".join([*parts, composed[place:]]) if parts else text


def first_short_form(
    words: list[Word], plain: str, is_known: IsKnown
) -> tuple[int, Abbreviation | None]:
    """Return the longest short form with which `words` begin, and its number of words."""
    for count in range(min(LONGEST, len(words)), 0, -1):
        *head, last = (word.norm for word in words[:count])
        for form in text_forms(last):
            short = " ".join((*head, form))
            meaning = abbreviations().get(short)
            if meaning and meaning.is_meant_in(plain) and is_known(short, meaning.long):
                return count, meaning
    return 1, None
