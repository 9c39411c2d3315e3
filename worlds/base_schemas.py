"""Base classes and field types of what programs send and receive. An unknown field is an error."""

from collections.abc import Hashable, Iterator
from datetime import UTC, datetime
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
"""In-world time in a request; in a text table it is written as "12.5"."""
ReadAs = Annotated[
    dict[str, str],
    Field(description="Misspelt names of the question, and the names that they were taken for."),
]
Share = Annotated[float, Field(ge=0, le=1)]
ReadVersion = Annotated[
    int | None,
    Field(ge=1, lt=2**31, description="The version that was read; 409 if another one is stored."),
]

FOR_GM = "Null for players: it would tell them of changes of hidden parts."
PrivateVersion = Annotated[int | None, Field(description=f"Counts the changes. {FOR_GM}")]
PrivateMoment = Annotated[datetime | None, Field(description=f"The last change. {FOR_GM}")]


class RequestModel(BaseModel):
    """Base of what programs send: as strict as its JSON schema, except that a language model may
    send "5" for 5. `true` is not a number, 0 is not false, a number is not a date-time (which
    epoch?), a date-time without a time zone is in UTC, and spaces count towards a length."""

    @field_validator("*", mode="before")
    @classmethod
    def check_as_schema(cls, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, bool | int | float | str):
            return value
        if problem := problem_with(value, *field_rules(cls, info.field_name or "")):
            raise ValueError(problem)
        return value

    @field_validator("*", mode="after")
    @classmethod
    def with_time_zone(cls, value: Any) -> Any:
        """Return a moment that names no time zone as one in UTC, as all of the site's are."""
        is_naive = isinstance(value, datetime) and value.tzinfo is None
        return value.replace(tzinfo=UTC) if is_naive else value


def problem_with(value: Any, kinds: frozenset[Any], max_length: int | None) -> str:
    """Return why `value` does not fit a field of these types, or an empty text."""
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(value, str) and max_length is not None and len(value) > max_length:
        return f"must have at most {max_length} characters"
    if Any in kinds:
        return ""
    if isinstance(value, bool) and bool not in kinds:
        return "must not be true or false"
    if numeric and bool in kinds and not kinds & {int, float}:
        return "must be true or false"
    if datetime in kinds and (numeric or is_number(value)) and not kinds & {int, float, str}:
        return "must be a date-time such as 2026-05-04T19:30:00Z"
    return ""


def is_number(value: Any) -> bool:
    """Whether a text is a number, in any notation: pydantic would take it for seconds since
    1970."""
    try:
        float(value)
    except ValueError:
        return False
    return True


@cache
def field_rules(model: type[BaseModel], name: str) -> tuple[frozenset[Any], int | None]:
    """Return every type in the field's annotation, and the most characters that a text may have."""
    field = model.model_fields[name]
    lengths = (getattr(rule, "max_length", None) for rule in field.metadata)
    max_length = next((length for length in lengths if length is not None), None)
    return frozenset(annotation_parts(field.annotation)), max_length


def annotation_parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in get_args(annotation):
        if isinstance(part, Hashable):
            yield from annotation_parts(part)


class StrictModel(RequestModel):
    model_config = ConfigDict(extra="forbid")


class ResponseModel(BaseModel):
    """Base of answers. The site makes them itself, so they are validated less strictly, and faster,
    than requests."""

    model_config = ConfigDict(extra="forbid")
