"""REST for engines: the calendar of the key's world, and dates of it."""

from math import floor

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from ninja import Body, Query, Router

from retrieval.errors import Invalid
from worlds.calendar_model import CalendarVersion
from worlds.calendar_schemas import (
    CalendarOut,
    CalendarPut,
    CalendarVersionOut,
    CalendarVersions,
    DateOut,
    DateQuery,
    DateSpanOut,
    DateTextQuery,
    MoonOut,
)
from worlds.calendars.arithmetic import Calendar, is_world_day
from worlds.calendars.date_parser import parse_date
from worlds.calendars.date_texts import date_in_calendar
from worlds.calendars.definition import CalendarDefinition
from worlds.calendars.moons import phases_on
from worlds.calendars.presets import PRESETS, preset, preset_title
from worlds.keys import Scope
from worlds.rest import NeedsKey, caller_of, expecting, require_gm, require_whole_world, tag
from worlds.world_calendar import calendar_of, calendar_version, save_calendar, show_date

router = Router(tags=["world"], auth=NeedsKey(Scope.TOOLS_READ))
MOST_VERSIONS = 50


@router.get(
    "/calendar", operation_id="calendar_get", summary="Get the calendar", response=CalendarOut
)
def get_calendar(request: HttpRequest, response: HttpResponse) -> CalendarOut:
    """Players may read it too. Send its `ETag` as `If-Match` with a change."""
    world = caller_of(request).world
    stored = calendar_version(world)
    tag(response, stored.version if stored else 0)
    return present_calendar(stored, world.language)


@router.put(
    "/calendar",
    operation_id="calendar_put",
    summary="Set the calendar",
    response=CalendarOut,
    auth=NeedsKey(Scope.WORLD_WRITE),
)
def put_calendar(
    request: HttpRequest, response: HttpResponse, change: Body[CalendarPut]
) -> CalendarOut:
    """The stored days stay as they are: what changes is how they are called. The calendar from
    before stays among the versions."""
    caller = require_whole_world(request)
    definition = change.definition
    if change.preset:
        definition = preset(change.preset, caller.world.language)
    stored = calendar_version(caller.world)
    with expecting(request, stored.version if stored else 0) as version:
        row = save_calendar(
            caller.world, definition, by=str(caller.key or ""), expected_version=version
        )
    tag(response, row.version)
    return present_calendar(row, caller.world.language)


@router.get(
    "/calendar/versions",
    operation_id="calendar_versions",
    summary="Versions of the calendar",
    response=CalendarVersions,
)
def list_versions(request: HttpRequest) -> CalendarVersions:
    """The latest first. To restore one, set its definition again."""
    rows = CalendarVersion.objects.filter(world=require_gm(request).world)[:MOST_VERSIONS]
    return CalendarVersions(
        versions=[
            CalendarVersionOut(
                version=row.version,
                definition=stored_definition(row),
                made_by=row.made_by,
                created_at=row.created_at,
            )
            for row in rows
        ]
    )


@router.get(
    "/calendar/date",
    operation_id="calendar_date",
    summary="Get the date of a world day",
    response=DateOut,
)
def get_date(request: HttpRequest, query: Query[DateQuery]) -> DateOut:
    """The date with its weekday, festivals and phases of the moons."""
    world = caller_of(request).world
    calendar = calendar_of(world)
    require_world_day(query.at)
    with translation.override(query.language or world.language):
        return present_date(calendar, query.at)


@router.get(
    "/calendar/parse",
    operation_id="calendar_parse",
    summary="Get the world day of a date",
    response=DateSpanOut,
)
def read_date_text(request: HttpRequest, query: Query[DateTextQuery]) -> DateSpanOut:
    """Dates in English, Russian and Korean are understood. 422 for a text that is no date
    or can be several; the answer says what to write."""
    world = caller_of(request).world
    calendar, language = calendar_of(world), query.language or world.language
    with translation.override(language):
        span = parse_date(calendar, query.text, language)
        return DateSpanOut(
            first=span.first,
            last=span.last,
            first_text=show_date(calendar, span.first),
            last_text=show_date(calendar, span.last),
        )


def require_world_day(at: float) -> None:
    if not is_world_day(at):
        raise Invalid("A world day lies between -1,000,000,000,000 and 1,000,000,000,000.")


def stored_definition(row: CalendarVersion | None) -> CalendarDefinition | None:
    if row is None or row.definition is None:
        return None
    return CalendarDefinition.model_validate(row.definition)


def present_calendar(row: CalendarVersion | None, language: str) -> CalendarOut:
    return CalendarOut(
        version=row.version if row else 0,
        definition=stored_definition(row),
        presets=[*PRESETS],
        preset_names={name: preset_title(name, language) for name in PRESETS},
    )


def present_date(calendar: Calendar | None, at: float) -> DateOut:
    """Describe a world day in the language in force."""
    date = date_in_calendar(calendar, at) if calendar else None
    if calendar is None or date is None:
        return DateOut(
            at=at,
            text=show_date(None, at),
            year=None,
            era="",
            month="",
            day=None,
            weekday="",
            festivals=[],
            moons=[],
        )
    era_year, whole = calendar.era_year(date.year), floor(at)
    return DateOut(
        at=at,
        text=show_date(calendar, at),
        year=era_year.number if era_year else None,
        era=era_year.era.name if era_year and era_year.era else "",
        month=calendar.months[date.month].name,
        day=date.day,
        weekday=calendar.weekday_of(date),
        festivals=[name for day, name in calendar.festivals_of(date.year) if day == whole],
        moons=[
            MoonOut(name=moon.name, phase=moon.phase, symbol=moon.symbol)
            for moon in phases_on(calendar.definition, at)
        ],
    )
