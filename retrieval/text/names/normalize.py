"""Words of a text, normalized: no case, accents or apostrophes; and short keys of them, by which a
database finds the few names that a text may mean."""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from retrieval.text.names.given_names import other_given_names
from retrieval.text.words import WORD, has_hangul

APOSTROPHES = str.maketrans("", "", "'’ʼ`")
UNDECOMPOSED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i"}
)
ARTICLES = frozenset({"the", "a", "an"})
SENTENCE_ENDS = frozenset(".!?…\n")
BREVE = "\u0306"
PREFIX = 4
"""Letters of a word in its keys."""


@dataclass(frozen=True, slots=True)
class Word:
    """`raw` as in the text at [start, end), `norm` as compared."""

    raw: str
    norm: str
    start: int
    end: int
    begins_sentence: bool = False
    """Its capital does not make it a name."""

    @property
    def capital(self) -> bool:
        """Whether it could begin a proper name: upper case, or a script without case."""
        return not self.raw[0].islower()


def name_words(text: str) -> list[Word]:
    """Return the words of `text`, articles left out (unless nothing else is there)."""
    composed, all_words, end = compose(text), [], 0
    for found in WORD.finditer(composed):
        raw, (start, stop) = found.group(), found.span()
        begins = end == 0 or not SENTENCE_ENDS.isdisjoint(composed[end:start])
        all_words.append(Word(raw, fold_word(raw), start, stop, begins))
        end = stop
    return [word for word in all_words if word.norm not in ARTICLES] or all_words


def has_article(name: str) -> bool:
    """Whether `name` begins with an article that `name_words` leaves out."""
    first = WORD.search(name)
    return first is not None and fold_word(first.group()) in ARTICLES


def fold_name(text: str) -> str:
    return " ".join(word.norm for word in name_words(text))


def compose(text: str) -> str:
    return unicodedata.normalize("NFC", text)


@lru_cache(50_000)
def fold_word(word: str) -> str:
    plain = word.translate(APOSTROPHES).casefold()
    if plain.isascii():
        return plain
    letters = unicodedata.normalize("NFKD", plain.translate(UNDECOMPOSED))
    # Without marks, except the breve of й: it tells a case ending (`ой`) from a plural (`ои`).
    base_letters = [
        letter
        for before, letter in zip(" " + letters, letters, strict=False)
        if not unicodedata.combining(letter) or (letter == BREVE and before == "и")
    ]
    return unicodedata.normalize("NFC", "".join(base_letters))


def jamo(text: str) -> str:
    """Split Hangul syllables into letters, so that a typo in one letter counts as one."""
    return unicodedata.normalize("NFD", text) if has_hangul(text) else text


def prefix_keys(*names: str) -> set[str]:
    """Return the beginnings of the words of these names, also with one letter left out."""
    norms = {word.norm for name in names for word in name_words(name)}
    return {key for norm in norms for key in keys_with_typo(jamo(norm))}


def query_keys(text: str) -> list[str]:
    """Return the keys to look for: a name in `text`, even with a typo, shares one of them."""
    norms = {word.norm for word in name_words(text)}
    norms |= {name for norm in norms for name in other_given_names(norm)}
    return sorted({key for norm in norms for key in word_keys(norm)})


@lru_cache(10_000)
def word_keys(norm: str) -> frozenset[str]:
    letters = jamo(norm)
    keys = keys_with_typo(letters)
    if has_hangul(norm):  # the particle may begin within the prefix of a short name
        keys |= {letters[:2], letters[:3]}
    return frozenset(keys)


def keys_with_typo(letters: str) -> set[str]:
    head = letters[:PREFIX]
    if len(head) < PREFIX:
        return {head}
    return {head, *(head[:n] + head[n + 1 :] for n in range(PREFIX))}
