"""Words: what counts as one, in which script and language it is, and its stem, by which the forms
of one word compare as equal."""

import re
import threading
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from Stemmer import Stemmer

WORD = re.compile(r"[^\W_]+(?:['’ʼ`][^\W_]+)*")
"""Letters and digits, with apostrophes inside: `Ferrymen's`, `K9`."""
WORD_OR_NUMBER = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+(?:[.,:/]\d+)*")
"""Letters or digits, never both; a number keeps its separators: `3.5`, `10:30`."""

ENGLISH_ENDINGS = ("ingly", "edly", "ing", "ies", "ed", "es", "ly", "s", "'s")
KOREAN_VERB_ENDINGS = ("습니다", "는다", "어요", "아요", "요", "\u11b8니다", "\u11ab다", "다")
_KOREAN_VERB_ENDING = re.compile(
    f"(?:{'|'.join(unicodedata.normalize('NFD', ending) for ending in KOREAN_VERB_ENDINGS)})$"
)
# A Snowball stemmer must not be used by two threads at once, so each thread has its own.
_stemmers = threading.local()


CYRILLIC = ("be", "bg", "kk", "mk", "ru", "sr", "uk")
OTHER_SCRIPTS = (*CYRILLIC, "ar", "el", "fa", "he", "hi", "hy", "ja", "ka", "ko", "th", "zh")
"""Languages that are not written in Latin script."""


def guess_language(text: str) -> str:
    """Tell Korean and Russian by their script; everything else is taken for English."""
    sample = text[:4000]
    hangul = len(re.findall(r"[\uac00-\ud7a3]", sample))
    cyrillic = len(re.findall(r"[\u0400-\u04ff]", sample))
    latin = len(re.findall(r"[A-Za-z]", sample))
    if hangul * 2 > max(cyrillic, latin):
        return "ko"
    return "ru" if cyrillic > latin else "en"


def has_hangul(text: str) -> bool:
    return not text.isascii() and any("가" <= letter <= "힣" for letter in text)


def is_cyrillic(text: str) -> bool:
    return any("а" <= letter <= "я" for letter in text)


def snowball_stem(word: str, language: str) -> str:
    """Return the Snowball stem of a lower-case `word`; `language` is `russian` or `english`."""
    if not hasattr(_stemmers, language):
        setattr(_stemmers, language, Stemmer(language))
    return str(getattr(_stemmers, language).stemWord(word))


@lru_cache(20_000)
def word_stem(word: str) -> str:
    """Return the Snowball stem of a folded word by its script; a Korean word as it is."""
    if has_hangul(word):
        return word
    return snowball_stem(word, "russian" if is_cyrillic(word) else "english")


def light_stem(word: str) -> str:
    """Return a rough stem by one rule set for English, Russian and Korean."""
    if has_hangul(word):
        # Verbs lose their ending, plain or polite: 한다, 합니다 and 해요 are one.
        letters = unicodedata.normalize("NFD", word)
        bare = unicodedata.normalize("NFC", _KOREAN_VERB_ENDING.sub("", letters))
        return bare.removesuffix("해") + "하" if bare.endswith("해") else bare
    for ending in ENGLISH_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word[:-2] if len(word) > 6 and not word.isascii() else word


def cut_ending(word: str, endings: Iterable[str], *, min_stem: int) -> str:
    """Return `word` without the first of `endings` that leaves at least `min_stem` characters."""
    fitting = (ending for ending in endings if len(word) >= len(ending) + min_stem)
    return next((word[: -len(ending)] for ending in fitting if word.endswith(ending)), word)
