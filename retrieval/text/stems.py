"""Words without their endings, so that the forms of one word compare as equal."""

import re
import threading
import unicodedata
from collections.abc import Iterable

from Stemmer import Stemmer

from retrieval.text.scripts import has_hangul

ENGLISH_ENDINGS = ("ingly", "edly", "ing", "ies", "ed", "es", "ly", "s", "'s")
KOREAN_VERB_ENDINGS = ("습니다", "는다", "어요", "아요", "요", "\u11b8니다", "\u11ab다", "다")
_KOREAN_VERB_ENDING = re.compile(
    f"(?:{'|'.join(unicodedata.normalize('NFD', ending) for ending in KOREAN_VERB_ENDINGS)})$"
)
# A Snowball stemmer must not be used by two threads at once, so each thread has its own.
_stemmers = threading.local()


def snowball_stem(word: str, language: str) -> str:
    """Return the Snowball stem of a lower-case `word`; `language` is Snowball's name of it
    (russian, english)."""
    if not hasattr(_stemmers, language):
        setattr(_stemmers, language, Stemmer(language))
    return str(getattr(_stemmers, language).stemWord(word))


def light_stem(word: str) -> str:
    """Return a rough stem, one rule set for three languages: it matches forms and joins few
    different words."""
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
