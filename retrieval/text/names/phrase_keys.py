"""Keys of whole names and of their parts, equal for every inflection.

A thing is stored with the keys of its names, a text is looked up by the keys of its spans: whatever
`NameIndex` finds in the text without a typo shares one with it. So a database finds these few among
any number of names. Different words may share a key; the index then compares them in full.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import product

from retrieval.text.names.given_names import other_given_names
from retrieval.text.names.inflections import name_forms, text_forms
from retrieval.text.names.normalize import Word, jamo, name_words, prefix_keys
from retrieval.text.names.parts import MAX_PART_WORDS, has_patronymic, name_parts, quoted_names
from retrieval.text.words import is_cyrillic

MAX_JOINED = 3
"""Words of a text that a name may write as one."""
WHOLE, PART, JOINED, MISSPELT = "=", "~", "+", "-"
LONGEST_MISSPELT = 12
"""Letters of a word in its keys with a typo."""
DIGEST_BYTES = 6
ENGLISH_ENDINGS = re.compile("(?:e?s)+$")
RUSSIAN_ENDINGS = re.compile("(?<=..)[аеиоуыэюяйьмхвг]+$")
FLEETING_VOWEL = re.compile("[ео](?=[цкнл]$)")


@dataclass(frozen=True, slots=True)
class PhraseKeys:
    """The keys of the spans of a text: of names that stand there whole, and of parts of names."""

    whole: Sequence[str]
    parts: Sequence[str]


def name_keys(*names: str) -> list[str]:
    """Return the keys to store with a thing of these names: those of its phrases, and of its words
    with a typo and by their beginnings."""
    misspelt = (misspelt_keys(word.norm) for name in names for word in name_words(name))
    return sorted(prefix_keys(*names).union(*misspelt, *map(phrase_keys, names)))


@lru_cache(50_000)
def misspelt_keys(norm: str) -> frozenset[str]:
    """Return the keys of a folded word, for storing and for looking up: two words that differ by
    one letter (other, missing, added, swapped with the next) share one of them, and few others do.

    The symmetric deletion of SymSpell, over stems and Korean letters.
    """
    stems = {jamo(stem_of_form(form))[:LONGEST_MISSPELT] for form in text_forms(norm)}
    deletions = {stem[:n] + stem[n + 1 :] for stem in stems for n in range(len(stem))}
    return frozenset(MISSPELT + each for each in stems | deletions if len(each) > 1)


def text_phrase_keys(text: str) -> PhraseKeys:
    """Return the keys to look for: the names that `text` holds share one of them."""
    words = name_words(text)
    whole, parts = set[str](), set[str]()
    for begin, word in enumerate(words):
        first_words = (word.norm, *other_given_names(word.norm))
        for count in range(1, min(MAX_PART_WORDS, len(words) - begin) + 1):
            rest = [each.norm for each in words[begin + 1 : begin + count]]
            for first in first_words:
                for phrase in _phrases_of_text([first, *rest]):
                    whole.add(_digest(WHOLE, phrase))
                    parts.add(_digest(PART, phrase))
        for count in range(1, min(MAX_JOINED, len(words) - begin) + 1):
            joined = "".join(each.norm for each in words[begin : begin + count])
            whole |= {_digest(JOINED, form) for form in text_forms(joined)}
    return PhraseKeys(sorted(whole), sorted(parts))


@lru_cache(50_000)
def spelled_keys(name: str) -> frozenset[str]:
    """Return the keys to look for a name by, correctly spelled and perhaps inflected: `name` is
    nothing but a name. A thing of that name has one of them among its `name_keys`."""
    norms = [word.norm for word in name_words(name)]
    if not norms:
        return frozenset()
    whole = {_digest(WHOLE, phrase) for phrase in _phrases_of_text(norms[:MAX_PART_WORDS])}
    return frozenset(whole | {_digest(JOINED, form) for form in text_forms("".join(norms))})


@lru_cache(20_000)
def phrase_keys(name: str) -> frozenset[str]:
    words = tuple(name_words(name))
    if not words:
        return frozenset()
    keys = {_digest(JOINED, "".join(word.norm for word in words))}
    keys |= {_digest(WHOLE, phrase) for phrase in _phrases_of_name(words)}
    spans = [words[begin:end] for begin, end in name_parts(words) if end - begin < len(words)]
    if has_patronymic(words):
        spans.append((words[0], words[2]))
    keys |= {_digest(PART, phrase) for span in spans for phrase in _phrases_of_name(span)}
    return frozenset(keys.union(*map(phrase_keys, quoted_names(name))))


def _phrases_of_name(words: Iterable[Word]) -> Iterator[str]:
    forms = [
        {stem_of_form(form) for form in name_forms(word.norm, word.raw)}
        for word in tuple(words)[:MAX_PART_WORDS]
    ]
    return map(" ".join, product(*forms))


def _phrases_of_text(norms: list[str]) -> Iterator[str]:
    """Yield the span as a phrase; its last word also without Korean particles."""
    head = [stem_of_form(norm) for norm in norms[:-1]]
    for last in text_forms(norms[-1]):
        yield " ".join([*head, stem_of_form(last)])


@lru_cache(50_000)
def stem_of_form(word: str) -> str:
    """Return what (nearly) all inflected forms of a folded word share."""
    if is_cyrillic(word):
        return FLEETING_VOWEL.sub("", RUSSIAN_ENDINGS.sub("", word))
    return ENGLISH_ENDINGS.sub("", word) or word


def _digest(kind: str, phrase: str) -> str:
    return kind + blake2b(phrase.encode(), digest_size=DIGEST_BYTES).hexdigest()
