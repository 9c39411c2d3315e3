"""The field of a form that takes a date of the world's calendar, or the number of a world day."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from retrieval.errors import Problem
from worlds.calendars.arithmetic import Calendar
from worlds.calendars.date_texts import typed_text
from worlds.models import World
from worlds.world_calendar import calendar_of, language, read_date

DAY_FIELDS = ("in_world_at", "in_world_until", "since", "until")
"""Names of the fields of models that hold a world day."""


class DayField(forms.Field):
    """Its value is a world day or None. Of a month or year, `takes_last` takes the last day instead
    of the first. `calendar` is that of the world; None: days are numbers."""

    calendar: Calendar | None = None

    def __init__(self, *, takes_last: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.takes_last = takes_last
        self.widget.attrs |= {"autocomplete": "off", "maxlength": "200"}

    @classmethod
    def instead_of(cls, field: forms.Field, calendar: Calendar | None) -> "DayField":
        """Return a field for days in place of a number field."""
        new = cls(label=field.label, required=field.required, help_text=field.help_text)
        new.calendar = calendar
        # The admin gives its inputs their look by a class.
        new.widget.attrs |= {"class": field.widget.attrs.get("class", "")}
        return new

    def prepare_value(self, value: Any) -> Any:
        return typed_text(self.calendar, value, language()) if is_number(value) else value

    def to_python(self, value: Any) -> Any:
        if is_number(value) or value in self.empty_values:
            return None if value == "" else value
        try:
            span = read_date(self.calendar, str(value))
        except Problem as problem:
            raise ValidationError(problem.detail) from problem
        return span and (span.last if self.takes_last else span.first)

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != initial)
        except ValidationError:
            return True


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def use_calendar(form: forms.Form, world: World) -> None:
    """Let the fields of a form for days take dates of the world's calendar."""
    fields = [field for field in form.fields.values() if isinstance(field, DayField)]
    calendar = calendar_of(world) if fields else None
    for field in fields:
        field.calendar = calendar


def leave_out_label(form: forms.Form) -> None:
    """Without `in_world_label` when it only repeats the day of `in_world_at`: the calendar shows
    the date of a day. Words of the form's own, such as *at dusk*, keep their field."""
    day: Any = form.fields["in_world_at"]
    label = form.initial.get("in_world_label") or ""
    if day.calendar and says_only_the_day(day.calendar, label, form.initial.get("in_world_at")):
        del form.fields["in_world_label"]
        day.label, day.help_text = _("In-world date"), ""


def says_only_the_day(calendar: Calendar, label: str, at: Any) -> bool:
    if not label:
        return True
    try:
        span = read_date(calendar, label)
    except Problem:
        return False
    return span is not None and span.first == at


def read_day(calendar: Calendar | None, text: str, *, takes_last: bool = False) -> float | None:
    """Return the world day of a date or number that was typed; None for an empty text. Raises
    `Invalid` and `Ambiguous`."""
    span = read_date(calendar, text)
    if span is None:
        return None
    return span.last if takes_last else span.first
