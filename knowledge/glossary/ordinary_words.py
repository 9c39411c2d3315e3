"""Ordinary words of three languages: whoever writes one of them has not misspelled another."""

from functools import cache
from pathlib import Path

from retrieval.text import is_russian_word, text_forms, word_stem

FOLDER = Path(__file__).parent
SHORTEST_STEM = 4
"""Letters; a shorter stem is that of many words."""


def is_ordinary_word(word: str, language: str) -> bool:
    """Whether the folded `word` is an ordinary one, in any inflection that the language has."""
    if language == "ru":
        return is_russian_word(word)
    known = ordinary_words(language)
    if language == "ko":
        return not known.isdisjoint(text_forms(word))
    stem = word_stem(word)
    return word in known or (len(stem) >= SHORTEST_STEM and stem in ordinary_stems())


@cache
def ordinary_words(language: str) -> frozenset[str]:
    return frozenset((FOLDER / f"ordinary_words_{language}.txt").read_text("utf-8").split())


@cache
def ordinary_stems() -> frozenset[str]:
    return frozenset(map(word_stem, ordinary_words("en")))
