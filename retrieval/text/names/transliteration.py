"""How a name sounds, whatever its script: `Fireball`, `파이어볼` and `файрбол` have nearly one key.

The key holds the consonants of a name as classes that survive a transliteration: `r` and `l` are
one sound in Korean, so are `f` and `p`. Vowels are left out.
"""

import re
from functools import lru_cache

from retrieval.text.names.normalize import name_words
from retrieval.text.words import has_hangul, is_cyrillic

# Letters, and the class of their sound; the first that fits wins.
LATIN_SOUNDS = tuple(
    (re.compile(pattern), sound)
    for pattern, sound in (
        ("tch|ch(?!r)", "J"),
        ("dg(?=[ei])|j|g(?=[eiy])", "J"),
        ("sch|sh|ti(?=on)|ci(?=al|ous)", "S"),
        ("ph|f", "P"),
        ("th", "S"),
        ("igh", ""),
        ("gn(?=$)", "N"),
        ("kn|gn(?=[aeio])", "N"),
        ("wr", "R"),
        ("ck|qu|q|k|c(?![eiy])|ch", "K"),
        ("x", "KS"),
        ("c|s+|z+", "S"),
        ("p+", "P"),
        ("b+|v", "B"),
        ("t+", "T"),
        ("d+", "D"),
        ("g+", "G"),
        ("m+b?", "M"),
        ("ng|n+", "N"),
        ("l+|r+", "R"),
        ("h", "H"),
    )
)
SILENT_R = re.compile("r+(?![aeiouyr])")
"""Korean leaves out an `r` that no vowel follows: fire, 파이어."""
CYRILLIC_SOUNDS = str.maketrans(
    {
        **dict.fromkeys("пф", "P"),
        **dict.fromkeys("бв", "B"),
        **dict(zip("тдкгмнх", "TDKGMNH", strict=True)),
        **dict.fromkeys("сзшщц", "S"),
        **dict.fromkeys("жч", "J"),
        **dict.fromkeys("лр", "R"),
    }
)
# In Unicode's order: 19 initial consonants (`-` is silent) and 28 finals (the first is none).
INITIAL_SOUNDS = "GKNDDRMBBSS-JJJKTPH"
FINAL_SOUNDS = "-KKKNNNTRKMBRTPRMPPTTNJJKTPH"
SHORTEST_KEY = 3
"""Consonants that a key must have to tell one name from another."""


def sound_keys(name: str) -> frozenset[str]:
    """Return the keys of how `name` sounds, with and without the `r` that may be silent. A name of
    fewer than three consonants has none."""
    return frozenset(key for key in _all_sound_keys(name) if len(key) >= SHORTEST_KEY)


@lru_cache(20_000)
def _all_sound_keys(name: str) -> frozenset[str]:
    words = [word.norm for word in name_words(name)]
    spoken = "".join(_word_sounds(word) for word in words)
    without_r = "".join(_word_sounds(SILENT_R.sub("", word)) for word in words)
    return frozenset({spoken, without_r})


def _word_sounds(word: str) -> str:
    if has_hangul(word):
        return _without_repeats("".join(_syllable_sounds(letter) for letter in word))
    if is_cyrillic(word):
        sounds = word.replace("дж", "ж").replace("кс", "KS").translate(CYRILLIC_SOUNDS)
        return _without_repeats("".join(sound for sound in sounds if sound.isascii()))
    return _latin_sounds(word)


def _latin_sounds(word: str) -> str:
    sounds, place = [], 0
    while place < len(word):
        for pattern, sound in LATIN_SOUNDS:
            if match := pattern.match(word, place):
                sounds.append(sound)
                place = match.end()
                break
        else:
            place += 1
    return _without_repeats("".join(sounds))


def _syllable_sounds(letter: str) -> str:
    number = ord(letter) - ord("가")
    if not 0 <= number < 11_172:
        return ""
    initial, final = INITIAL_SOUNDS[number // 588], FINAL_SOUNDS[number % 28]
    return (initial + final).replace("-", "")


def _without_repeats(sounds: str) -> str:
    return re.sub(r"(.)\1+", r"\1", sounds)
