"""What a calendar is made of, as it is stored and sent. A calendar that passes is usable."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Annotated, Self

from django.utils.translation import gettext as _
from pydantic import Field, StringConstraints, model_validator

from worlds.base_schemas import StrictModel

MOST_PARTS = 100
DAY_LIMIT = 10**12
"""World days lie between minus and plus this; a float holds them to a fraction of a minute."""
TextName = Annotated[
    str,
    StringConstraints(
        min_length=1, max_length=60, strip_whitespace=True, pattern=r"^[^\x00-\x1f]+$"
    ),
]
OptionalName = Annotated[
    str, StringConstraints(max_length=60, strip_whitespace=True, pattern=r"^[^\x00-\x1f]*$")
]
YearNumber = Annotated[int, Field(ge=-1_000_000_000, le=1_000_000_000)]
Interval = Annotated[int, Field(ge=1, le=1_000_000)]


class Month(StrictModel):
    """A month, or festival days that stand between months and belong to none."""

    name: TextName = Field(description="As it is written alone.", examples=["Frostmoon"])
    days: int = Field(ge=0, le=1000, description="In a year without leap days.", examples=[30])
    intercalary: bool = Field(
        default=False,
        description="Days outside months and weeks, such as a festival; 0 days: in leap years.",
    )
    with_day: OptionalName = Field(
        default="", description="As it is written after a day, where that differs: февраля."
    )
    other_names: list[TextName] = Field(
        default=[], max_length=20, description="Also understood: short and foreign names."
    )


class LeapRule(StrictModel):
    """Extra days in every n-th year, except every m-th, but still every k-th."""

    month: TextName = Field(description="Which month gets the days.")
    days: int = Field(default=1, ge=1, le=400, description="How many more days it has then.")
    every: Interval = Field(description="Every so many years.", examples=[4])
    except_every: Interval | None = Field(
        default=None, description="But not every so many years.", examples=[100]
    )
    but_every: Interval | None = Field(
        default=None, description="And still every so many years.", examples=[400]
    )
    offset: YearNumber = Field(default=0, description="A year in which the rule applies.")


class Era(StrictModel):
    """A count of years. Years before the first era count backwards where an era says so."""

    name: TextName = Field(examples=["Age of Lamps"])
    short: OptionalName = Field(
        default="",
        description="Written after the year. One era may have none: years without an era are its.",
        examples=["AL"],
    )
    first_year: YearNumber = Field(
        description="The year of the calendar that is this era's year 1.", examples=[1]
    )
    backwards: bool = Field(
        default=False, description="Its years count down to the next era, such as before an event."
    )


class Moon(StrictModel):
    name: TextName = Field(examples=["Pale Sister"])
    period: float = Field(
        gt=0, le=1_000_000, allow_inf_nan=False, description="Days from new moon to new moon."
    )
    new_moon: float = Field(
        default=0, ge=-1e12, le=1e12, allow_inf_nan=False, description="World day of a new moon."
    )


class Festival(StrictModel):
    """Days of a month that have a name."""

    name: TextName = Field(examples=["Night of Lamps"])
    month: TextName = Field(description="The month in which it is.")
    day: int = Field(ge=1, le=1400, description="Its first day.")
    days: int = Field(default=1, ge=1, le=400, description="How long it lasts.")


class Season(StrictModel):
    name: TextName = Field(examples=["Winter"])
    month: TextName = Field(description="The month in which it begins.")
    day: int = Field(default=1, ge=1, le=1400, description="The day on which it begins.")


class CalendarDefinition(StrictModel):
    """A calendar of a world. Days are world days: the numbers that everything is stored with."""

    name: TextName = Field(examples=["Count of Crossings"])
    months: list[Month] = Field(
        min_length=1, max_length=MOST_PARTS, description="In order, with days between them."
    )
    weekdays: list[TextName] = Field(
        default=[], max_length=MOST_PARTS, description="In order; none: there are no weeks."
    )
    weeks_begin_with_month: bool = Field(
        default=False, description="Every month begins with the first weekday."
    )
    leap_rules: list[LeapRule] = Field(
        default=[], max_length=20, description="Which years have more days."
    )
    eras: list[Era] = Field(
        default=[],
        max_length=MOST_PARTS,
        description="None: years are plain numbers, before year 1 too.",
    )
    moons: list[Moon] = Field(default=[], max_length=30, description="The moons of the world.")
    festivals: list[Festival] = Field(
        default=[], max_length=200, description="Days of months that have a name."
    )
    seasons: list[Season] = Field(
        default=[], max_length=20, description="In order, each until the next begins."
    )
    hours: int = Field(default=24, ge=1, le=1000, description="Hours a day.")
    minutes: int = Field(default=60, ge=1, le=1000, description="Minutes an hour.")
    year_one_begins: int = Field(
        default=0,
        ge=-DAY_LIMIT,
        le=DAY_LIMIT,
        description="World day of the first day of the calendar's year 1.",
    )
    first_weekday: int = Field(
        default=0, ge=0, lt=MOST_PARTS, description="Weekday of that day, counted from 0."
    )

    @model_validator(mode="after")
    def check_parts(self) -> Self:
        problems = [*name_problems(self), *reference_problems(self), *era_problems(self)]
        if problems:
            raise ValueError(" ".join(problems))
        return self


def name_key(name: str) -> str:
    """Return `name` as names are compared: without case, form of script and final dot."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split()).rstrip(".")


def find_repeated(names: Iterable[str]) -> list[str]:
    names = list(names)
    counts = Counter(map(name_key, names))
    return sorted({name for name in names if counts[name_key(name)] > 1})


def name_problems(calendar: CalendarDefinition) -> Iterator[str]:
    parts: tuple[tuple[str, list[str]], ...] = (
        (_("months"), [each.name for each in calendar.months]),
        (_("eras"), [each.name for each in calendar.eras]),
        (_("moons"), [each.name for each in calendar.moons]),
        (_("festivals"), [each.name for each in calendar.festivals]),
        (_("seasons"), [each.name for each in calendar.seasons]),
        (_("weekdays"), [*calendar.weekdays]),
        (_("abbreviations of eras"), [each.short for each in calendar.eras if each.short]),
    )
    for what, names in parts:
        if twice := find_repeated(names):
            values = {"what": what, "names": ", ".join(twice)}
            yield _("A name occurs twice among the %(what)s: %(names)s.") % values
    for month in calendar.months:
        if month.name.isdecimal():
            yield _("A month needs a name, not a number: %(name)s.") % {"name": month.name}


def reference_problems(calendar: CalendarDefinition) -> Iterator[str]:
    lengths = {name_key(month.name): month.days for month in calendar.months}
    for rule in calendar.leap_rules:
        if name_key(rule.month) in lengths:
            lengths[name_key(rule.month)] += rule.days
    named: list[Festival | Season] = [*calendar.festivals, *calendar.seasons]
    for row in (*calendar.leap_rules, *named):
        if name_key(row.month) not in lengths:
            known = ", ".join(each.name for each in calendar.months)
            values = {"name": row.month, "months": known}
            yield _("There is no month %(name)s: the months are %(months)s.") % values
    for row in named:
        last = row.day + (row.days if isinstance(row, Festival) else 1) - 1
        if last > lengths.get(name_key(row.month), last):
            values = {"name": row.name, "month": row.month, "day": str(last)}
            yield _("%(name)s: %(month)s has no day %(day)s.") % values
    if not any(month.days for month in calendar.months if not month.intercalary):
        yield _("At least one month needs a day in every year.")
    if calendar.weekdays and calendar.first_weekday >= len(calendar.weekdays):
        values = {"last": str(len(calendar.weekdays) - 1)}
        yield _("The first weekday is a number from 0 to %(last)s.") % values


def era_problems(calendar: CalendarDefinition) -> Iterator[str]:
    eras = calendar.eras
    if sum(not era.short for era in eras) > 1:
        yield _("Only one era may do without an abbreviation.")
    if any(era.backwards and not era.short for era in eras):
        yield _("An era that counts backwards needs an abbreviation.")
    first = [era.first_year for era in eras if not era.backwards]
    if len(set(first)) < len(first):
        yield _("Two eras cannot begin in the same year.")
    backwards = [era.first_year for era in eras if era.backwards]
    if len(backwards) > 1:
        yield _("Only one era can count backwards.")
    if backwards and first and backwards[0] != min(first) - 1:
        values = {"year": str(min(first) - 1)}
        yield _(
            "The era that counts backwards ends before the first era: its year 1 is %(year)s."
        ) % (values)
