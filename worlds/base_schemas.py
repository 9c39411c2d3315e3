"""Base classes and field types of what programs send and receive. An unknown field is an error."""

from collections.abc import Hashable, Iterator
from datetime import datetime
from functools import cache
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

DEFAULT_CHARS, MAX_CHARS = 8_000, 60_000
MAX_K = 50

MaxChars = Annotated[
    int | None,
    Field(ge=200, le=MAX_CHARS, description="At most this many characters of text in the answer."),
]


Day = Annotated[float, Field(allow_inf_nan=False, description="Days since the world's epoch.")]
"""In-world time in a request; in a table of text it stands as "12.5"."""
Share = Annotated[float, Field(ge=0, le=1)]


class RequestModel(BaseModel):
    """Base of what programs send: as strict as its JSON schema, but that a language model may write "5" for 5. `true`
    is no number, 0 is not false, a number is no date-time (seconds since when?), and spaces count against a length."""

    @field_validator("*", mode="before")
    @classmethod
    def _as_the_schema_says(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, bool | int | float | str) and (
            wrong := _wrong(value, *_rules(cls, info.field_name or ""))
        ):
            raise ValueError(wrong)
        return value


def _wrong(value: Any, kinds: frozenset[Any], longest: int | None) -> str:
    """Say what is wrong with a plain `value` for a field of these types, or nothing."""
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(value, str) and longest is not None and len(value) > longest:
        return f"must have at most {longest} characters"
    if Any in kinds:
        return ""
    if isinstance(value, bool) and bool not in kinds:
        return "must not be true or false"
    if numeric and bool in kinds and not kinds & {int, float}:
        return "must be true or false"
    digits = isinstance(value, str) and value.strip().lstrip("+-").replace(".", "", 1).isdecimal()
    if datetime in kinds and (numeric or digits) and not kinds & {int, float, str}:
        return "must be a date-time such as 2026-05-04T19:30:00Z"
    return ""


@cache
def _rules(model: type[BaseModel], field: str) -> tuple[frozenset[Any], int | None]:
    """Every type that the annotation of `field` is made of, and the most characters a text may have."""
    described = model.model_fields[field]
    lengths = [getattr(rule, "max_length", None) for rule in described.metadata]
    return frozenset(_parts(described.annotation)), next(
        (most for most in lengths if most is not None), None
    )


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in get_args(annotation):
        if isinstance(part, Hashable):
            yield from _parts(part)


class StrictModel(RequestModel):
    model_config = ConfigDict(extra="forbid")


class ResponseModel(BaseModel):
    """Base of what programs are told: made by us, so it is not checked as strictly as what they send, nor as slowly."""

    model_config = ConfigDict(extra="forbid")
