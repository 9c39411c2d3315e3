"""Exact conversion between world days and dates, in both directions and for every year."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import floor, lcm

from worlds.calendars.definition import (
    DAY_LIMIT,
    CalendarDefinition,
    Era,
    LeapRule,
    Month,
    name_key,
)


@dataclass(frozen=True, order=True)
class Date:
    """A moment of a calendar. `year` is the calendar's own year, of no era; `month` counts from 0,
    festivals between months included; `day`, from 1."""

    year: int
    month: int
    day: int
    hour: int = 0
    minute: int = 0


@dataclass(frozen=True)
class EraYear:
    era: Era | None
    number: int


class Calendar:
    """A definition with what is computed from it once."""

    def __init__(self, definition: CalendarDefinition) -> None:
        self.definition = definition
        self.months: list[Month] = definition.months
        self.index_of = {name_key(month.name): at for at, month in enumerate(self.months)}
        self.rules = [(self.index_of[name_key(rule.month)], rule) for rule in definition.leap_rules]
        self.ordinary_year = sum(month.days for month in self.months)
        self.days_in_weeks = sum(month.days for month in self.months if not month.intercalary)
        self.minutes_a_day = definition.hours * definition.minutes
        self._month_lengths = lru_cache(maxsize=512)(self._compute_month_lengths)
        self._year_start = lru_cache(maxsize=4096)(self._compute_year_start)

    # --- years

    def year_start(self, year: int) -> int:
        """Return the world day with which `year` begins."""
        return self._year_start(year)

    def _compute_year_start(self, year: int) -> int:
        leap = sum(rule.days * leap_years_before(rule, year) for _month, rule in self.rules)
        leap -= sum(rule.days * leap_years_before(rule, 1) for _month, rule in self.rules)
        return self.definition.year_one_begins + (year - 1) * self.ordinary_year + leap

    def year_of(self, day: int) -> int:
        """Return the year of a world day: the last one that begins on it or before."""
        low = high = 1 + (day - self.definition.year_one_begins) // self.ordinary_year
        step = 1
        while self.year_start(low) > day:
            low, step = low - step, step * 2
        step = 1
        while self.year_start(high + 1) <= day:
            high, step = high + step, step * 2
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.year_start(middle) <= day else (low, middle - 1)
        return low

    def month_lengths(self, year: int) -> tuple[int, ...]:
        """Return the days of each month and festival of `year`."""
        return self._month_lengths(year)

    def _compute_month_lengths(self, year: int) -> tuple[int, ...]:
        lengths = [month.days for month in self.months]
        for month, rule in self.rules:
            lengths[month] += rule.days * is_leap(rule, year)
        return tuple(lengths)

    def longest(self, month: int) -> int:
        """Return the most days that a month ever has."""
        return self.months[month].days + sum(rule.days for at, rule in self.rules if at == month)

    # --- dates

    def date_of(self, at: float) -> Date:
        """Return the date of a moment; its time is rounded to the minute, never to the next day."""
        day = floor(at)
        year = self.year_of(day)
        days_left = day - self.year_start(year)
        month = 0
        lengths = self.month_lengths(year)
        while days_left >= lengths[month]:
            days_left -= lengths[month]
            month += 1
        minute = min(round((at - day) * self.minutes_a_day), self.minutes_a_day - 1)
        hour, minute = divmod(minute, self.definition.minutes)
        return Date(year, month, days_left + 1, hour, minute)

    def day_of(self, date: Date) -> float:
        """Return the moment of a date that exists, as a world day with the time as its fraction."""
        day = self.month_start(date.year, date.month) + date.day - 1
        minutes = date.hour * self.definition.minutes + date.minute
        return day + minutes / self.minutes_a_day

    def month_start(self, year: int, month: int) -> int:
        return self.year_start(year) + sum(self.month_lengths(year)[:month])

    def exists(self, date: Date) -> bool:
        lengths = self.month_lengths(date.year)
        return (
            0 <= date.month < len(lengths)
            and 1 <= date.day <= lengths[date.month]
            and 0 <= date.hour < self.definition.hours
            and 0 <= date.minute < self.definition.minutes
        )

    # --- weeks

    def weekday_of(self, date: Date) -> str:
        """Return the name of the weekday; empty for a day outside weeks."""
        weekdays = self.definition.weekdays
        if not weekdays or self.months[date.month].intercalary:
            return ""
        if self.definition.weeks_begin_with_month:
            return weekdays[(date.day - 1) % len(weekdays)]
        passed = self._week_days_before(date) + self.definition.first_weekday
        return weekdays[passed % len(weekdays)]

    def _week_days_before(self, date: Date) -> int:
        """Count the days inside weeks from the first day of year 1 to `date`; negative before."""
        days = (date.year - 1) * self.days_in_weeks + date.day - 1
        for month, rule in self.rules:
            if not self.months[month].intercalary:
                before = leap_years_before(rule, date.year) - leap_years_before(rule, 1)
                days += rule.days * before
        lengths = self.month_lengths(date.year)[: date.month]
        return days + sum(
            length
            for month, length in zip(self.months, lengths, strict=False)
            if not month.intercalary
        )

    # --- eras

    @cached_property
    def forward_eras(self) -> list[Era]:
        eras = [era for era in self.definition.eras if not era.backwards]
        return sorted(eras, key=lambda era: era.first_year)

    @cached_property
    def backward_era(self) -> Era | None:
        return next((era for era in self.definition.eras if era.backwards), None)

    @cached_property
    def first_year(self) -> int | None:
        """The year before which the calendar has no years; None: it has all."""
        if self.backward_era or not self.forward_eras:
            return None
        return self.forward_eras[0].first_year

    def era_year(self, year: int) -> EraYear | None:
        """Return the number of `year` in its era; None before the calendar begins."""
        if not self.definition.eras:
            return EraYear(None, year)
        era = next((each for each in reversed(self.forward_eras) if each.first_year <= year), None)
        if era:
            return EraYear(era, year - era.first_year + 1)
        if self.backward_era and year <= self.backward_era.first_year:
            return EraYear(self.backward_era, self.backward_era.first_year - year + 1)
        return None

    def year_in_era(self, number: int, era: Era) -> int | None:
        """Return the year that is `number` of `era`; None where the era has no such year."""
        if number < 1:
            return None
        if era.backwards:
            return era.first_year - number + 1
        year = era.first_year + number - 1
        found = self.era_year(year)
        return year if found and found.era is era else None

    # --- named days

    def festivals_between(self, first: float, last: float) -> Iterator[tuple[int, str]]:
        """Yield the first world day and the name of each festival that begins from `first` to
        `last`, in order."""
        for year in range(self.year_of(floor(first)), self.year_of(floor(last)) + 1):
            for day, name in self.festivals_of(year):
                if first <= day <= last:
                    yield day, name

    def festivals_of(self, year: int) -> list[tuple[int, str]]:
        lengths = self.month_lengths(year)
        days = [
            (self.month_start(year, at), month.name)
            for at, month in enumerate(self.months)
            if month.intercalary and lengths[at]
        ]
        for festival in self.definition.festivals:
            at = self.index_of[name_key(festival.month)]
            if festival.day <= lengths[at]:
                days.append((self.month_start(year, at) + festival.day - 1, festival.name))
        return sorted(days)


def is_leap(rule: LeapRule, year: int) -> bool:
    since = year - rule.offset
    if since % rule.every:
        return False
    is_exception = rule.except_every is not None and since % rule.except_every == 0
    return not is_exception or (rule.but_every is not None and since % rule.but_every == 0)


def leap_years_before(rule: LeapRule, year: int) -> int:
    """Count the leap years before `year`, from a point that is the same for every year: the
    difference of two counts is exact, for years below 1 too."""
    since = year - 1 - rule.offset
    count = since // rule.every
    if rule.except_every:
        exception = lcm(rule.every, rule.except_every)
        count -= since // exception
        if rule.but_every:
            count += since // lcm(exception, rule.but_every)
    return count


def is_world_day(number: float) -> bool:
    """Whether a number can be a world day; infinity and NaN cannot."""
    return abs(number) < DAY_LIMIT
