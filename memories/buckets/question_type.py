"""What a question is about (its words, their stems), what kind of thing it asks for, and whether a memory offers that.

The lists stand in `question_types.yaml`, in three languages.
"""

import re
import threading
from functools import cache
from pathlib import Path
from typing import Any

import Stemmer
import yaml

from memories.similarity.compare import HANGUL, WORD, plain
from memories.similarity.lexicon import FUNCTION_WORDS
from memories.text_caches import text_cache

LISTS = Path(__file__).parent / "question_types.yaml"
QUERYING = ("как", "котор", "скольк", "무엇", "뭐", "어디", "어느", "누구", "얼마")
"""How words that ask begin, whatever their ending."""
CYRILLIC = re.compile(r"[а-я]")
NAME = re.compile(r"(?<![.!?«'\"] )(?<!^)\b[A-ZА-ЯЁ][\w-]+")
DIGITS = re.compile(r"\d+")
SHORTEST, LONGEST_ENDING = 4, 4
"""Letters a stem must share with another to be the same word, and what may follow in one of them."""

_of_thread = threading.local()
"""Stemmers: one of them must not be used by two threads at once."""


@cache
def _lists() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(LISTS.read_text(encoding="utf-8"))
    return data


@cache
def _patterns(table: str) -> dict[str, re.Pattern[str]]:
    return {kind: re.compile("|".join(lines)) for kind, lines in _lists()[table].items()}


@cache
def _idle() -> frozenset[str]:
    return FUNCTION_WORDS | {word for words in _lists()["idle"].values() for word in words.split()}


@cache
def _korean_endings() -> tuple[str, ...]:
    return tuple(sorted(_lists()["korean_endings"].split(), key=len, reverse=True))


def content_words(text: str) -> list[str]:
    """Return the words `text` is about, as they are written, each once."""
    return [
        word for word in dict.fromkeys(WORD.findall(plain(text))) if not _is_idle(word.casefold())
    ]


def _is_idle(word: str) -> bool:
    return word in _idle() or word.startswith(QUERYING)


@text_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The word without its ending: enough to match forms, however rough."""
    small = plain(word).casefold()
    if HANGUL.search(small):
        return next(
            (
                small[: -len(end)]
                for end in _korean_endings()
                if len(small) > len(end) + 1 and small.endswith(end)
            ),
            small,
        )
    return str(
        _stemmer("russian" if CYRILLIC.search(small) else "english").stemWord(
            small.removesuffix("'s")
        )
    )


def _stemmer(language: str) -> Any:
    if not hasattr(_of_thread, language):
        setattr(_of_thread, language, Stemmer.Stemmer(language))
    return getattr(_of_thread, language)


def is_same_word(one: str, other: str) -> bool:
    """Whether two stems are of one word: the same beginning and little after it."""
    if one == other or not one or one[0] != other[:1]:
        return one == other
    shared = _shared(one, other)
    if HANGUL.match(one):
        return shared >= 2
    shorter, longer = sorted((len(one), len(other)))
    return (
        shorter >= SHORTEST
        and shared >= max(SHORTEST, shorter - 2)
        and longer - shorter <= LONGEST_ENDING
    )


def _shared(one: str, other: str) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


def asked_kinds(question: str) -> list[str]:
    """Return the kinds of things it asks for (number, time, name, place, reason); none for an open question."""
    small = question.lower()
    return [kind for kind, pattern in _patterns("asks").items() if pattern.search(small)]


def has_kind(text: str, kind: str, *, to: str) -> bool:
    """Whether `text` holds something of that kind which the question `to` did not bring itself."""
    if kind == "name":
        return _offers_name(text, to=to)
    if kind == "number" and set(DIGITS.findall(text)) - set(DIGITS.findall(to)):
        return True
    return bool(_patterns("offers")[kind].search(text.lower()))


def _offers_name(text: str, *, to: str) -> bool:
    """A script without capitals hides its names: there one is taken for granted."""
    brought = [stem(word) for word in WORD.findall(to)]
    names = (stem(name) for name in NAME.findall(text))
    return bool(HANGUL.search(text)) or any(
        not any(is_same_word(name, word) for word in brought) for name in names
    )
