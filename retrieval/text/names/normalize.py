"""Words of a text with their place, folded: no case, no accents, no apostrophes; and short keys of
them, by which a database finds the few names that a text may mean."""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from retrieval.text.words import WORD, has_hangul

APOSTROPHES = str.maketrans("", "", "'’ʼ`")
UNDECOMPOSED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i"}
)
ARTICLES = frozenset({"the", "a", "an"})
BREVE = "\u0306"
PREFIX = 4
"""Letters of a word in its keys."""


@dataclass(frozen=True, slots=True)
class Word:
    """`raw` as written at [start, end), `folded` as compared."""

    raw: str
    norm: str
    start: int
    end: int

    @property
    def capital(self) -> bool:
        """Whether it could begin a proper name: upper case, or a script without case."""
        return not self.raw[0].islower()


def name_words(text: str) -> list[Word]:
    """Return the words of `text`, articles left out (unless nothing else is there)."""
    all_words = [
        Word(m.group(), fold_word(m.group()), m.start(), m.end())
        for m in WORD.finditer(compose(text))
    ]
    return [word for word in all_words if word.norm not in ARTICLES] or all_words


def fold_name(text: str) -> str:
    return " ".join(word.norm for word in name_words(text))


def compose(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def fold_word(word: str) -> str:
    plain = word.translate(APOSTROPHES).casefold()
    if plain.isascii():
        return plain
    plain = plain.translate(UNDECOMPOSED)
    return unicodedata.normalize(
        "NFC", "".join(_base_letters(unicodedata.normalize("NFKD", plain)))
    )


def _base_letters(letters: str) -> list[str]:
    """Drop the marks, but keep the breve of Cyrillic й: it tells a case ending (`ой`) from a plural
    (`ои`)."""
    return [
        letter
        for before, letter in zip(" " + letters, letters, strict=False)
        if not unicodedata.combining(letter) or (letter == BREVE and before == "и")
    ]


def jamo(text: str) -> str:
    """Split Hangul syllables into letters, so that a typo in one letter counts as one."""
    return unicodedata.normalize("NFD", text) if has_hangul(text) else text


def name_keys(*names: str) -> list[str]:
    """Return the keys to store with a thing of these names."""
    return sorted(
        {
            key
            for name in names
            for word in name_words(name)
            for key in keys_with_typo(jamo(word.norm))
        }
    )


def query_keys(text: str) -> list[str]:
    """Return the keys to look for: a name in `text`, even with one slip in its first letters,
    shares one."""
    return sorted(frozenset().union(*(word_keys(word.norm) for word in name_words(text))))


@lru_cache(10_000)
def word_keys(folded: str) -> frozenset[str]:
    letters = jamo(folded)
    keys = keys_with_typo(letters)
    if has_hangul(folded):  # the particle may begin within the prefix of a short name
        keys |= {letters[:2], letters[:3]}
    return frozenset(keys)


def keys_with_typo(letters: str) -> set[str]:
    head = letters[:PREFIX]
    if len(head) < PREFIX:
        return {head}
    return {head, *(head[:n] + head[n + 1 :] for n in range(PREFIX))}
