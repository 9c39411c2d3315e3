"""Names in other scripts by their sound: `Khan Tugarin` asks for `Хан Тугарин`.

A thing is stored with keys of how its names and their parts sound, a name in a text is looked up by
the same keys of things whose names are in other scripts. Their consonants alone make a key, as
scripts agree about them most; what a database finds by it is compared in full.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import product

from retrieval.text.names.index import NameSpelling, spellings_of
from retrieval.text.names.inflections import text_forms
from retrieval.text.names.normalize import name_words
from retrieval.text.names.other_scripts import SCRIPTS, other_spellings, script_of
from retrieval.text.names.phrase_keys import stem_of_form
from retrieval.text.names.transliteration import pronunciations, similarity_of_sounds

SOUND = "*"
LONGEST_KEY = 14
"""Consonants in a key, which has two more characters."""
SHORTEST_KEY = 2
FEW_CONSONANTS = 3
LEAST_SIMILARITY, LEAST_OF_SHORT = 0.84, 0.9
"""Likeness from which two names sound the same; of names with few consonants."""
PART = 0.9
"""Share of the likeness that counts when the name has more words."""
NO_CONSONANTS = re.compile("[^A-Za-z]|[aeiou]|W|(?<=S)H")
REPEATED = re.compile(r"(.)\1+")
CLASSES = str.maketrans("BDGHJ", "PTKKS")


@lru_cache(20_000)
def sound_keys(name: str) -> frozenset[str]:
    """Return the keys to store with a thing of this name."""
    mark = SOUND + script_of(name)[0]
    parts = {spoken_text(each) for each in spellings_of(name)}
    return frozenset(mark + each for part in parts for each in consonants_of(part))


def text_sound_keys(text: str) -> frozenset[str]:
    """Return the keys to look for: things with a name in another script that sounds like `text`
    have one of them."""
    own = script_of(text)
    marks = [SOUND + script[0] for script in SCRIPTS if script != own]
    spoken = (each for form in spoken_forms(text) for each in pronunciations(form))
    heard = keys_of_sounds(spoken)
    return frozenset(mark + key for mark in marks for key in heard)


def similarity_across_scripts(text: str, names: Iterable[str]) -> float:
    """Return how alike (0–1) `text` and the likest of `names` in other scripts sound, by a part of
    a name a little less; 0 for what does not sound the same."""
    own = script_of(text)
    spoken = frozenset[str]().union(*map(pronunciations, spoken_forms(text)))
    keys = keys_of_sounds(spoken)
    others = (each for name in names if script_of(name) != own for each in spellings_of(name))
    alike = (
        _similarity(spoken, each) for each in others if keys & consonants_of(spoken_text(each))
    )
    return max(alike, default=0.0)


def _similarity(spoken: frozenset[str], spelling: NameSpelling) -> float:
    name = spoken_text(spelling)
    is_short = max(map(len, consonants_of(name)), default=0) <= FEW_CONSONANTS
    least = LEAST_OF_SHORT if is_short else LEAST_SIMILARITY
    alike = max(similarity_of_sounds(*pair) for pair in product(spoken, all_pronunciations(name)))
    return alike * (PART if spelling.kind == "part" else 1) if alike >= least else 0.0


def spoken_text(spelling: NameSpelling) -> str:
    return " ".join(word.raw for word in spelling.words)


@lru_cache(2_000)
def spoken_forms(text: str) -> tuple[str, ...]:
    """Return `text`, and without what an inflection or particles may have added."""
    norms = [word.norm for word in name_words(text)]
    if not norms:
        return ()
    bare = [" ".join([*norms[:-1], last]) for last in text_forms(norms[-1])]
    return tuple(dict.fromkeys([text, *bare, " ".join(map(stem_of_form, norms))]))


@lru_cache(20_000)
def all_pronunciations(name: str) -> frozenset[str]:
    """Return the pronunciations of `name`, also as it would be spelled in other scripts."""
    return frozenset[str]().union(*map(pronunciations, (name, *other_spellings(name))))


@lru_cache(20_000)
def consonants_of(name: str) -> frozenset[str]:
    """Return the consonants of the ways in which `name` may sound, as classes."""
    return keys_of_sounds(all_pronunciations(name))


def keys_of_sounds(spoken: Iterable[str]) -> frozenset[str]:
    keys = (key for each in spoken for key in _classes(each))
    return frozenset(key for key in keys if len(key) >= SHORTEST_KEY)


def _classes(sounds: str) -> Iterator[str]:
    # An `r` that no vowel follows is silent in English and Korean, but not in Russian.
    for heard in {sounds.replace("r", "R"), sounds.replace("r", "")}:
        consonants = NO_CONSONANTS.sub("", heard).translate(CLASSES)
        yield REPEATED.sub(r"\1", consonants)[:LONGEST_KEY]
