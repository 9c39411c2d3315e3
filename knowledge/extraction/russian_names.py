"""Names in Russian texts stand in cases: the nominative is told by the case of the word beside
them (`архивариусом Теодором Ланцем`)."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from math import prod
from typing import Any

from retrieval.text import russian_analyzer

FEMININE_ENDINGS = ("а", "я", "ь")
MEN_IN_A = frozenset(
    {
        "воевода",
        "староста",
        "судья",
        "слуга",
        "дядя",
        "дедушка",
        "убийца",
        "вельможа",
        "старшина",
        "глава",
        "мужчина",
        "юноша",
        "коллега",
        "сирота",
    }
)
TAGS = {
    "nominative": "nomn",
    "genitive": "gent",
    "dative": "datv",
    "accusative": "accs",
    "instrumental": "ablt",
    "prepositional": "loct",
}
"""What pymorphy calls the cases."""
NAME_TAGS = frozenset({"Name", "Surn", "Patr"})
PROPER_TAGS = NAME_TAGS | {"Geox", "Orgn", "Trad"}
LEAST_SHARE = 0.01
"""Of a case in which no reading of a word stands."""
SURNAME_OF_A_WOMAN = re.compile(r"(.*(?:ов|ев|ёв|ин|ын))ой$")
CONSONANTS = "бвгджзйклмнпрстфхцчшщ"
CASES = ("genitive", "dative", "accusative", "instrumental", "prepositional")
NOUN_ENDINGS = {
    # by the ending of the nominative: genitive, dative, accusative, instrumental, prepositional
    "": ("а", "у", "а", "ом ем", "е"),
    "ец": ("ца", "цу", "ца", "цом цем", "це"),
    "ок": ("ка", "ку", "ка", "ком", "ке"),
    "й": ("я", "ю", "я", "ем", "е"),
    "ий": ("его ого", "ему ому", "его ого", "им", "ем ом"),
    "ый": ("ого", "ому", "ого", "ым", "ом"),
    "ой": ("ого", "ому", "ого", "ым", "ом"),
    "ь": ("я и", "ю и", "я ь", "ем ем ью", "е и"),
    "а": ("ы и", "е", "у", "ой ей", "е"),
    "я": ("и", "е и", "ю", "ей", "е и"),
    "ая": ("ой", "ой", "ую", "ой", "ой"),
    "яя": ("ей", "ей", "юю", "ей", "ей"),
    "ия": ("ии", "ии", "ию", "ией", "ии"),
    "о": ("а", "у", "о", "ом", "е"),
    "е": ("я", "ю", "е", "ем", "и"),
    "ие": ("ия", "ию", "ие", "ием", "ии"),
}


@cache
def forms_by_case(word: str) -> dict[str, frozenset[str]]:
    """Return the forms of a noun in the singular, by case."""
    forms: dict[str, frozenset[str]] = {"nominative": frozenset({word})}
    ending = next((e for e in sorted(NOUN_ENDINGS, key=len, reverse=True) if word.endswith(e)), "")
    if ending == "" and word[-1:] in "аеиоуыэюя":
        return forms
    stem = word[: len(word) - len(ending)]
    if ending == "ец" and re.search(rf"[{CONSONANTS}]{{2}}$", stem):
        # The vowel goes in купца, not after two consonants: кузнеца, жреца.
        stem, ending = word, ""
    elif ending == "ец" and stem.endswith("л"):
        stem += "ь"
    for case, endings in zip(CASES, NOUN_ENDINGS[ending], strict=True):
        forms[case] = frozenset(stem + each for each in endings.split())
    return forms


def role_forms(word: str) -> Iterator[str]:
    """Yield the forms of a role in the singular; of two words the last is declined."""
    yield word
    for forms in forms_by_case(word).values():
        yield from forms


def nominative(name: str, role: str, told: tuple[str, str]) -> str:
    """Return the name in the nominative, by the case in which its `role` stands. Places keep their
    form: `в деревне Сухой Лог`."""
    kind, base = told
    if kind != "Character":
        return name.strip("«»")
    case = _case_of(role.lower(), base)
    if case == "nominative":
        return name
    is_woman = (
        base.endswith(FEMININE_ENDINGS)
        and base not in MEN_IN_A
        and not base.endswith(("ель", "арь", "зь", "ядь"))
    )
    cases = [TAGS[case]]
    if case == "genitive" and not is_woman:
        # The genitive of the role is its accusative, too: `писаря Ерёму`.
        cases.append("accs")
    return " ".join(nominative_words(name.split(" "), cases, "femn" if is_woman else "masc"))


def nominative_words(
    words: Sequence[str], cases: Sequence[str] = tuple(TAGS.values()), gender: str = ""
) -> list[str]:
    """Return the words of a name in the nominative: all stand in that of `cases` which fits them
    best. Without a `gender` it may be any."""
    readings = [_readings(word, gender) for word in words]
    # Where one word cannot be a nominative the whole is none: `Ефимией Рог`.
    if not all(not row or any(r.tag.case == "nomn" for r in row) for row in readings):
        cases = [case for case in cases if case != "nomn"] or cases

    def share(case: str) -> float:
        own = (max((r.score for r in row if r.tag.case == case), default=0.0) for row in readings)
        # A name that no dictionary has is read like words that it is not.
        return prod(max(LEAST_SHARE, each) for each in own) * (2 if case == "nomn" else 1)

    best = max(cases, key=share)
    if best == "nomn":
        return list(words)
    found = [_in_nominative(word, row, best) for word, row in zip(words, readings, strict=True)]
    # The last word of a woman's name: `Лады Сомовой`, but `Осиновой Рощи`.
    if len(words) > 1 and (surname := SURNAME_OF_A_WOMAN.match(words[-1])):
        found[-1] = f"{surname[1]}а"
    return found


def _in_nominative(word: str, readings: Sequence[Any], case: str) -> str:
    of_case = [each for each in readings if each.tag.case == case]
    if not of_case or not word[:1].isupper():
        return word
    reading = max(of_case, key=_is_name)
    form = reading.inflect({"nomn", "sing"})
    if form is None:
        return word
    name: str = form.word.capitalize()
    # Foreign names keep their consonants: `Ланцем` is of a Ланц, `купцом` of a купец.
    is_foreign = name.endswith("ец") and not reading.is_known
    return f"{name[:-2]}ц" if is_foreign else name


def is_common_noun(word: str) -> bool:
    """Whether a word is in the dictionary, and as no name of a person or a place."""
    readings = russian_analyzer().parse(word)
    return all(each.is_known for each in readings) and not any(
        PROPER_TAGS & set(each.tag.grammemes) for each in readings
    )


def _is_name(reading: Any) -> tuple[bool, float]:
    return bool(NAME_TAGS & set(reading.tag.grammemes)), reading.score


def _readings(word: str, gender: str) -> list[Any]:
    found = [
        each
        for each in russian_analyzer().parse(word)
        if each.tag.case and each.tag.number == "sing" and "Fixd" not in each.tag
    ]
    return [each for each in found if gender in ("", each.tag.gender)] or found


def _case_of(form: str, base: str) -> str:
    form = form.replace("ё", "е")
    forms = forms_by_case(base.replace("ё", "е"))
    return next((case for case, all_forms in forms.items() if form in all_forms), "nominative")
