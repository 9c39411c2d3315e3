"""What is wrong with a value, in the words of somebody who sends JSON. pydantic speaks of the
types of Python: "a valid dictionary or instance of LoreWrite"."""

from collections.abc import Mapping
from typing import Any

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
    "datetime_type": "must be a date-time such as 2026-05-04T19:30:00Z",
    "datetime_parsing": "must be a date-time such as 2026-05-04T19:30:00Z",
    "datetime_from_date_parsing": "must be a date-time such as 2026-05-04T19:30:00Z",
    "timezone_aware": "must be a date-time with its zone, such as 2026-05-04T19:30:00Z",
}
"""By pydantic's names of errors; what is missing here is said in pydantic's words."""


def words_of(error: Mapping[str, Any]) -> str:
    template = WORDS.get(str(error.get("type", "")))
    if template is None:
        return str(error["msg"]).removeprefix("Value error, ")
    try:
        text = template.format(**error.get("ctx") or {})
        return text.removesuffix("s") if " 1 " in text else text
    except KeyError:  # an error of our own with a name of pydantic's, without its numbers
        return str(error["msg"])
