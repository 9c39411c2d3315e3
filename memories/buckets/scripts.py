"""Which scripts a text is written in, and which one a pattern cannot match without: most cues need no try. Pure."""

import re
from collections.abc import Iterable
from re import _parser as parser  # type: ignore[attr-defined]  # what `re` itself compiles from
from typing import Any

SCRIPTS = {"latin": "a-zA-Z", "cyrillic": "\u0400-\u04ff", "hangul": "\uac00-\ud7a3"}
WITH_A_LETTER = {name: re.compile(f"[{letters}]") for name, letters in SCRIPTS.items()}
EVERYWHERE = ""
"""What a cue needs that may match in any script."""


def scripts_in(text: str) -> set[str]:
    """The scripts that occur in `text`, and `EVERYWHERE`."""
    return {EVERYWHERE, *(name for name, letter in WITH_A_LETTER.items() if letter.search(text))}


def required_script(pattern: str) -> str:
    """The script of which every match of `pattern` holds a letter, or `EVERYWHERE`."""
    tree = list(parser.parse(pattern))
    return next(
        (name for name, letter in WITH_A_LETTER.items() if _needs(tree, letter)), EVERYWHERE
    )


def _needs(nodes: Iterable[Any], letter: re.Pattern[str]) -> bool:
    return any(_node_needs(str(kind), value, letter) for kind, value in nodes)


def _node_needs(kind: str, value: Any, letter: re.Pattern[str]) -> bool:
    """One part of a pattern, by its kind; what is not known here needs nothing."""
    if kind == "LITERAL":
        return bool(letter.match(chr(value)))
    if kind == "BRANCH":
        return all(_needs(way, letter) for way in value[1])
    if kind == "SUBPATTERN":
        return _needs(value[-1], letter)
    if kind in ("MAX_REPEAT", "MIN_REPEAT"):
        return bool(value[0] > 0 and _needs(value[2], letter))
    if kind == "IN":
        return all(_item_needs(str(name), item, letter) for name, item in value)
    return False


def _item_needs(kind: str, value: Any, letter: re.Pattern[str]) -> bool:
    """One member of a set of letters: a range counts when both its ends do, for a script is one stretch of them (the
    Latin one two: a range over both holds other signs)."""
    if kind == "RANGE":
        low, high = value
        return all(
            letter.match(chr(code))
            for code in (range(low, high + 1) if high < 128 else (low, high))
        )
    return kind == "LITERAL" and bool(letter.match(chr(value)))
