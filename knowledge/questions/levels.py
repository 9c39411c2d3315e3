"""Questions about a level: "third-level slots of a level 5 wizard" asks for one row of a table."""

import re
from collections.abc import Iterable

from knowledge.questions.everyday import Saying
from knowledge.questions.numbers import ORDINALS_EN, UNITS_EN, value_of

ORDINAL_LEVELS = {word: n for word, n in ORDINALS_EN.items() if n <= 20}
NUMBER = rf"(?:\d{{1,2}}|{'|'.join((*UNITS_EN[1:], 'twenty'))})"
ORDINAL = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{'|'.join(ORDINAL_LEVELS)})"
SPELL_RU = "(?:закл|спел|слот|ячей|ячеек)"
LEVELS = (
    re.compile(rf"\b(?:level|lvl)\s+(?P<level>{NUMBER})\b(?P<of_spell>\s+(?:spell|slot))?"),
    re.compile(rf"\b(?P<level>{ORDINAL})[\s-]+(?:level|lvl)\b(?P<of_spell>\s+(?:spell|slot))?"),
    re.compile(
        rf"(?P<of_spell>\b{SPELL_RU}\w*\s+)?\b(?P<level>\d{{1,2}}|[а-я]+)(?:-?\w{{1,3}})?\s+"
        rf"уров\w*(?P<after>\s+{SPELL_RU})?"
    ),
    re.compile(rf"\bуров\w*\s+(?P<level>\d{{1,2}})\b(?P<of_spell>\s+{SPELL_RU})?"),
    re.compile(r"(?P<level>\d{1,2})\s?(?:레벨|렙)(?P<of_spell>\s?(?:주문|슬롯))?"),
    re.compile(r"(?:레벨|렙)\s?(?P<level>\d{1,2})(?P<of_spell>\s?(?:주문|슬롯))?"),
)
HIGHEST_LEVEL = 20
ADVANCEMENT = "Character Advancement"
LONGEST = 1000
MOST_NAMES = 4
SPELLS = re.compile(r"\bspells?\b|\bcantrips?\b|заклин|заговор|주문|소마법|캔트립")


def levels_in(text: str) -> list[int]:
    """Return the levels of characters that `text` names, not those of spells and slots."""
    plain = text[:LONGEST].lower().replace("ё", "е")
    found = (match for pattern in LEVELS for match in pattern.finditer(plain))
    levels = (read_level(match["level"]) for match in found if not is_of_spell(match))
    return list(dict.fromkeys(level for level in levels if 1 <= level <= HIGHEST_LEVEL))


def is_of_spell(match: re.Match[str]) -> bool:
    words = match.groupdict()
    return bool(words["of_spell"] or words.get("after"))


def read_level(text: str) -> int:
    """Return the number that `text` writes as a cardinal or an ordinal; 0 if it is none."""
    digits = re.match(r"\d+", text)
    return int(digits[0]) if digits else value_of(text) or 0


def asks_for_spells(text: str) -> bool:
    return SPELLS.search(text.lower()) is not None


def rules_of_levels(text: str, names: Iterable[str]) -> list[Saying]:
    """Return the titles of the rules that hold the tables' rows for the levels in `text` and the
    names it mentions, as far as there are such; without a name, the table for all classes."""
    levels = levels_in(text)
    owners = list(dict.fromkeys(names))[:MOST_NAMES]
    titles = [f"{owner}, level {level}" for owner in owners for level in levels]
    if asks_for_spells(text):
        titles += [f"{owner} spells, level {level}" for owner in owners for level in levels]
        titles += [f"{owner} cantrips" for owner in owners]
    sayings = [Saying(title, 1.0) for title in titles]
    return [*sayings, Saying(ADVANCEMENT, 0.75)] if levels else sayings
