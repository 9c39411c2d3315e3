"""Slips of the finger, made mechanically: one letter inserted, dropped, transposed, or replaced by
its neighbour on the keyboard; in Korean one letter of a syllable changed or dropped."""

import random
import unicodedata

ROWS = {
    "en": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "ru": ("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"),
}
INITIALS, VOWELS, FINALS = 19, 21, 28
FIRST_SYLLABLE, LAST_SYLLABLE = "가", "힣"


def keyboard_neighbours(language: str) -> dict[str, str]:
    """Return the letters beside, above and below each letter of the keyboard."""
    rows = ROWS[language]
    places = {
        letter: (number, column)
        for number, row in enumerate(rows)
        for column, letter in enumerate(row)
    }
    return {
        letter: "".join(
            other
            for other, (other_row, other_column) in places.items()
            if other != letter and abs(row - other_row) <= 1 and abs(column - other_column) <= 1
        )
        for letter, (row, column) in places.items()
    }


NEIGHBOURS = {language: keyboard_neighbours(language) for language in ROWS}


def with_slip(name: str, language: str) -> str:
    """Return `name` with one slip, the same in every run."""
    chance = random.Random(f"{language} {name}")
    slip = korean_slip if language == "ko" else alphabet_slip
    while (result := slip(name, chance, language)) == name:
        pass
    return result


def alphabet_slip(name: str, chance: random.Random, language: str) -> str:
    places = [n for n, letter in enumerate(name) if letter.lower() in NEIGHBOURS[language]]
    place = chance.choice(places)
    before, letter, after = name[:place], name[place], name[place + 1 :]
    neighbour = chance.choice(NEIGHBOURS[language][letter.lower()])
    match chance.choice(("insert", "delete", "transpose", "substitute")):
        case "insert":
            return f"{before}{letter}{neighbour}{after}"
        case "delete":
            return before + after
        case "transpose" if after[:1].isalpha():
            return before + after[0] + letter + after[1:]
        case _:
            return before + neighbour + after


def korean_slip(name: str, chance: random.Random, _language: str) -> str:
    places = [n for n, each in enumerate(name) if FIRST_SYLLABLE <= each <= LAST_SYLLABLE]
    place = chance.choice(places)
    code = ord(name[place]) - ord(FIRST_SYLLABLE)
    initial, vowel, final = code // (VOWELS * FINALS), code // FINALS % VOWELS, code % FINALS
    match chance.choice(("initial", "vowel", "final", "drop")):
        case "initial":
            initial = chance.randrange(INITIALS)
        case "vowel":
            vowel = chance.randrange(VOWELS)
        case "drop" if final:
            final = 0
        case _:
            final = chance.randrange(FINALS)
    code = (initial * VOWELS + vowel) * FINALS + final
    return unicodedata.normalize(
        "NFC", name[:place] + chr(ord(FIRST_SYLLABLE) + code) + name[place + 1 :]
    )
