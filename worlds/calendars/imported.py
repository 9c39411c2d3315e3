"""Calendars from other programs: a calendar of a Kanka export, and an export of the Foundry module
Simple Calendar. Both are JSON."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from pydantic import ValidationError

from retrieval.errors import Invalid
from worlds.calendars.definition import CalendarDefinition

MOST_BYTES = 2_000_000
Values = dict[str, Any]


def read_calendar_file(content: bytes) -> CalendarDefinition:
    """Return the calendar in a file; its day 0 is the first day of year 1. Raises `Invalid` for
    another file, and for a calendar that cannot be converted exactly."""
    if len(content) > MOST_BYTES:
        raise Invalid(_("The file is too large for a calendar."))
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Invalid(_("The file is no JSON.")) from error
    found, reader = calendar_in(value)
    try:
        return CalendarDefinition.model_validate(reader(found))
    except (ValidationError, TypeError, KeyError, AttributeError, ValueError) as error:
        text = _("This calendar cannot be used: %(problem)s")
        raise Invalid(text % {"problem": str(error)[:500]}) from error


def calendar_in(value: Any) -> tuple[Values, Callable[[Values], Values]]:
    """Return the only calendar in a file with the function that reads it."""
    if not isinstance(value, dict):
        raise no_calendar()
    if isinstance(value.get("calendars"), list):
        calendars = [each for each in value["calendars"] if isinstance(each, dict)]
        if len(calendars) != 1:
            names = ", ".join(str(each.get("name", "?"))[:60] for each in calendars)
            text = _("The file holds several calendars: %(names)s. Export one alone.")
            raise Invalid(text % {"names": names})
        return calendars[0], simple_calendar
    inner = value.get("calendar")
    for candidate in (inner, value):
        if isinstance(candidate, dict) and is_simple_calendar(candidate):
            return {"name": value.get("name", "")} | candidate, simple_calendar
    data = value.get("data", value)
    if isinstance(data, dict) and "months" in data and "weekdays" in data:
        return data, kanka_calendar
    raise no_calendar()


def no_calendar() -> Invalid:
    return Invalid(
        _(
            "The file holds no calendar: choose the JSON of a calendar of Kanka, or an export of "
            "Simple Calendar for Foundry."
        )
    )


def is_simple_calendar(value: Mapping[str, Any]) -> bool:
    months = value.get("months")
    return isinstance(months, list) and any(
        isinstance(month, dict) and "numberOfDays" in month for month in months
    )


def as_list(value: Any) -> list[Any]:
    """Kanka's exports hold lists, or texts of JSON with lists or numbered objects."""
    value = json.loads(value) if isinstance(value, str) and value.strip() else value
    return list(value.values()) if isinstance(value, dict) else list(value or [])


def kanka_calendar(data: Values) -> Values:
    months = [
        {
            "name": str(each["name"]),
            "days": int(each["length"]),
            "intercalary": each.get("type") == "intercalary",
            "other_names": [str(each["alias"])] if each.get("alias") else [],
        }
        for each in as_list(data["months"])
    ]
    suffix = str(data.get("suffix") or "").strip()
    start = int(data.get("start_offset") or 0)
    weekdays = [str(each) for each in as_list(data["weekdays"])]
    return {
        "name": str(data.get("name") or _("Calendar")),
        "months": months,
        "weekdays": weekdays,
        "weeks_begin_with_month": data.get("reset") == "month",
        "first_weekday": start % len(weekdays) if weekdays else 0,
        "leap_rules": kanka_leap_rules(data, months),
        "eras": kanka_eras(suffix, skips_zero=bool(data.get("skip_year_zero"))),
        "moons": [
            {
                "name": str(each["name"]),
                "period": float(each["fullmoon"]),
                # Kanka counts from a full moon on the first day, half a period after a new moon.
                "new_moon": float(each.get("offset") or 0) + float(each["fullmoon"]) / 2,
            }
            for each in as_list(data.get("moons"))
        ],
        "seasons": [
            {
                "name": str(each["name"]),
                "month": months[int(each["month"]) - 1]["name"],
                "day": int(each["day"]),
            }
            for each in as_list(data.get("seasons"))
        ],
    }


def kanka_leap_rules(data: Values, months: list[Values]) -> list[Values]:
    if not data.get("has_leap_year"):
        return []
    rule = {
        "month": months[int(data["leap_year_month"]) - 1]["name"],
        "days": int(data["leap_year_amount"]),
        "every": int(data["leap_year_offset"]),
        "offset": int(data.get("leap_year_start") or 0),
    }
    return [rule]


def kanka_eras(suffix: str, *, skips_zero: bool) -> list[Values]:
    if not suffix:
        return []
    era = {"name": suffix, "short": suffix, "first_year": 1}
    before = {"name": f"−{suffix}", "short": f"−{suffix}", "first_year": 0, "backwards": True}
    return [era, before] if skips_zero else [era]


def simple_calendar(data: Values) -> Values:
    rows = as_list(data["months"])
    months = [simple_month(each) for each in rows]
    year, time = data.get("year") or {}, data.get("time") or {}
    postfix = str(year.get("postfix") or year.get("prefix") or "").strip()
    weekdays = [str(each["name"]) for each in as_list(data.get("weekdays"))]
    starts = {each.get("startingWeekday") for each in rows} - {None}
    return {
        "name": str(data.get("name") or _("Calendar")),
        "months": months,
        "weekdays": weekdays,
        "weeks_begin_with_month": bool(starts),
        "first_weekday": int(year.get("firstWeekday") or 0),
        "leap_rules": simple_leap_rules(data.get("leapYear") or {}, rows),
        "eras": [{"name": postfix, "short": postfix, "first_year": 1}] if postfix else [],
        "moons": [
            {
                "name": str(each["name"]),
                "period": float(each["cycleLength"]),
                "new_moon": float(each.get("cycleDayAdjust") or 0),
            }
            for each in as_list(data.get("moons"))
        ],
        "seasons": [
            {
                "name": str(each["name"]),
                "month": months[int(each["startingMonth"])]["name"],
                "day": int(each["startingDay"]) + 1,
            }
            for each in as_list(data.get("seasons"))
        ],
        "hours": int(time.get("hoursInDay") or 24),
        "minutes": int(time.get("minutesInHour") or 60),
    }


def simple_month(each: Values) -> Values:
    short, name = str(each.get("abbreviation") or ""), str(each["name"])
    return {
        "name": name,
        "days": int(each["numberOfDays"]),
        "intercalary": bool(each.get("intercalary")),
        "other_names": [short] if short and short != name else [],
    }


def simple_leap_rules(leap: Values, rows: list[Values]) -> list[Values]:
    rules = []
    known: dict[str, Values] = {
        "gregorian": {"every": 4, "except_every": 100, "but_every": 400},
        "custom": {"every": leap.get("customMod")},
    }
    intervals = known.get(str(leap.get("rule")))
    for each in rows if intervals else []:
        days = int(each["numberOfDays"])
        more = int(each.get("numberOfLeapYearDays", days)) - days
        if more < 0:
            text = _("%(name)s has fewer days in leap years, which cannot be stored.")
            raise Invalid(text % {"name": each["name"]})
        if more:
            rules.append({"month": str(each["name"]), "days": more, **(intervals or {})})
    return rules
