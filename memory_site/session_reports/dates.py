"""In-world dates in a report: by the calendar of the world. In a world without one, the dates that
its rows carry teach how it writes them: `12 Lantern 212` is day 76541, so `14 Lantern 212` is day
76543."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from episodes.models import Episode, Scene, Session
from knowledge.models import Lore
from memory_site.session_reports.proposal import ProposedDate
from memory_site.session_reports.sentences import Sentence
from retrieval.errors import Problem
from worlds.calendars.arithmetic import Calendar
from worlds.calendars.date_parser import parse_date
from worlds.calendars.names import spellings
from worlds.models import World
from worlds.world_calendar import calendar_of

MOST_LABELS = 2_000
MOST_DATES = 5
LONGEST_MONTH = 45
LABEL = re.compile(r"^(\d{1,2}) ([^\W\d]\w*)(?: (\d+))?$")


def dates_of_world(
    world: World, sentences: Sequence[Sentence], language: str
) -> tuple[list[ProposedDate], list[str]]:
    """Return the dates that the sentences name, and the names of the months that are known."""
    if calendar := calendar_of(world):
        names = [spelling for spelling, name in spellings(calendar) if name.what == "month"]
        return dates_in_calendar(calendar, sentences, names, language), names
    months = known_months(world)
    return proposed_dates(sentences, months), [month.name for month in months]


def dates_in_calendar(
    calendar: Calendar, sentences: Sequence[Sentence], names: Sequence[str], language: str
) -> list[ProposedDate]:
    """Return what the calendar reads as one day; a day without its year is none."""
    words = "|".join(sorted({re.escape(name) for name in names if name}, key=len, reverse=True))
    pattern = re.compile(rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{words})\w*(?: \d+)?", re.I)
    found: dict[float, ProposedDate] = {}
    for sentence in sentences:
        for match in pattern.finditer(sentence.text) if words else ():
            with suppress(Problem):
                span = parse_date(calendar, match.group(), language)
                if span.is_one_day:
                    date = ProposedDate(in_world_at=span.first, quote=sentence.quote)
                    date.in_world_label = match.group()
                    found.setdefault(span.first, date)
    return list(found.values())[:MOST_DATES]


@dataclass(frozen=True)
class KnownMonth:
    """A month of a year, by a date of it that is known: `day` of the month is `at`."""

    name: str
    year: str
    day: int
    at: float


def known_months(world: World) -> list[KnownMonth]:
    """Read the dates of the world's rows: one query for each kind, the latest first."""
    months: dict[tuple[str, str], KnownMonth] = {}
    for model in (Session, Scene, Episode, Lore):
        rows = model._default_manager.filter(world=world, in_world_at__isnull=False)
        columns = rows.exclude(in_world_label="").order_by("-in_world_at")
        for at, label in columns.values_list("in_world_at", "in_world_label")[:MOST_LABELS]:
            # A scene adds the hour: `12 Lantern 212, evening`.
            if match := LABEL.match(label.split(",")[0].strip()):
                day, name, year = match.groups(default="")
                key = name.casefold(), year
                months.setdefault(key, KnownMonth(name, year, int(day), float(int(at))))
    return list(months.values())


def proposed_dates(
    sentences: Sequence[Sentence], months: Sequence[KnownMonth]
) -> list[ProposedDate]:
    """Return the dates that the sentences name, in order, each once. A month without its year is
    that of the latest year."""
    if not months:
        return []
    latest = {month.name.casefold(): month for month in sorted(months, key=lambda each: each.at)}
    by_year = {(month.name.casefold(), month.year): month for month in months}
    names = "|".join(sorted(map(re.escape, latest), key=len, reverse=True))
    pattern = re.compile(
        rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({names})(?: (\d+))?\b", re.IGNORECASE
    )
    found: dict[str, ProposedDate] = {}
    for sentence in sentences:
        for match in pattern.finditer(sentence.text):
            day, name, year = match.groups(default="")
            key = name.casefold()
            month = by_year.get((key, year)) if year else latest[key]
            if not 1 <= int(day) <= LONGEST_MONTH:
                continue
            label = (
                f"{int(day)} {month.name if month else name} {year or (month and month.year) or ''}"
            )
            at = month.at + int(day) - month.day if month else None
            date = ProposedDate(in_world_at=at, in_world_label=label.strip(), quote=sentence.quote)
            found.setdefault(date.in_world_label, date)
    return list(found.values())[:MOST_DATES]
