"""How alike two names sound, vowels included, whatever their scripts: `Wild Shape`, `와일드 쉐이프`
and `вайлд шейп` are nearly the same.

Consonants are classes that survive a transliteration: `r` and `l` are one sound in Korean, so are
`f` and `p`. Of the vowels, five are told apart. English writes a sound in many ways, so an English
name has several pronunciations: by its letters, by the rules of its spelling, and with long vowels
in open syllables (and `ou` as in `wound`).
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import product

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
        ("ng(?![aeiou])|n+", "N"),
        ("l+|r+", "R"),
        ("h", "H"),
    )
)
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
VOWELS = frozenset("aeiou")
CONSONANT = "[bcdfgklmnpstvz]"
LONG_VOWELS = {"a": "ei", "e": "i", "i": "ai", "o": "ou", "u": "u"}
MAGIC_E = tuple(
    (re.compile(rf"{vowel}(?={CONSONANT}e[sd]?$)"), sound) for vowel, sound in LONG_VOWELS.items()
)
OPEN_SYLLABLES = (
    (re.compile("ou"), "u"),
    *(
        (re.compile(rf"{vowel}(?={CONSONANT}[aeiouy])"), sound)
        for vowel, sound in LONG_VOWELS.items()
    ),
)
VOWEL_RULES = tuple(
    (re.compile(pattern), sound)
    for pattern, sound in (
        ("igh", "ai"),
        ("i(?=re)", "ai"),
        ("a(?=ll)", "o"),
        ("i(?=(?:ld|nd)$)", "ai"),
        ("ea(?=d)", "e"),
        ("ee|ea|ie(?=ld)", "i"),
        ("oo", "u"),
        ("ou|ow", "au"),
        ("ai|ay|ey", "ei"),
        ("oi|oy", "oi"),
        ("au|aw", "o"),
        ("ew|ue", "u"),
        ("oa", "ou"),
        ("[iu](?=r(?![aeiouy]))", "o"),
        ("a(?=r(?![aeiouy]))", "a"),
        ("u(?=[^aeiouy][^aeiouy]|[^aeiouy]$)", "a"),
        ("(?<=[^aeiouy])e$", ""),
        ("(?<=[^aeiouy])e(?=s$)", ""),
        ("(?<=[^aeiouy])y$", "i"),
    )
)
ONLY_Y = re.compile(r"^([^aeiouy]+)y(s?)$")
LETTERS = tuple(
    (re.compile(pattern), sound)
    for pattern, sound in (
        ("wh?(?=[aeiouy])", "W"),
        ("r(?![aeiouyr])", "r"),
        ("ds$", "J"),
        ("re$", "r"),
        ("si(?=on)", "J"),
        *((letter, letter) for letter in "aeiou"),
        ("y", "i"),
    )
)
CYRILLIC_JOINED = (("дж", "ж"), ("кс", "KS"), ("дз", "J"), ("дс", "J"))
CYRILLIC_NG = re.compile("нг(?![аеёиоуыэюя])")
CYRILLIC_VOWELS = str.maketrans("аеэиыойуюяё", "aeeiioiuuao")
# In Unicode's order, 21 vowels of a syllable; the one that transliterations insert is silent.
HANGUL_SOUNDS = "a e a e o e o e o Wa We We o u Wo We Wi u - i i"
HANGUL_VOWELS = tuple(HANGUL_SOUNDS.split())
ADDED_I = re.compile("(?<=[JS])i$")
"""Korean adds a vowel after a final sibilant: rage, 레이지."""
NEAR_VOWELS = frozenset({"ei", "ie", "ou", "uo", "ao", "oa", "ae", "ea", "ua", "au", "oe", "eo"})
NEAR_CONSONANTS = {
    **dict.fromkeys(("TD", "KG", "PB", "SJ", "TJ", "DJ"), 0.4),
    **dict.fromkeys(("TS", "DS"), 0.5),
    "MN": 0.6,
    "WB": 0.1,
}
VOWEL, WEAK, SILENT = 0.35, 0.35, 0.1
"""Cost of a vowel that one name lacks; of `h`, `w`, `r` and `l`; and of an `r` that no vowel
follows (`r` among the sounds), which many leave out or write as a vowel."""
DIFFERENT = 9.0


def pronunciations(name: str) -> frozenset[str]:
    """Return the ways in which `name` may sound."""
    words = [word.norm for word in name_words(name)]
    ways = zip(*(variants_of(word) for word in words), strict=True)
    return frozenset(re.sub(r"([A-Zr])\1+", r"\1", "".join(way)) for way in ways)


@lru_cache(20_000)
def variants_of(word: str) -> tuple[str, str, str]:
    if has_hangul(word):
        sound = "".join(map(sound_of_syllable, word))
        return sound, sound, ADDED_I.sub("", sound)
    if is_cyrillic(word):
        sounds = word
        for letters, joined in CYRILLIC_JOINED:
            sounds = sounds.replace(letters, joined)
        sounds = CYRILLIC_NG.sub("н", sounds).translate(CYRILLIC_SOUNDS).translate(CYRILLIC_VOWELS)
        sound = "".join(each for each in sounds if each.isascii())
        return sound, sound, sound
    bare = ONLY_Y.sub(r"\1igh\2", word)
    by_rule = (*MAGIC_E, *VOWEL_RULES, *LETTERS, *LATIN_SOUNDS)
    return (
        sounds_by_rules(word, (*LETTERS, *LATIN_SOUNDS)),
        sounds_by_rules(bare, by_rule),
        sounds_by_rules(bare, (*OPEN_SYLLABLES, *by_rule)),
    )


def sounds_by_rules(word: str, rules: Iterable[tuple[re.Pattern[str], str]]) -> str:
    """Return the sounds of a Latin word: at each place those of the first rule that fits."""
    rules, sounds, place = tuple(rules), [], 0
    while place < len(word):
        for pattern, sound in rules:
            if (match := pattern.match(word, place)) and match.end() > place:
                sounds.append(sound)
                place = match.end()
                break
        else:
            place += 1
    return "".join(sounds)


def sound_of_syllable(letter: str) -> str:
    number = ord(letter) - ord("가")
    if not 0 <= number < 11_172:
        return ""
    vowel = HANGUL_VOWELS[number % 588 // 28]
    return (INITIAL_SOUNDS[number // 588] + vowel + FINAL_SOUNDS[number % 28]).replace("-", "")


def sound_similarity(name: str, other: str) -> float:
    """Return how alike (0–1) two names sound, by their most similar pronunciations."""
    pairs = product(pronunciations(name), pronunciations(other))
    return max((similarity_of_sounds(*pair) for pair in pairs), default=0.0)


@lru_cache(50_000)
def similarity_of_sounds(sounds: str, others: str) -> float:
    longest = max(sum(map(cost_of, sounds)), sum(map(cost_of, others)))
    return max(0.0, 1 - distance(sounds, others) / longest) if longest else 0.0


def distance(sounds: str, others: str) -> float:
    """Return the least cost of the changes that make one of the other."""
    costs = [0.0]
    for other in others:
        costs.append(costs[-1] + cost_of(other))
    for sound in sounds:
        diagonal, costs[0] = costs[0], costs[0] + cost_of(sound)
        for place, other in enumerate(others, start=1):
            changed = diagonal + cost_of_change(sound, other)
            diagonal = costs[place]
            costs[place] = min(
                changed, diagonal + cost_of(sound), costs[place - 1] + cost_of(other)
            )
    return costs[-1]


def cost_of(sound: str) -> float:
    if sound in VOWELS:
        return VOWEL
    if sound == "r":
        return SILENT
    return WEAK if sound in "HWR" else 1.0


@lru_cache
def cost_of_change(sound: str, other: str) -> float:
    if sound == other:
        return 0.0
    if sound in VOWELS and other in VOWELS:
        return 0.15 if sound + other in NEAR_VOWELS else 0.35
    if {sound, other} in ({"W", "u"}, {"r", "o"}, {"r", "a"}):
        return 0.1
    if {sound, other} == {"r", "R"}:
        return 0.0
    if sound in VOWELS or other in VOWELS:
        return DIFFERENT
    return NEAR_CONSONANTS.get(sound + other, NEAR_CONSONANTS.get(other + sound, 1.0))
