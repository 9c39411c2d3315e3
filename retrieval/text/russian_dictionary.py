"""The dictionary of Russian: what a word may be, and whether there is such a word."""

from functools import cache, lru_cache
from typing import Any

PROPER = frozenset({"Name", "Surn", "Patr", "Geox", "Orgn", "Trad", "Abbr"})
"""Tags of proper names and abbreviations."""


@cache
def russian_analyzer() -> Any:
    # Reading its dictionaries takes a moment, which programs without Russian texts do not need.
    import pymorphy3

    return pymorphy3.MorphAnalyzer(lang="ru")


@lru_cache(20_000)
def is_russian_word(word: str) -> bool:
    """Whether the dictionary has `word`, in any inflection, and not as a proper name alone."""
    readings = russian_analyzer().parse(word)
    return any(each.is_known and PROPER.isdisjoint(each.tag.grammemes) for each in readings)


@lru_cache(20_000)
def dictionary_forms(word: str) -> frozenset[str]:
    """Return the words of the dictionary that `word` may be a form of."""
    readings = russian_analyzer().parse(word)
    return frozenset(each.normal_form.replace("ё", "е") for each in readings if each.is_known)
