"""Which days the date of a claim means in the calendar of the world."""

import re

from knowledge.fact_check.claims import ClaimDate
from retrieval.errors import Problem
from worlds.calendars.date_parser import DateSpan, parse_date
from worlds.models import World
from worlds.world_calendar import calendar_of

YEAR_ALONE = re.compile(r"(\d+)(?: ?(?:м|го))?(?: ?(?:год[ау]?|годом|году|년))?")


def date_span(world: World, date: ClaimDate) -> DateSpan | None:
    """Return the days; None if the world has no calendar or the calendar no such date."""
    if (calendar := calendar_of(world)) is None:
        return None
    year = YEAR_ALONE.fullmatch(date.text)
    text, language = (f"year {year[1]}", "en") if year else (date.text, date.language)
    try:
        return parse_date(calendar, text, language)
    except Problem:
        return None
