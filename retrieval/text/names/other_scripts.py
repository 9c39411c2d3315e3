"""Spell a name in another script, letter by letter: `Mira Voss`, `Мира Восс`, `미라 보스`.

A suggestion for people to correct: how English spells a name does not tell how it is spoken.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from retrieval.text.names.normalize import fold_word
from retrieval.text.words import WORD, has_hangul, is_cyrillic

Script = Literal["latin", "cyrillic", "hangul"]
SCRIPTS: tuple[Script, ...] = ("latin", "cyrillic", "hangul")


def _pairs(text: str) -> dict[str, str]:
    """Read `sh=ш ch=ч`."""
    return dict(pair.split("=") for pair in text.split())


LATIN_TO_CYRILLIC = _pairs(
    "shch=щ sch=ш sh=ш ch=ч th=т ph=ф kh=х zh=ж ts=ц ck=к qu=кв ee=и oo=у ya=я yu=ю yo=ё ye=е"
    " ce=се ci=си cy=си a=а b=б c=к d=д e=е f=ф g=г h=х i=и j=дж k=к l=л m=м n=н o=о p=п q=к"
    " r=р s=с t=т u=у v=в w=в x=кс y=и z=з"
)
CYRILLIC_TO_LATIN = _pairs(
    "а=a б=b в=v г=g д=d е=e ж=zh з=z и=i й=y к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f х=kh"
    " ц=ts ч=ch ш=sh щ=shch ъ= ы=y ь= э=e ю=yu я=ya"
)
# A Hangul syllable is an initial, a vowel and a final, each with its number in Unicode's order.
ROMAN_INITIALS = "g kk n d tt r m b pp s ss - j jj ch k t p h".split()  # noqa: SIM905
ROMAN_VOWELS = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split()  # noqa: SIM905
ROMAN_FINALS = "- k k k n n n t l k m l l l p l m p p t t ng t t k t p t".split()  # noqa: SIM905
INITIALS = {name: number for number, name in enumerate(ROMAN_INITIALS)}
VOWELS = {name: number for number, name in enumerate(ROMAN_VOWELS)}
FINALS = {"": 0, "k": 1, "n": 4, "l": 8, "m": 16, "p": 17, "t": 19, "ng": 21}
FIRST_SYLLABLE = ord("가")

# Sounds of a name in Latin letters, the longest first, as Korean writes them.
SOUND = re.compile("shch|sch|sh|ch|th|ph|kh|zh|ts|ck|qu|ng(?![aeiouy])|ee|oo|([a-z])\\1|[a-z]")
SOUND_CONSONANTS = _pairs(
    "b=b c=k d=d f=p g=g h=h j=j k=k l=l m=m n=n p=p q=k r=r s=s t=t v=b z=j sh=s sch=s shch=s"
    " ch=ch th=s ph=p kh=h zh=j ts=ch ck=k ng=ng"
)
SOFT = ("sh", "sch", "shch")
SOUND_VOWELS = _pairs("a=a e=e i=i o=o u=u y=i ee=i oo=u")
GLIDES = {
    "y": _pairs("a=ya e=ye i=i o=yo u=yu ee=i oo=yu"),
    "w": _pairs("a=wa e=we i=wi o=wo u=u ee=wi oo=u"),
}


def script_of(name: str) -> Script:
    if has_hangul(name):
        return "hangul"
    return "cyrillic" if is_cyrillic(name.casefold()) else "latin"


def spell_name(name: str, script: Script) -> str:
    """Return `name` in the letters of `script`, word by word."""
    own = script_of(name)
    if own == script:
        return name
    return WORD.sub(lambda match: _spell_word(match.group(), own, script), name)


def other_spellings(name: str, known: Iterable[str] = ()) -> list[str]:
    """Return `name` in each script that neither it nor any of the `known` names is in."""
    scripts = {script_of(each) for each in (name, *known)}
    return [spell_name(name, script) for script in SCRIPTS if script not in scripts]


def _spell_word(word: str, own: Script, script: Script) -> str:
    if not any(letter.isalpha() for letter in word):
        return word
    latin = _latin(word, own)
    if script == "hangul":
        return _hangul(latin)
    spelled = latin if script == "latin" else _cyrillic(latin)
    return spelled[:1].upper() + spelled[1:] if own == "hangul" or word[0].isupper() else spelled


def _latin(word: str, own: Script) -> str:
    folded = fold_word(word)
    if own == "cyrillic":
        return "".join(CYRILLIC_TO_LATIN.get(letter, letter) for letter in folded)
    return "".join(map(_roman, folded)) if own == "hangul" else folded


def _roman(syllable: str) -> str:
    number = ord(syllable) - FIRST_SYLLABLE
    if not 0 <= number < 11_172:
        return syllable
    initial, rest = divmod(number, 588)
    parts = (ROMAN_INITIALS[initial], ROMAN_VOWELS[rest // 28], ROMAN_FINALS[rest % 28])
    return "".join(parts).replace("-", "")


def _cyrillic(latin: str) -> str:
    spelled = _replace_longest(latin.replace("eo", "o").replace("eu", "u"), LATIN_TO_CYRILLIC)
    # At the beginning of a word `е` would be read as `йе`.
    return "э" + spelled[1:] if latin.startswith("e") and spelled.startswith("е") else spelled


def _replace_longest(text: str, table: dict[str, str]) -> str:
    pattern = "|".join(sorted(map(re.escape, table), key=len, reverse=True))
    return re.sub(pattern, lambda match: table[match.group()], text)


def _hangul(latin: str) -> str:
    sounds = [match.group() for match in SOUND.finditer(latin.replace("x", "ks"))]
    sounds = [each if each in SOUND_VOWELS or len(set(each)) > 1 else each[0] for each in sounds]
    syllables: list[str] = []
    initial, place = "-", 0
    while place < len(sounds):
        sound, after = sounds[place], sounds[place + 1 : place + 2]
        if sound in GLIDES and after and after[0] in GLIDES[sound]:
            vowel, place = GLIDES[sound][after[0]], place + 2
        elif sound in SOUND_VOWELS:
            # 샤, not 사: `sh` changes the vowel after it.
            soft = GLIDES["y"] if place and sounds[place - 1] in SOFT else SOUND_VOWELS
            vowel, place = soft.get(sound, SOUND_VOWELS[sound]), place + 1
        elif sound == "w":
            vowel, place = "u", place + 1
        elif sound == "qu":
            syllables.append(_syllable("k", "u"))
            place += 1
            continue
        else:
            consonant = SOUND_CONSONANTS.get(sound, "")
            place += 1
            if place < len(sounds) and sounds[place] != "w" and _is_vowel(sounds, place):
                initial = _initial(consonant, syllables, sounds[place - 2 : place - 1])
            elif consonant:
                _close(syllables, consonant, sound, sounds[place : place + 1])
            continue
        syllables.append(_syllable(initial, vowel))
        initial = "-"
    return "".join(syllables)


def _is_vowel(sounds: Sequence[str], place: int) -> bool:
    sound, after = sounds[place], sounds[place + 1 : place + 2]
    return sound in SOUND_VOWELS or (sound in GLIDES and bool(after) and after[0] in GLIDES[sound])


def _initial(consonant: str, syllables: list[str], before: Sequence[str]) -> str:
    # Korean doubles an `l` between vowels: 알렉산드르.
    if consonant == "l" and syllables and before and before[0] in SOUND_VOWELS:
        _add_final(syllables, "l")
    return "r" if consonant == "l" else "-" if consonant == "ng" else consonant


def _close(syllables: list[str], consonant: str, sound: str, after: Sequence[str]) -> None:
    """Write a consonant that no vowel follows: below the syllable, or as one of its own."""
    is_open = bool(syllables) and (ord(syllables[-1]) - FIRST_SYLLABLE) % 28 == 0
    is_stop = consonant in ("k", "t", "p") and sound != "f" and (not after or after[0] not in "lr")
    if is_open and (consonant in ("n", "l", "m", "ng") or (is_stop and sound not in ("ph",))):
        _add_final(syllables, consonant)
    elif consonant == "r" and is_open and after:
        return
    elif sound in ("sh", "sch", "shch", "ch", "zh", "j", "ts"):
        syllables.append(_syllable(consonant, "i"))
    else:
        syllables.append(_syllable(consonant.replace("ng", "-").replace("l", "r"), "eu"))


def _add_final(syllables: list[str], consonant: str) -> None:
    if (ord(syllables[-1]) - FIRST_SYLLABLE) % 28 == 0:
        syllables[-1] = chr(ord(syllables[-1]) + FINALS[consonant])


def _syllable(initial: str, vowel: str) -> str:
    return chr(FIRST_SYLLABLE + INITIALS[initial] * 588 + VOWELS[vowel] * 28)
