"""World days as dates for people."""

from math import floor

from worlds.calendars.arithmetic import Calendar, Date
from worlds.calendars.languages import words_of


def day_text(at: float, language: str) -> str:
    """Return a world day as its number: *day 76,530*, *day 0.5*."""
    words = words_of(language)
    number = f"{at:.6f}".rstrip("0").rstrip(".") if at % 1 else f"{at:.0f}"
    whole, dot, part = number.partition(".")
    sign, digits = ("−", whole[1:]) if whole.startswith("-") else ("", whole)
    if len(digits) > 4:
        digits = f"{int(digits):,}".replace(",", words.thousands)
    return words.day_number.format(number=sign + digits + dot + part)


def date_text(calendar: Calendar | None, at: float, language: str, *, time: bool = True) -> str:
    """Return a moment as a date: *3 Frostmoon 1492, 14:30*. Without a calendar, and for a day
    before the calendar begins, it is the number of the day."""
    if calendar is None or (date := date_in_calendar(calendar, at)) is None:
        return day_text(at, language)
    text = whole_day_text(calendar, date, language)
    if not time or not (date.hour or date.minute):
        return text
    clock = f"{date.hour}:{date.minute:02}"
    return words_of(language).with_time.format(date=text, time=clock)


def date_in_calendar(calendar: Calendar, at: float) -> Date | None:
    """Return the date of a moment; None where the calendar has no year for it."""
    date = calendar.date_of(at)
    return date if calendar.era_year(date.year) else None


def whole_day_text(calendar: Calendar, date: Date, language: str) -> str:
    if calendar.longest(date.month) == 1:
        return month_text(calendar, date.year, date.month, language)
    month = calendar.months[date.month]
    return words_of(language).date.format(
        day=date.day,
        month=month.with_day or month.name,
        year=year_text(calendar, date.year, language),
    )


def month_text(calendar: Calendar, year: int, month: int, language: str) -> str:
    """Return *Frostmoon 1492*; of a year that could be taken for a day, *Frostmoon, year 12*."""
    written = year_text(calendar, year, language)
    words, name = words_of(language), calendar.months[month].name
    longest = calendar.longest(month)
    if longest > 1 and written.isdecimal() and int(written) <= longest:
        return f"{name}, {words.year_alone.format(number=written)}"
    return words.month.format(month=name, year=written)


def year_text(calendar: Calendar, year: int, language: str, *, alone: bool = False) -> str:
    """Return a year that the calendar has as it is written in a date, or by itself."""
    found, words = calendar.era_year(year), words_of(language)
    number = found.number if found else year
    era = found.era.short if found and found.era else ""
    if era:
        return words.year_of_era.format(number=number, era=era)
    return (words.year_alone if alone else words.year).format(number=number)


def typed_text(calendar: Calendar | None, at: float, language: str) -> str:
    """Return what a form shows for a stored day: the date where reading it gives exactly this
    number again, else the number itself. So saving a form never moves a stored day."""
    if calendar and (date := date_in_calendar(calendar, at)) and calendar.day_of(date) == at:
        return date_text(calendar, at, language)
    return plain_number(at)


def plain_number(at: float) -> str:
    return f"{at:.0f}" if at == floor(at) else repr(at)
