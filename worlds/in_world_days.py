"""In-world days for people: as dates of the world's calendar, else by the labels that the world's
own entries, sessions and episodes carry, else as numbers."""

from collections.abc import Callable, Iterable
from typing import Any

from django.apps import apps

from worlds.audiences import Audience, Guarded
from worlds.calendars.arithmetic import Calendar
from worlds.models import World
from worlds.world_calendar import calendar_of, show_date

DATE_FIELDS = (("in_world_at", "in_world_label"), ("in_world_until", "in_world_until_label"))


class DayNames(dict[float, str]):
    """Labels of days, for worlds without a calendar, beside the `calendar` of a world with one."""

    def __init__(self, names: dict[float, str], calendar: Calendar | None = None) -> None:
        super().__init__(names)
        self.calendar = calendar


def names_of_days(
    world: World,
    audience: Audience,
    days: Iterable[float | None],
    *,
    calendar: Calendar | None = None,
) -> DayNames:
    """Return how `days` are called: by the calendar, which is read unless it is given, or by the
    labels of anything that `audience` may know of; where several call a day differently, by the
    shortest (the day without its hour)."""
    numbers = {day for day in days if day is not None}
    calendar = calendar or (calendar_of(world) if numbers else None)
    if calendar or not numbers:
        return DayNames({}, calendar)
    names: dict[float, str] = {}
    for rows, at, label in querysets_with_dates(world, audience):
        labels = rows.filter(**{f"{at}__in": numbers}).exclude(**{label: ""})
        for day, name in labels.values_list(at, label).distinct():
            names[day] = min(names.get(day, name), name, key=lambda each: (len(each), each))
    return DayNames(names)


def day_name(day: float | None, names: dict[float, str]) -> str:
    """Return the date of a world day, else its label, else *day 76,562*; three dots for a day that
    nobody knows."""
    if day is None:
        return "…"
    return names.get(day) or show_date(getattr(names, "calendar", None), day)


def moment_text(row: Any, calendar: Callable[[], Calendar | None], *, until: bool = False) -> str:
    """Return when a row happened: its own label, else its day as a date; empty where it has
    neither. `calendar` is called only where it is needed."""
    at, label = DATE_FIELDS[until]
    if written := getattr(row, label, ""):
        return str(written)
    day = getattr(row, at, None)
    return "" if day is None else show_date(calendar(), day)


def querysets_with_dates(world: World, audience: Audience) -> Iterable[tuple[Any, str, str]]:
    """Yield the rows of every model with a date that `audience` may know of, and the names of its
    two fields."""
    for model in apps.get_models():
        names = {field.name for field in model._meta.get_fields()}
        for at, label in DATE_FIELDS:
            if issubclass(model, Guarded) and {at, label} <= names:
                rows: Any = model._default_manager.filter(world=world)
                rows = rows.visible_to(audience)
                yield rows.only_published() if hasattr(rows, "only_published") else rows, at, label
