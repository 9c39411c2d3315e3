"""Field types of the models that engines send: bounded texts, references, in-world time. Used by
`npcs` and `art` too.
"""

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, field_validator

from episodes.models import EXTERNAL_ID
from retrieval.text import storage_flaw
from worlds.base_schemas import Day, StrictModel

LONGEST_TEXT = 20_000


def storable(text: str) -> str:
    """Return `text`; raises ValueError for NUL and lone surrogates, which PostgreSQL refuses."""
    if storage_flaw(text):
        raise ValueError("must not hold NUL characters or lone surrogates")
    return text


def parse_form_bool(value: Any) -> Any:
    """Return the bool that a form field's text writes: `true` or `false` and no other word, as the
    OpenAPI document says. Raises ValueError."""
    if not isinstance(value, str):
        return value
    if value not in ("true", "false"):
        raise ValueError("must be true or false")
    return value == "true"


Storable = AfterValidator(storable)
FormBool = Annotated[bool, BeforeValidator(parse_form_bool)]
Label = Annotated[str, Field(max_length=120), Storable]
Line = Annotated[str, Field(max_length=200), Storable]
LooseEndText = Annotated[str, Field(min_length=1, max_length=400), Storable]
Reason = Annotated[str, Field(max_length=2000), Storable]
Prose = Annotated[str, Field(max_length=LONGEST_TEXT), Storable]
RequiredProse = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT), Storable]
Ref = Annotated[str, Field(min_length=1, max_length=200, description="Id or name."), Storable]
ExternalId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=EXTERNAL_ID,
        pattern=r"^\w[\w.:\-]*$",
        description="The engine's own id.",
    ),
]
LanguageCode = Annotated[str, Field(max_length=8, pattern=r"^[a-z]{2,3}(-[A-Za-z]+)?$")]
AudienceNames = list[Annotated[str, Field(max_length=120)]]
RawItems = Annotated[list[dict[str, Any]], Field(min_length=1, max_length=500)]
"""Items of a bulk request. They are validated one by one, so that one bad item does not refuse the
others.
"""


class EngineInput(StrictModel):
    """Base of what an engine sends: unknown fields are errors, whitespace around texts is
    removed."""

    model_config = ConfigDict(populate_by_name=True, str_strip_whitespace=True)


class When(EngineInput):
    """In-world time, and the real time at the table."""

    in_world_at: Day | None = None
    in_world_label: Label = ""
    real: datetime | None = None

    @field_validator("real")
    @classmethod
    def _assume_utc(cls, value: datetime | None) -> datetime | None:
        # Django would take a naive time for one of the site's time zone.
        return value.replace(tzinfo=UTC) if value and value.tzinfo is None else value


class WhenOut(When):
    """When an episode happened, with its day as a date."""

    in_world_date: str = ""


def parse_when(value: Any) -> Any:
    """Expand a plain value to the fields of `When`: a date-time is `real`, a number `in_world_at`,
    other text the label.
    """
    if isinstance(value, datetime):
        return {"real": value}
    # In Python a bool is an int; JSON's `true` is no day.
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"in_world_at": value}
    if not isinstance(value, str):
        return value
    try:
        return {"real": datetime.fromisoformat(value)}
    except ValueError:
        return {"in_world_label": value}


WhenInput = Annotated[
    When,
    BeforeValidator(
        parse_when, json_schema_input_type=When | Annotated[str, Field(max_length=120)] | Day
    ),
]
