"""What is wrong with a value, in the words of somebody who sends JSON. pydantic speaks of the
types of Python: "a valid dictionary or instance of LoreWrite"."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from worlds.tool_args import AUDIENCE

WORDS = {
    "missing": "required",
    "extra_forbidden": "unknown field",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
    "list_type": "must be a list",
    "string_type": "must be a string",
    "int_type": "must be an integer",
    "int_parsing": "must be an integer",
    "int_from_float": "must be an integer",
    "int_parsing_size": "must be a smaller integer",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "uuid_type": "must be a UUID",
    "uuid_parsing": "must be a UUID",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must match the pattern {pattern}",
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
    "value_too_short": "must have a length of at least {min_length}",
    "value_too_long": "must have a length of at most {max_length}",
    "value_empty": "must not be empty",
    "datetime_type": "must be a date-time such as 2026-05-04T19:30:00Z",
    "datetime_parsing": "must be a date-time such as 2026-05-04T19:30:00Z",
    "datetime_from_date_parsing": "must be a date-time such as 2026-05-04T19:30:00Z",
    "timezone_aware": "must be a date-time with its zone, such as 2026-05-04T19:30:00Z",
}
"""By pydantic's names of errors; what is missing here is said in pydantic's words. `value_…` is a
value that was read before its length was checked: a text or a list, which pydantic does not say."""

PATTERNS = {
    AUDIENCE: "must be gm, public, party:<id>, character:<id> or npc:<id>",
    r"^(party|character|npc):.+$": "must be party:<id>, character:<id> or npc:<id>",
    r"^npc:.{1,110}$": "must be npc:<id>",
    r"^[\w-]+$": "must hold only letters, digits, _ and -",
    r"^[\w\-]+$": "must hold only letters, digits, _ and -",
    r"^[^\x00]*$": "must not hold the character NUL",
    r"^[^\x00]+$": "must not be empty nor hold the character NUL",
    r"^[\w.-]+(/[\w.-]+)+$": "must be parts joined by /, such as house/conditions/seasick",
    r"^\w[\w.:\-]*$": "must begin with a letter or digit and hold only these and _ . : -",
    r"^https?://[^/\s?#@]+$": "must be an origin such as https://table.example.org",
    r"^https?://\S+$": "must be an address that begins with http:// or https://",
    r"^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$": "must be the code of a language, such as en or pt-BR",
    r"^[a-z]{2,3}(-[A-Za-z]+)?$": "must be the code of a language, such as en or pt-BR",
}
"""What a value must be that has to match one of these patterns."""

BRANCH = re.compile(
    r"[A-Z]\w*|.*\[.*|constrained-\w+|(?:str|int|float|bool|datetime|uuid|list|dict|none)"
)
"""How pydantic names an alternative of a union, in the place of an error: `Triple`,
`constrained-str`, `literal['latest','oldest']`. No field of ours is called so."""


def faults_of(errors: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return `loc` and `msg` of each value at fault. What the alternatives of a union say of one
    value is one message."""
    messages: dict[tuple[str, ...], list[str]] = {}
    for error in errors:
        words = messages.setdefault(place_of(error["loc"]), [])
        if (text := words_of(error)) not in words:
            words.append(text)
    return [{"loc": list(loc), "msg": ", or ".join(words)} for loc, words in messages.items()]


def place_of(location: Sequence[str | int]) -> tuple[str, ...]:
    """Return the location of an error without the names of alternatives. The first part is always
    a field."""
    parts = map(str, location)
    return tuple(part for n, part in enumerate(parts) if n == 0 or not BRANCH.fullmatch(part))


def summary_of(faults: Sequence[Mapping[str, Any]], whole: str) -> str:
    """Return the first five faults in one line; a fault of the whole value is named `whole`."""
    return "; ".join(f"{'.'.join(each['loc']) or whole}: {each['msg']}" for each in faults[:5])


def kind_of(error: Mapping[str, Any]) -> str:
    kind, context = str(error.get("type", "")), error.get("ctx") or {}
    if kind not in ("too_short", "too_long") or context.get("field_type") != "Value":
        return kind
    return "value_empty" if context.get("min_length") == 1 else f"value_{kind}"


def words_of(error: Mapping[str, Any]) -> str:
    pattern = str((error.get("ctx") or {}).get("pattern", ""))
    template = PATTERNS.get(pattern) or WORDS.get(kind_of(error))
    if template is None:
        return str(error["msg"]).removeprefix("Value error, ")
    try:
        text = template.format(**error.get("ctx") or {})
        return text.removesuffix("s") if " 1 " in text else text
    except KeyError:  # an error of our own with a name of pydantic's, without its numbers
        return str(error["msg"])
