"""The names by which a text can mean a month, festival, season, era or weekday of a calendar."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from worlds.calendars.arithmetic import Calendar
from worlds.calendars.definition import name_key

LETTER = r"[^\W\d_]"


@dataclass(frozen=True)
class Name:
    """`kind`: subject, era or weekday; `what` a subject is: month, festival or season; `index` in
    the list of the definition; `text` as it is written."""

    kind: str
    what: str
    index: int
    text: str = ""


class CalendarNames:
    def __init__(self, calendar: Calendar) -> None:
        self.calendar = calendar
        self.keys: dict[str, list[tuple[str, Name]]] = {}
        for spelling, name in spellings(calendar):
            key = name_key(spelling)
            if key and (key, name) not in self.keys.setdefault(name.kind, []):
                self.keys[name.kind].append((key, name))
        for names in self.keys.values():
            names.sort(key=lambda each: -len(each[0]))

    def find(self, text: str, kind: str) -> Iterator[tuple[Name, int, int]]:
        """Yield the names of that kind in `text` with their places, the longest first."""
        for key, name in self.keys.get(kind, ()):
            if found := pattern_of(key).search(text):
                yield name, found.start(), found.end()

    def starting_with(self, word: str) -> list[Name]:
        """Return the months, festivals and seasons with a name that begins with `word`."""
        found = [name for key, name in self.keys.get("subject", ()) if key.startswith(word)]
        return list(dict.fromkeys(found))

    def season_start(self, index: int, year: int) -> int:
        season = self.calendar.definition.seasons[index]
        month = self.calendar.index_of[name_key(season.month)]
        return self.calendar.month_start(year, month) + season.day - 1


def spellings(calendar: Calendar) -> Iterator[tuple[str, Name]]:
    definition = calendar.definition
    for at, month in enumerate(definition.months):
        name = Name("subject", "month", at, month.name)
        for spelling in (month.name, month.with_day, *month.other_names):
            yield spelling, name
    for at, festival in enumerate(definition.festivals):
        yield festival.name, Name("subject", "festival", at, festival.name)
    for at, season in enumerate(definition.seasons):
        yield season.name, Name("subject", "season", at, season.name)
    for at, era in enumerate(definition.eras):
        yield era.short, Name("era", "era", at, era.short)
        yield era.name, Name("era", "era", at, era.name)
    for at, weekday in enumerate(definition.weekdays):
        yield weekday, Name("weekday", "weekday", at, weekday)


@lru_cache(maxsize=4096)
def pattern_of(key: str) -> re.Pattern[str]:
    """Match a name that is no part of a longer word or number."""
    before = r"(?<!\d)" if key[0].isdigit() else f"(?<!{LETTER})" if key[0].isalpha() else ""
    after = r"(?!\d)" if key[-1].isdigit() else f"(?!{LETTER})" if key[-1].isalpha() else ""
    return re.compile(before + re.escape(key) + after + r"(?:\.(?!\d))?")


@lru_cache(maxsize=256)
def names_of(calendar: Calendar) -> CalendarNames:
    return CalendarNames(calendar)
