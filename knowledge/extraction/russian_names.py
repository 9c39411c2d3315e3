"""Names in Russian texts stand in cases: the nominative is told by the case of the word beside
them (`архивариусом Теодором Ланцем`)."""

from collections.abc import Iterator
from functools import cache

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
    words = name.split(" ")
    if case == "genitive" and not is_woman and any(word.endswith(("у", "ю")) for word in words):
        # The genitive of the role is its accusative, too: `писаря Ерёму`.
        case = "accusative"
    return " ".join(_base_form(word, case, is_woman=is_woman) for word in words)


def _case_of(form: str, base: str) -> str:
    form = form.replace("ё", "е")
    forms = forms_by_case(base.replace("ё", "е"))
    return next((case for case, all_forms in forms.items() if form in all_forms), "nominative")


def _base_form(word: str, case: str, *, is_woman: bool) -> str:
    """Undo the ending of a case: of several nominatives the likeliest for the sex."""
    endings = (
        ("ая", "яя", "ия", "я", "а", "ь")
        if is_woman
        else ("ий", "ый", "й", "", "ь", "ец", "а", "я")
    )
    for ending in endings:
        for oblique in NOUN_ENDINGS[ending][CASES.index(case)].split():
            stem = word[: len(word) - len(oblique)]
            if word.endswith(oblique) and len(stem) >= 2:
                if ending == "ий" and oblique in ("им", "ем") and len(stem) < 3:
                    continue
                if ending in ("ий", "ый") and oblique not in (
                    "ого",
                    "его",
                    "ому",
                    "ему",
                    "ым",
                    "им",
                ):
                    continue
                if ending == "й" and stem[-1] not in "аеиоуыэюя":
                    continue
                if ending == "ец" and stem[-1] in "аеиоуыэюя":
                    continue
                if ending == "ь" and stem[-1] not in "ртлнвсдз":
                    continue
                if ending == "" and oblique in ("ем", "я", "ю") and stem[-1] not in "цчшщж":
                    continue
                if ending == "ия" and stem[-1] not in "нлсрфдтк":
                    continue
                if ending == "ь" and is_woman and oblique in ("и",) and stem[-1] in "кгхжш":
                    continue
                if ending == "ий" and oblique in ("ого", "ому") and stem[-1] not in "кгх":
                    continue
                if ending == "ая" and stem[-1] in "аеиоуыэюя":
                    continue
                return stem + ending
    return word
