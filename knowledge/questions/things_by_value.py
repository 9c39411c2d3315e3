"""Questions that name a value instead of a thing: "AC 15", "CR 17 dragon", "оружие 2к6".

`wanted_things` reads what the question says of the things: the kinds of rules, what their texts
hold (a value behind its label, dice, a price), and other words, which narrow them down where they
can.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.questions.values import (
    FRAME,
    LONGEST,
    MONSTER,
    SPELL,
    THING,
    VALUES,
    WORD,
    Value,
)

MOST_OTHER_WORDS = 3
"""A question with more other words asks for something else."""
DICE = re.compile(r"(?<![^\W_])(\d{1,2})\s?[dдк](\d{1,3})(?!\w)")
PRICE = re.compile(
    r"(?<![\w.])(\d{1,3}(?:[ ,.]\d{3})+|\d+)\s?"
    r"(?:(gp|gold(?:\s(?:pieces?|coins?))?|зм|золот\w*|골드|금화)|(sp|silver|см|серебр\w*|은화)"
    r"|(cp|coppers?|мм|медяк\w*|медн\w*|동화))(?!\w)(?:\s(?:монет\w*|pieces?|coins?))?"
)
PRICE_LABELS = "Cost|Price|Цена|Стоимость|가격"
COINS = ("gp", "sp", "cp")
NUMBER = r"(\d+(?:/\d+)?)"
BEHIND_LABEL = r":?\s*\|?\s*"
"""Between a label in bold and its value: a blank, or the border of a table's cells."""
LABELLED = re.compile(rf"(?<![\w/])([^\W\d_]{{2,20}})\s{NUMBER}(?![\w/])")
"""A number behind a label that only the texts of one game have: "rank 4", "PD 17"."""
NUMBERED = tuple(
    (
        value,
        re.compile(rf"(?:{value.words.pattern})\W{{0,3}}(?:of |is )?{NUMBER}(?!\w)"),
        re.compile(rf"(?<![\w/]){NUMBER}\W{{0,2}}(?:의 )?(?:{value.words.pattern})"),
    )
    for value in VALUES
    if {"AC", "HP", "CR"} & {*value.labels}
)
"""Values that players give instead of a name, each with what matches its number behind and before
the words for it."""


@dataclass(frozen=True)
class KindOfThing:
    """A word of `words` asks for rules of `kind` whose text matches `category`, if any."""

    words: re.Pattern[str]
    kind: str
    category: str = ""


KINDS = (
    KindOfThing(
        re.compile(r"\bweapons?\b|\bоруж\w+|무기\w*"),
        THING,
        rf"\*\*Category\*\*{BEHIND_LABEL}Weapon",
    ),
    KindOfThing(
        re.compile(r"\barmou?rs?\b|\bдоспех\w*|\bброн(?:я|и|ю|ей|е)\b|(?:갑옷|방어구)\w*"),
        THING,
        rf"\*\*Category\*\*{BEHIND_LABEL}Armor",
    ),
    KindOfThing(
        re.compile(r"\bspells?\b|\bcantrips?\b|\bзаклинани\w+|\bзаговор\w*|주문\w*|마법\w*"), SPELL
    ),
    KindOfThing(
        re.compile(
            r"\bmonsters?\b|\bcreatures?\b|\benem(?:y|ies)\b|\bfoes?\b|\bмонстр\w*|\bсуществ\w+|\bчудовищ\w+"
            r"|\bвраг\w*|(?:몬스터|괴물|크리쳐|크리처)\w*"
        ),
        MONSTER,
    ),
)


@dataclass(frozen=True)
class WantedThings:
    """What the texts of the rules must match, and the other words of the question."""

    kinds: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()
    """Regular expressions of PostgreSQL."""
    words: tuple[str, ...] = ()
    values: tuple[Value, ...] = ()
    has_kind: bool = False
    """The question has a word for the kind, so other words need not be of the thing."""

    def __bool__(self) -> bool:
        return bool(self.patterns)


def wanted_things(text: str) -> WantedThings:
    """Return the things that a question asks for by their values; none if it gives no value, or
    says more."""
    if len(text) > LONGEST:
        return WantedThings()
    plain = text.lower().replace("ё", "е")
    rest, values, patterns = numbered_values(plain)
    kinds = frozenset(kind for each in values for kind in each.kinds)
    asked = [each for each in KINDS if each.words.search(rest)]
    rest, prices = prices_in(rest)
    rest, dice = (rest, []) if not asked else dice_in(rest)
    patterns += [*prices, *dice]
    rest, labelled = labelled_in(rest) if asked else (rest, [])
    patterns += labelled
    for each in asked:
        rest = each.words.sub(" ", rest)
        patterns += [each.category] if each.category and patterns else []
    words = tuple(word for word in WORD.findall(rest) if not FRAME.fullmatch(word))
    if not patterns or len(words) > MOST_OTHER_WORDS or any(map(str.isdigit, "".join(words))):
        return WantedThings()
    own = frozenset(each.kind for each in asked)
    return WantedThings(
        own or kinds or frozenset({THING}), tuple(patterns), words, tuple(values), bool(own)
    )


def numbered_values(plain: str) -> tuple[str, list[Value], list[str]]:
    """Return the text without the values it gives with their numbers, these values, and what a text
    holds that has them."""
    values, patterns = [], []
    for each, before, behind in NUMBERED:
        if each.is_asked_in(plain) and (given := before.search(plain) or behind.search(plain)):
            values.append(each)
            patterns.append(pattern_of_value(each.labels, given[1]))
            plain = plain.replace(given[0], " ")
    return plain, values, patterns


def labelled_in(plain: str) -> tuple[str, list[str]]:
    """Return the text without the numbers behind other words, and what a text holds that has
    them."""
    found = list(LABELLED.finditer(plain))
    return LABELLED.sub(" ", plain), [pattern_of_value([each[1]], each[2]) for each in found]


def pattern_of_value(labels: Sequence[str], number: str) -> str:
    """A label in bold before the number, or a line of statistics: `12 HP, 1 Armor, 15 STR`."""
    any_label = "|".join(map(re.escape, labels))
    behind = rf"\*\*(?:{any_label})[:.]?\*\*{BEHIND_LABEL}{number}(?![\d/])"
    return rf"(?i){behind}|(?:^|\n|, ){number} (?:{any_label})(?=[,\n]|$)"


def prices_in(plain: str) -> tuple[str, list[str]]:
    prices = []
    for match in PRICE.finditer(plain):
        digits = re.sub(r"\D", "", match[1])
        coin = next(coin for coin, name in zip(COINS, match.groups()[1:], strict=True) if name)
        amount = f"{digits[:-3]},?{digits[-3:]}" if len(digits) > 3 else digits
        prices.append(rf"\*\*(?:{PRICE_LABELS})\*\*{BEHIND_LABEL}{amount} {coin}")
    return PRICE.sub(" ", plain), prices


def dice_in(plain: str) -> tuple[str, list[str]]:
    return DICE.sub(" ", plain), [rf"\m{each[1]}d{each[2]}\M" for each in DICE.finditer(plain)]
