"""Words of a text with their place, folded: no case, no accents, no apostrophes."""

import unicodedata
from dataclasses import dataclass

from retrieval.text.scripts import has_hangul
from retrieval.text.words import WORD

APOSTROPHES = str.maketrans("", "", "'’ʼ`")
UNDECOMPOSED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i"}
)
ARTICLES = frozenset({"the", "a", "an"})
BREVE = "\u0306"


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
