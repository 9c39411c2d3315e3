"""The words of a question and their stems, the kinds of things it asks for, and whether a text has
a thing of that kind. The word lists are in `question_types.yaml`, in three languages."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from memories.similarity.comparable_text import FUNCTION_WORDS, normalize_spelling
from memories.text_caches import text_cache
from retrieval.text import WORD_OR_NUMBER, cut_ending, has_hangul, is_cyrillic, snowball_stem

LISTS_FILE = Path(__file__).parent / "question_types.yaml"
# Beginnings of question words, which occur with many endings.
QUESTION_WORDS = ("как", "котор", "скольк", "무엇", "뭐", "어디", "어느", "누구", "얼마")
# A capitalised word that does not begin a sentence.
NAME = re.compile(r"(?<![.!?«'\"] )(?<!^)\b[A-ZА-ЯЁ][\w-]+")
DIGITS = re.compile(r"\d+")
# Letters that two stems of one word share at least, and letters by which they differ at most.
MIN_SHARED, MAX_ENDING = 4, 4


@cache
def word_lists() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(LISTS_FILE.read_text(encoding="utf-8"))
    return data


@cache
def kind_patterns(table: str) -> dict[str, re.Pattern[str]]:
    return {kind: re.compile("|".join(lines)) for kind, lines in word_lists()[table].items()}


@cache
def stop_words() -> frozenset[str]:
    return FUNCTION_WORDS.union(*(words.split() for words in word_lists()["idle"].values()))


@cache
def korean_endings() -> tuple[str, ...]:
    return tuple(sorted(word_lists()["korean_endings"].split(), key=len, reverse=True))


def content_words(text: str) -> list[str]:
    """Return the words of `text` as written, each once, without stop words and question words."""
    return [
        word
        for word in dict.fromkeys(WORD_OR_NUMBER.findall(normalize_spelling(text)))
        if (lower := word.casefold()) not in stop_words() and not lower.startswith(QUESTION_WORDS)
    ]


@text_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return the word without its ending, lowercase: by Snowball, in Korean by a list."""
    lower = normalize_spelling(word).casefold()
    if has_hangul(lower):
        # At least two syllables stay: shorter stems would join unrelated words.
        return cut_ending(lower, korean_endings(), min_stem=2)
    language = "russian" if is_cyrillic(lower) else "english"
    return snowball_stem(lower.removesuffix("'s"), language)


def is_same_word(one: str, other: str) -> bool:
    """Whether two stems belong to one word: a common beginning and a short rest."""
    if one == other or not one or one[0] != other[:1]:
        return one == other
    shorter, longer = sorted((len(one), len(other)))
    pairs = enumerate(zip(one, other, strict=False))
    shared = next((position for position, (a, b) in pairs if a != b), shorter)
    if has_hangul(one[0]):
        return shared >= 2
    return (
        shorter >= MIN_SHARED
        and shared >= max(MIN_SHARED, shorter - 2)
        and longer - shorter <= MAX_ENDING
    )


def asked_kinds(question: str) -> list[str]:
    """Return the kinds asked for (number, time, name, place, reason); none for an open question."""
    lower = question.lower()
    return [kind for kind, pattern in kind_patterns("asks").items() if pattern.search(lower)]


def has_kind(text: str, kind: str, *, to: str) -> bool:
    """Whether `text` holds something of the kind that the question `to` does not hold itself."""
    if kind == "name":
        # A script without capitals does not show its names: a name is assumed.
        if has_hangul(text):
            return True
        question_stems = [stem(word) for word in WORD_OR_NUMBER.findall(to)]
        names = map(stem, NAME.findall(text))
        return any(not any(is_same_word(name, word) for word in question_stems) for name in names)
    if kind == "number" and set(DIGITS.findall(text)) - set(DIGITS.findall(to)):
        return True
    return bool(kind_patterns("offers")[kind].search(text.lower()))
