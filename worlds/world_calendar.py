"""The calendar of a world as it is stored: read, save, restore."""

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from math import isfinite
from typing import Any

from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from pydantic import ValidationError

from retrieval.errors import Invalid, NotFound, StaleVersion
from worlds.calendar_model import CalendarVersion
from worlds.calendars.arithmetic import Calendar
from worlds.calendars.date_parser import DateSpan, parse_date
from worlds.calendars.date_texts import date_text
from worlds.calendars.definition import CalendarDefinition
from worlds.models import World


def calendar_version(world: World) -> CalendarVersion | None:
    """Return the version that holds; None for a world that never had a calendar."""
    return CalendarVersion.objects.filter(world=world).order_by("-version").first()


def calendar_of(world: World) -> Calendar | None:
    """Return the calendar of a world, in one query; None: its days are counted."""
    return calendar_of_key(world.pk)


def calendar_of_key(world: Any) -> Calendar | None:
    """Return the calendar of the world with that key; None for no world, too."""
    rows = CalendarVersion.objects.filter(world=world).order_by("-version")
    stored = rows.first() if world else None
    if stored is None or stored.definition is None:
        return None
    return calendar_from_text(json.dumps(stored.definition, sort_keys=True))


@lru_cache(maxsize=128)
def calendar_from_text(text: str) -> Calendar:
    return Calendar(CalendarDefinition.model_validate_json(text))


@transaction.atomic
def save_calendar(
    world: World,
    definition: CalendarDefinition | None,
    *,
    by: str,
    expected_version: int | None = None,
) -> CalendarVersion:
    """Make `definition` the calendar of the world; None: count days. No stored day changes. An
    equal calendar makes no new version. Raises `StaleVersion`."""
    # Two people who save at once would otherwise take the same number.
    World.objects.select_for_update().get(pk=world.pk)
    stored = calendar_version(world)
    if expected_version is not None and expected_version != (stored.version if stored else 0):
        raise StaleVersion(
            _("Somebody else changed the calendar meanwhile: load it again, then decide."),
            version=stored.version if stored else None,
        )
    value = None if definition is None else definition.model_dump(mode="json")
    if (stored.definition if stored else None) == value:
        return stored or CalendarVersion(world=world, version=0)
    return CalendarVersion.objects.create(
        world=world,
        version=stored.version + 1 if stored else 1,
        definition=value,
        made_by=by[:160],
    )


def restore_calendar(world: World, version: int, *, by: str) -> CalendarVersion:
    """Save an older version again; 0 is the count of days before the first. Raises `NotFound`."""
    definition = None
    if version:
        row = CalendarVersion.objects.filter(world=world, version=version).first()
        if row is None:
            raise NotFound(_("There is no such version of the calendar."))
        definition = row.definition
    return save_calendar(world, definition and check_definition(definition), by=by)


def check_definition(values: Mapping[str, Any]) -> CalendarDefinition:
    """Return a calendar from untrusted values. Raises `Invalid` with each problem in words."""
    try:
        return CalendarDefinition.model_validate(values)
    except ValidationError as error:
        raise Invalid(" ".join(problems_of(error))) from error


def problems_of(error: ValidationError) -> list[str]:
    problems = []
    for each in error.errors(include_url=False, include_context=False, include_input=False):
        place = " ".join(str(part + 1 if isinstance(part, int) else part) for part in each["loc"])
        message = each["msg"].removeprefix("Value error, ")
        problems.append(f"{place}: {message}" if place else message)
    return problems


def language() -> str:
    """Return the language in which dates are written now."""
    return get_language() or "en"


def show_date(calendar: Calendar | None, at: float, *, time: bool = True) -> str:
    """Return a world day as a date in the reader's language, or as its number."""
    return date_text(calendar, at, language(), time=time)


def world_day_of(world: World, at: float | str | None) -> float | None:
    """Return the world day that a program means by a number or a date; of a month or year the
    first. Raises `Invalid` and `Ambiguous`, which say what to write."""
    if at is None or not isinstance(at, str):
        return at
    with suppress(ValueError):
        if isfinite(number := float(at)):
            return number
    span = parse_date(calendar_of(world), at, world.language) if at.strip() else None
    return span.first if span else None


def read_date(calendar: Calendar | None, text: str) -> DateSpan | None:
    """Return the days that a form's text means; None for an empty text. Raises `Invalid` and
    `Ambiguous`, in the reader's language."""
    return parse_date(calendar, text, language()) if text.strip() else None
