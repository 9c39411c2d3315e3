"""Dates as people type them, in any of the site's languages. What fits no date, or several, is
refused with what to write instead: a date is never guessed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import floor

from django.utils.translation import gettext as _

from retrieval.errors import Ambiguous, Invalid
from worlds.calendars.arithmetic import Calendar, Date, is_world_day
from worlds.calendars.date_texts import date_text, month_text, whole_day_text, year_text
from worlds.calendars.names import Name, names_of
from worlds.calendars.number_texts import (
    CLOCK,
    FILLER,
    ISO,
    KOREAN_DAY,
    KOREAN_MONTH,
    NUMBER,
    ORDINAL,
    YEAR_MARK,
    clean_text,
    too_large,
    world_day,
)

LONGEST_TEXT = 200


@dataclass(frozen=True)
class DateSpan:
    """What a text means: a day or a moment, or the days from `first` to `last` of a month, season
    or year."""

    first: float
    last: float

    @property
    def is_one_day(self) -> bool:
        return self.first == self.last


def parse_date(calendar: Calendar | None, text: str, language: str) -> DateSpan:
    """Return the days that `text` means. A number alone is a world day. Raises `Invalid` when it is
    no date, and `Ambiguous` when it fits several, with what to write."""
    cleaned = clean_text(text)
    if (number := world_day(cleaned)) is not None:
        return DateSpan(number, number)
    if calendar is None:
        raise Invalid(
            _(
                "“%(text)s” is no world day: write a number such as 76530. Dates can be written "
                "once the world has a calendar."
            )
            % {"text": text[:80]}
        )
    if len(text) > LONGEST_TEXT:
        raise not_a_date(calendar, text, language)
    return DateReader(calendar, text.strip(), language).read(cleaned)


def example_date(calendar: Calendar, language: str) -> str:
    """Return a date of the calendar to show how one is written."""
    eras = calendar.forward_eras
    year = (eras[-1].first_year if eras else 1) + 99
    month = next(at for at, each in enumerate(calendar.months) if calendar.longest(at) > 1)
    day = min(3, calendar.month_lengths(year)[month])
    return whole_day_text(calendar, Date(year, month, max(day, 1)), language)


def not_a_date(calendar: Calendar, text: str, language: str) -> Invalid:
    return Invalid(
        _("“%(text)s” is no date of this calendar. Write it like %(example)s, or as a world day.")
        % {"text": text[:80], "example": example_date(calendar, language)}
    )


class DateReader:
    """Reads one text. What is understood is cut from it; something left over is an error."""

    def __init__(self, calendar: Calendar, text: str, language: str) -> None:
        self.calendar, self.text, self.language = calendar, text, language
        self.names = names_of(calendar)
        self.year: int | None = None
        self.day: int | None = None
        self.era: Name | None = None
        self.clock: tuple[int, int] | None = None

    def read(self, rest: str) -> DateSpan:
        rest = self._take_clock(rest)
        if iso := ISO.fullmatch(rest):
            subjects = [self._numbered_month(int(iso[2]))]
            self.year, self.day = int(iso[1]), int(iso[3])
            return self._only(self._spans(subjects, []))
        rest = self._take_era(rest)
        rest = self._take_marks(rest)
        rest, weekday = self._take(rest, "weekday")
        rest, subjects = self._take_subject(rest)
        loose = [(each.start(), int(each[0])) for each in NUMBER.finditer(rest)]
        left = FILLER.sub(" ", NUMBER.sub(" ", rest)).replace("\0", " ").strip(" .")
        if left or len(loose) > 2:
            raise self._no_date()
        place = rest.find("\0")
        span = self._only(self._spans(subjects, [(at - place, n) for at, n in loose]))
        if weekday:
            self._check_weekday(weekday[0], span)
        return self._with_clock(span)

    # --- cutting

    def _take_clock(self, rest: str) -> str:
        found = CLOCK.search(rest)
        if not found:
            return rest
        hour = int(found["hour"] or found["ko_hour"])
        minute = int(found["minute"] or found["ko_minute"] or 0)
        definition = self.calendar.definition
        if hour >= definition.hours or minute >= definition.minutes:
            values = {"hours": definition.hours, "minutes": definition.minutes}
            raise Invalid(
                _("There is no such time: a day has %(hours)d hours of %(minutes)d minutes.")
                % values
            )
        self.clock = hour, minute
        return rest[: found.start()].rstrip(" ,")

    def _take_era(self, rest: str) -> str:
        for name, start, end in self.names.find(rest, "era"):
            before = re.search(r"(?:year\s*)?(-?\d+)\s*(?:год[ау]?|г\.?|,)?\s*$", rest[:start])
            after = re.match(r"\s*,?\s*(?:year\s*)?(-?\d+)\s*(?:년|год[ау]?|г\.?)?", rest[end:])
            number = before or after
            if number is None:
                continue
            self.era, self.year = name, int(number[1])
            if before:
                return rest[: before.start()] + " " + rest[end:]
            return rest[:start] + " " + rest[end + number.end() :]
        return rest

    def _take_marks(self, rest: str) -> str:
        if self.year is None and (found := YEAR_MARK.search(rest)):
            self.year = int(found["after"] or found["before"])
            rest = rest[: found.start()] + " " + rest[found.end() :]
        for pattern in (KOREAN_DAY, ORDINAL):
            if self.day is None and (found := pattern.search(rest)):
                self.day = int(found[1])
                rest = rest[: found.start()] + " " + rest[found.end() :]
        return rest

    def _take(self, rest: str, kind: str) -> tuple[str, list[Name]]:
        """Cut the longest name of that kind; a zero marks its place. Several may be spelled so."""
        found = list(self.names.find(rest, kind))
        if not found:
            return rest, []
        _name, start, end = found[0]
        mark = "\0" if kind == "subject" else " "
        same = [name for name, *place in found if place == [start, end]]
        return rest[:start] + mark + rest[end:], same

    def _take_subject(self, rest: str) -> tuple[str, list[Name]]:
        """Cut the month, festival or season: by its name, its number in Korean, or the beginning
        of its name."""
        rest, subjects = self._take(rest, "subject")
        if subjects:
            return rest, subjects
        if found := KOREAN_MONTH.search(rest):
            numbered = self._numbered_month(int(found[1]))
            return rest[: found.start()] + "\0" + rest[found.end() :], [numbered]
        for word in re.finditer(r"[^\W\d_]{3,}", rest):
            if started := self.names.starting_with(word[0]):
                return rest[: word.start()] + "\0" + rest[word.end() :].lstrip("."), started
        return rest, []

    def _numbered_month(self, number: int) -> Name:
        months = [at for at, each in enumerate(self.calendar.months) if not each.intercalary]
        if not 1 <= number <= len(months):
            raise Invalid(
                _("There is no month %(number)d: the year has %(count)d months.")
                % {"number": number, "count": len(months)}
            )
        return Name("subject", "month", months[number - 1])

    # --- meaning

    def _spans(
        self, subjects: list[Name], loose: list[tuple[int, int]]
    ) -> dict[tuple[float, float], str]:
        """Return every reading of the text, each with how to write it without doubt."""
        readings: dict[tuple[float, float], str] = {}
        problems: list[Invalid] = []
        for subject in subjects or (None,):
            for day, year in self._numbers(subject, loose):
                try:
                    for span, words in self._resolve(subject, day, year):
                        readings[span.first, span.last] = words
                except Invalid as problem:
                    problems.append(problem)
        if not readings:
            raise problems[0] if problems else self._no_date()
        return readings

    def _numbers(
        self, subject: Name | None, loose: list[tuple[int, int]]
    ) -> list[tuple[int | None, int]]:
        """Return the possible pairs of a day (None: no day) and a year."""
        numbers = [number for _place, number in loose]
        if self.year is not None:
            days = [*([self.day] if self.day is not None else []), *numbers]
            if len(days) > 1:
                raise self._no_date()
            return [(days[0] if days else None, self.year)]
        if self.day is not None:
            if len(numbers) != 1:
                raise self._without_year()
            return [(self.day, numbers[0])]
        if subject is None or not numbers:
            raise self._without_year() if subject else self._no_date()
        if len(numbers) == 1:
            return [(None, self._lone_year(subject, numbers[0]))]
        (first_place, first), (last_place, last) = loose
        if first_place < 0 < last_place and (self._has_day(subject, first) or first < 100):
            # 3 Frostmoon 12: the order in which dates are shown. A day too many is no year.
            return [(first, last)]
        pairs: list[tuple[int | None, int]] = [(first, last), (last, first)]
        return [pair for pair in pairs if self._has_day(subject, pair[0])] or pairs[:1]

    def _has_day(self, subject: Name, day: int | None) -> bool:
        if subject.what != "month" or day is None:
            return False
        return 1 <= day <= self.calendar.longest(subject.index)

    def _lone_year(self, subject: Name, number: int) -> int:
        """Return the only number as the year, unless it may as well be a day without a year."""
        if subject.what != "month" or not self.calendar.longest(subject.index) > 1:
            return number
        if 1 <= number <= self.calendar.longest(subject.index):
            raise self._without_year()
        return number

    def _resolve(
        self, subject: Name | None, day: int | None, number: int
    ) -> Iterator[tuple[DateSpan, str]]:
        for year in self._years(number):
            if subject is None:
                if day is not None:
                    raise self._no_date()
                first, last = self.calendar.year_start(year), self.calendar.year_start(year + 1)
                words = year_text(self.calendar, year, self.language, alone=True)
                yield DateSpan(first, last - 1), words
            elif subject.what == "month":
                yield self._month_or_day(year, subject.index, day)
            elif day is not None:
                raise self._no_date()
            else:
                span = self._named_days(subject, year)
                name = f"{subject.text} {year_text(self.calendar, year, self.language)}"
                yield span, name

    def _month_or_day(self, year: int, month: int, day: int | None) -> tuple[DateSpan, str]:
        calendar, language = self.calendar, self.language
        length, name = calendar.month_lengths(year)[month], calendar.months[month].name
        start, written = calendar.month_start(year, month), year_text(calendar, year, language)
        if not length:
            values = {"name": name, "year": written}
            raise Invalid(_("There is no %(name)s in the year %(year)s.") % values)
        if day is None:
            words = month_text(calendar, year, month, language)
            return DateSpan(start, start + length - 1), words
        if not 1 <= day <= length:
            values = {"name": name, "year": written, "count": str(length)}
            text = _("%(name)s has %(count)s days in the year %(year)s: write one of them.")
            raise Invalid(text % values)
        at = start + day - 1
        return DateSpan(at, at), whole_day_text(calendar, Date(year, month, day), language)

    def _named_days(self, subject: Name, year: int) -> DateSpan:
        calendar = self.calendar
        if subject.what == "festival":
            festival = calendar.definition.festivals[subject.index]
            for first, name in calendar.festivals_of(year):
                if name == festival.name:
                    return DateSpan(first, first + festival.days - 1)
            values = {"name": festival.name, "year": year_text(calendar, year, self.language)}
            raise Invalid(_("There is no %(name)s in the year %(year)s.") % values)
        first = self.names.season_start(subject.index, year)
        starts = [
            self.names.season_start(at, each)
            for each in (year, year + 1)
            for at in range(len(calendar.definition.seasons))
        ]
        following = [start for start in starts if start > first]
        return DateSpan(first, min(following) - 1)

    def _years(self, number: int) -> list[int]:
        """Return the years of the calendar that the written number may mean."""
        calendar = self.calendar
        eras = calendar.definition.eras
        if self.era:
            era = eras[self.era.index]
            year = calendar.year_in_era(number, era)
            if year is None:
                values = {"number": number, "era": era.name}
                raise Invalid(_("The era %(era)s has no year %(number)d.") % values)
            return [year]
        if not eras:
            return [number]
        fitting = {
            era.short: year
            for era in calendar.forward_eras
            if (year := calendar.year_in_era(number, era)) is not None
        }
        if "" in fitting:
            return [fitting[""]]
        if not fitting:
            raise self._before_the_beginning(number)
        return [*fitting.values()]

    def _before_the_beginning(self, number: int) -> Invalid:
        calendar, first = self.calendar, self.calendar.first_year
        if first is None:
            return Invalid(
                _("There is no year %(number)d: write the era, such as %(example)s.")
                % {"number": number, "example": example_date(calendar, self.language)}
            )
        start = date_text(calendar, calendar.year_start(first), self.language)
        return Invalid(
            _(
                "There is no year %(number)d: the calendar begins on %(start)s. Write a later "
                "date, or a world day as a number."
            )
            % {"number": number, "start": start}
        )

    # --- answers

    def _only(self, readings: dict[tuple[float, float], str]) -> DateSpan:
        if len(readings) > 1:
            choices = sorted(set(readings.values()))
            raise Ambiguous(
                _("“%(text)s” can be several dates: write %(choices)s.")
                % {"text": self.text, "choices": _(" or ").join(choices)},
                candidates=choices,
            )
        span = DateSpan(*next(iter(readings)))
        if not (is_world_day(span.first) and is_world_day(span.last)):
            raise too_large()
        return span

    def _with_clock(self, span: DateSpan) -> DateSpan:
        if self.clock is None:
            return span
        if not span.is_one_day:
            raise self._no_date()
        date = self.calendar.date_of(span.first)
        at = self.calendar.day_of(Date(date.year, date.month, date.day, *self.clock))
        return DateSpan(at, at)

    def _check_weekday(self, weekday: Name, span: DateSpan) -> None:
        right = self.calendar.weekday_of(self.calendar.date_of(floor(span.first)))
        written = self.calendar.definition.weekdays[weekday.index]
        if not span.is_one_day:
            raise self._no_date()
        if right != written:
            date = date_text(self.calendar, span.first, self.language)
            values = {"date": date, "right": right or "–", "written": written}
            text = _("%(date)s is no %(written)s: its weekday is %(right)s.")
            raise Invalid(text % values)

    def _no_date(self) -> Invalid:
        return not_a_date(self.calendar, self.text, self.language)

    def _without_year(self) -> Invalid:
        values = {"text": self.text, "example": example_date(self.calendar, self.language)}
        return Invalid(_("“%(text)s” lacks the year: write it like %(example)s.") % values)
