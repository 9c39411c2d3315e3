"""The form of a calendar: one for what it has once, and rows for its months, eras and so on."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from retrieval.errors import Invalid, Problem
from worlds.calendars.arithmetic import Calendar
from worlds.calendars.definition import DAY_LIMIT, MOST_PARTS, CalendarDefinition
from worlds.day_field import read_day
from worlds.exact_forms import LineField
from worlds.list_fields import ListField
from worlds.world_calendar import check_definition

YEARS = {"min_value": -1_000_000_000, "max_value": 1_000_000_000}
INTERVAL = {"min_value": 1, "max_value": 1_000_000, "required": False}


def name_field(label: Any, **kwargs: Any) -> LineField:
    return LineField(label=label, required=False, max_length=60, **kwargs)


def number(label: Any, least: int, most: int, **kwargs: Any) -> forms.IntegerField:
    return forms.IntegerField(
        label=label, min_value=least, max_value=most, required=False, **kwargs
    )


class RowForm(forms.Form):
    """A row without a name is left out."""

    key = "name"

    def row(self) -> dict[str, Any] | None:
        values: dict[str, Any] = {
            name: value
            for name, value in self.cleaned_data.items()
            if name != "ORDER" and value not in (None, "")
        }
        return values if values.get(self.key) else None


class MonthForm(RowForm):
    name = name_field(_("Month"))
    days = number(_("Days"), 0, 1000)
    with_day = name_field(_("After a day"))
    other_names = name_field(_("Other names"))
    intercalary = forms.BooleanField(label=_("Between months"), required=False)

    def row(self) -> dict[str, Any] | None:
        values = super().row()
        if values is not None:
            names = values.get("other_names", "").split(",")
            values["other_names"] = [name.strip() for name in names if name.strip()]
            values.setdefault("days", 0)
        return values


class LeapForm(RowForm):
    key = "month"

    month = name_field(_("Month"))
    days = number(_("More days"), 1, 400)
    every = forms.IntegerField(label=_("Every … years"), **INTERVAL)  # type: ignore[arg-type]
    except_every = forms.IntegerField(label=_("but not every"), **INTERVAL)  # type: ignore[arg-type]
    but_every = forms.IntegerField(label=_("and still every"), **INTERVAL)  # type: ignore[arg-type]
    offset = forms.IntegerField(label=_("Such as in the year"), required=False, **YEARS)  # type: ignore[arg-type]


class EraForm(RowForm):
    name = name_field(_("Era"))
    short = name_field(_("Abbreviation"))
    first_year = forms.IntegerField(label=_("Its year 1 is the year"), required=False, **YEARS)  # type: ignore[arg-type]
    backwards = forms.BooleanField(label=_("Counts backwards"), required=False)


class MoonForm(RowForm):
    name = name_field(_("Moon"))
    period = forms.FloatField(
        label=_("Days from new moon to new moon"), required=False, max_value=1_000_000
    )
    new_moon = forms.FloatField(label=_("World day of a new moon"), required=False)


class FestivalForm(RowForm):
    name = name_field(_("Festival"))
    month = name_field(_("Month"))
    day = number(_("Day"), 1, 1400)
    days = number(_("Days"), 1, 400)


class SeasonForm(RowForm):
    name = name_field(_("Season"))
    month = name_field(_("Month"))
    day = number(_("First day"), 1, 1400)


class CalendarForm(forms.Form):
    name = LineField(label=_("Name"), max_length=60)
    weekdays = ListField(label=_("Weekdays"), required=False, base_field=LineField(max_length=60))
    weeks_begin_with_month = forms.BooleanField(
        label=_("Every month begins with the first weekday"), required=False
    )
    first_weekday = number(_("Weekday of the first day of year 1, by its number"), 1, MOST_PARTS)
    hours = number(_("Hours a day"), 1, 1000)
    minutes = number(_("Minutes an hour"), 1, 1000)
    year_one_begins = number(_("World day of the first day of year 1"), -DAY_LIMIT, DAY_LIMIT)
    anchor_day = number(_("Or: world day"), -DAY_LIMIT, DAY_LIMIT)
    anchor_date = LineField(
        label=_("is the date"),
        required=False,
        max_length=200,
        help_text=_("Fill in both to move the calendar to the days that are stored."),
    )
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)


PARTS: dict[str, tuple[Any, type[RowForm]]] = {
    "months": (_("Months, and festivals between them"), MonthForm),
    "leap_rules": (_("Leap years"), LeapForm),
    "eras": (_("Eras"), EraForm),
    "moons": (_("Moons"), MoonForm),
    "festivals": (_("Festivals"), FestivalForm),
    "seasons": (_("Seasons"), SeasonForm),
}


class CalendarEditor:
    """The forms of a calendar together, filled from a definition or from what was typed. `more`:
    the part that is to have more empty rows."""

    def __init__(
        self,
        definition: CalendarDefinition | None = None,
        *,
        version: int = 0,
        data: Any = None,
        more: str = "",
    ) -> None:
        self.main = CalendarForm(data, initial=main_values(definition) | {"version": version})
        self.parts = []
        for name, (title, form) in PARTS.items():
            factory: Any = forms.formset_factory(
                form, extra=1, max_num=2 * MOST_PARTS, can_order=name == "months"
            )
            given = with_more_rows(data, name) if data and more == name else data
            rows = factory(given, initial=part_rows(definition, name), prefix=name)
            self.parts.append((title, rows))

    def definition(self) -> CalendarDefinition | None:
        """Return the calendar that was typed; None when a form has errors, which it shows."""
        is_valid = [form.is_valid() for form in (self.main, *(rows for _title, rows in self.parts))]
        if not all(is_valid):
            return None
        try:
            return self._move_to_anchor(check_definition(self._values()))
        except Problem as problem:
            self.main.add_error(None, problem.detail)
            return None

    def _values(self) -> dict[str, Any]:
        values = dict(self.main.cleaned_data)
        for name in ("anchor_day", "anchor_date", "version"):
            values.pop(name)
        values = {name: value for name, value in values.items() if value is not None}
        if "first_weekday" in values:
            values["first_weekday"] -= 1
        for _title, rows in self.parts:
            ordered = rows.ordered_forms if rows.can_order else rows.forms
            typed = [form.row() for form in ordered]
            values[rows.prefix] = [row for row in typed if row is not None]
        return values

    def _move_to_anchor(self, definition: CalendarDefinition) -> CalendarDefinition:
        """Move the calendar, with its moons, so that the chosen day has the chosen date. Raises
        `Invalid` and `Ambiguous`."""
        day, text = (self.main.cleaned_data[name] for name in ("anchor_day", "anchor_date"))
        if day is None and not text:
            return definition
        if day is None or not text:
            raise Invalid(_t("Write both the world day and its date, or neither."))
        now = read_day(Calendar(definition), text)
        by = round(day - (now or 0))
        moons = [
            moon.model_copy(update={"new_moon": moon.new_moon + by}) for moon in definition.moons
        ]
        change = {"year_one_begins": definition.year_one_begins + by, "moons": moons}
        return check_definition(definition.model_copy(update=change).model_dump())


def main_values(definition: CalendarDefinition | None) -> dict[str, Any]:
    if definition is None:
        return {"hours": 24, "minutes": 60, "year_one_begins": 0, "first_weekday": 1}
    values = definition.model_dump(exclude=set(PARTS))
    return values | {"first_weekday": definition.first_weekday + 1}


def part_rows(definition: CalendarDefinition | None, name: str) -> list[dict[str, Any]]:
    rows = definition.model_dump()[name] if definition else []
    for row in rows:
        if "other_names" in row:
            row["other_names"] = ", ".join(row["other_names"])
    return list(rows)


def with_more_rows(data: Mapping[str, Any], name: str) -> Any:
    changed: Any = data.copy()  # type: ignore[attr-defined]
    count = str(data.get(f"{name}-TOTAL_FORMS") or 0)
    changed[f"{name}-TOTAL_FORMS"] = str(min(int(count) if count.isdecimal() else 0, 150) + 3)
    return changed
