"""Which days the date of a claim means in the calendar of the world."""

import re
from dataclasses import replace

from django.utils.translation import gettext as _

from knowledge.fact_check.statement_parts import ClaimDate
from retrieval.errors import Problem
from retrieval.text import WORD, fold_name, is_cyrillic, word_stem
from worlds.calendars.arithmetic import Calendar
from worlds.calendars.date_parser import DateSpan, parse_date
from worlds.models import World
from worlds.world_calendar import calendar_of

YEAR_ALONE = re.compile(r"(\d+)(?: ?(?:м|го))?(?: ?(?:год[ау]?|годом|году|년))?")


def date_span(world: World, date: ClaimDate) -> DateSpan | None:
    """Return the days; None if the world has no calendar or the calendar no such date."""
    if (calendar := calendar_of(world)) is None:
        return None
    date = replace(date, text=_with_plain_months(date.text, calendar))
    year = YEAR_ALONE.fullmatch(date.text)
    text, language = (f"year {year[1]}", "en") if year else (date.text, date.language)
    try:
        return parse_date(calendar, text, language)
    except Problem:
        return None


def why_no_span(world: World) -> str:
    """Return the reason why `date_span` has no days."""
    if calendar_of(world) is None:
        return _(
            "This world has no calendar, so no date can be compared with its facts: choose one on"
            " the page Calendar."
        )
    return _("The date is not one of this world's calendar.")


def _with_plain_months(text: str, calendar: Calendar) -> str:
    """Return the text with Russian months as the calendar names them: `4 Оттепели` is one day."""
    months = calendar.definition.months
    names = [name for month in months for name in (month.name, *month.other_names)]
    by_stem = {word_stem(fold_name(name)): name for name in names if is_cyrillic(name.lower())}
    return WORD.sub(lambda match: by_stem.get(word_stem(match.group()), match.group()), text)
