"""What the operations of a world's calendar take and give."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from worlds.base_schemas import ResponseModel, StrictModel
from worlds.calendars.definition import CalendarDefinition
from worlds.calendars.presets import PRESETS

DateLanguage = Annotated[
    Literal["en", "ru", "ko"] | None,
    Field(description="Language of the date; left out: the one of the world."),
]


class CalendarPut(StrictModel):
    """The whole calendar, or the name of a preset. With neither, days are counted."""

    definition: CalendarDefinition | None = Field(
        default=None, description="The calendar; null: none."
    )
    preset: str | None = Field(
        default=None, max_length=60, description="Name of a calendar to begin with."
    )

    @model_validator(mode="after")
    def check_choice(self) -> Self:
        if self.definition and self.preset:
            raise ValueError("send a definition or a preset, not both")
        if self.preset and self.preset not in PRESETS:
            raise ValueError(f"the presets are {', '.join(PRESETS)}")
        return self


class CalendarOut(ResponseModel):
    version: int = Field(description="Counts the changes; 0: the world never had a calendar.")
    definition: CalendarDefinition | None = Field(description="Null: days are counted.")
    presets: list[str] = Field(description="Codes of the calendars to begin with.")
    preset_names: dict[str, str] = Field(
        description="What each of them is called, in the language of the world."
    )


class CalendarVersionOut(ResponseModel):
    version: int
    definition: CalendarDefinition | None = Field(description="Null: days were counted.")
    made_by: str = Field(description="Who saved it.")
    created_at: datetime


class CalendarVersions(ResponseModel):
    versions: list[CalendarVersionOut] = Field(description="The latest first.")


class DateQuery(StrictModel):
    at: Annotated[float, Field(allow_inf_nan=False, description="The world day.")]
    language: DateLanguage = None


class DateTextQuery(StrictModel):
    text: str = Field(
        max_length=200,
        description="A date, a month or season with its year, a year, or a world day as a number.",
    )
    language: DateLanguage = None


class MoonOut(ResponseModel):
    name: str
    phase: str = Field(description="Name of the phase in the language of the answer.")
    symbol: str = Field(description="The phase as one character.")


class DateOut(ResponseModel):
    at: float = Field(description="The world day.")
    text: str = Field(description="As a date; where there is none, the number of the day.")
    year: int | None = Field(description="In its era; null: the calendar has no date for the day.")
    era: str = Field(description="Name of the era; empty where the calendar has none.")
    month: str = Field(description="Name of the month or festival.")
    day: int | None = Field(description="Day of the month.")
    weekday: str = Field(description="Empty for a day outside weeks.")
    festivals: list[str] = Field(description="Festivals that begin on the day.")
    moons: list[MoonOut] = Field(description="The moons on that day.")


class DateSpanOut(ResponseModel):
    """What a text means: one day, or the days of a month, season or year."""

    first: float = Field(description="World day on which it begins.")
    last: float = Field(description="World day on which it ends; the same for a single day.")
    first_text: str = Field(description="The first day as a date.")
    last_text: str = Field(description="The last day as a date.")
