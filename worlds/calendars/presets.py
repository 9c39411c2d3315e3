"""Calendars to begin with. Their names are neutral and in the language of the world; all can be
changed afterwards."""

from collections.abc import Callable, Sequence

from worlds.calendars import preset_names as names
from worlds.calendars.definition import (
    CalendarDefinition,
    Era,
    LeapRule,
    Month,
    Moon,
    Season,
)

EARTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
SYNODIC_MONTH = 29.530588
"""Mean days from new moon to new moon of the Earth's moon (NASA)."""
LEAP_FESTIVAL = 3
"""Index among the festivals of the one that only leap years have."""
FESTIVAL_AFTER_MONTH = {1: (0,), 4: (1,), 7: (2, 3), 9: (4,), 11: (5,)}
"""Indexes of the festivals that follow a month, counted from 1."""


def preset(name: str, language: str) -> CalendarDefinition:
    """Return the preset of that name, with the names of its parts in `language`. Raises `KeyError`
    for a name that is not in `PRESETS`."""
    code = language.partition("-")[0]
    return PRESETS[name](code if code in names.LANGUAGES else "en")


def preset_title(name: str, language: str) -> str:
    titles = names.PRESET_NAMES[name]
    return titles.get(language.partition("-")[0], titles["en"])


def earth_months(language: str) -> list[Month]:
    """The months of the Gregorian calendar, which are understood in every language of the site."""
    months = []
    for at, days in enumerate(EARTH_LENGTHS):
        name = names.GREGORIAN_MONTHS[language][at]
        spellings = [names.GREGORIAN_MONTHS[each][at] for each in names.LANGUAGES]
        spellings += [names.GREGORIAN_WITH_DAY[at], names.GREGORIAN_SHORT[at]]
        others = [each for each in dict.fromkeys(spellings) if each != name]
        with_day = names.GREGORIAN_WITH_DAY[at] if language == "ru" else ""
        months.append(Month(name=name, days=days, with_day=with_day, other_names=others))
    return months


def own_months(language: str, lengths: Sequence[int]) -> list[Month]:
    return [
        Month(
            name=names.OWN_MONTHS[language][at],
            days=days,
            with_day=names.OWN_WITH_DAY[at] if language == "ru" else "",
        )
        for at, days in enumerate(lengths)
    ]


def four_seasons(language: str, months: Sequence[Month], *, first: int) -> list[Season]:
    """Seasons of a quarter of the year each; winter begins with the month of index `first`."""
    starts = [months[(first + 3 * at) % len(months)].name for at in range(4)]
    return [
        Season(name=name, month=month)
        for name, month in zip(names.SEASONS[language], starts, strict=True)
    ]


def gregorian(language: str) -> CalendarDefinition:
    months = earth_months(language)
    leap = LeapRule(month=months[1].name, every=4, except_every=100, but_every=400)
    eras = [
        Era(name=names.COMMON_ERA[language], first_year=1),
        Era(
            name=names.BEFORE_COMMON_ERA[language],
            short=names.BEFORE_SHORT[language],
            first_year=0,
            backwards=True,
        ),
    ]
    return CalendarDefinition(
        name=preset_title("gregorian", language),
        months=months,
        weekdays=[*names.SEVEN_DAYS[language]],
        leap_rules=[leap],
        eras=eras,
        # World day 0 is then the first day of year 1, a Monday; its moon was new on 6.76 January
        # 2000, day 730124.76.
        moons=[Moon(name=names.MOON[language], period=SYNODIC_MONTH, new_moon=730124.76)],
        seasons=four_seasons(language, months, first=11),
    )


def twelve_times_thirty(language: str) -> CalendarDefinition:
    months = own_months(language, [30] * 12)
    return CalendarDefinition(
        name=preset_title("twelve-times-thirty", language),
        months=months,
        moons=[Moon(name=names.MOON[language], period=30)],
        seasons=four_seasons(language, months, first=11),
    )


def ten_day_weeks_and_festivals(language: str) -> CalendarDefinition:
    """Twelve months of three weeks of ten days, with five festival days between them, and a sixth
    every four years."""
    festivals = names.FESTIVALS[language]
    months: list[Month] = []
    regular = own_months(language, [30] * 12)
    for number, month in enumerate(regular, 1):
        months.append(month)
        for at in FESTIVAL_AFTER_MONTH.get(number, ()):
            days = 0 if at == LEAP_FESTIVAL else 1
            months.append(Month(name=festivals[at], days=days, intercalary=True))
    return CalendarDefinition(
        name=preset_title("ten-day-weeks-and-festivals", language),
        months=months,
        weekdays=[*names.TEN_DAYS[language]],
        leap_rules=[LeapRule(month=festivals[LEAP_FESTIVAL], every=4)],
        moons=[Moon(name=names.MOON[language], period=30.4375)],
        seasons=four_seasons(language, regular, first=11),
    )


def twelve_times_twenty_eight(language: str) -> CalendarDefinition:
    months = own_months(language, [28] * 12)
    return CalendarDefinition(
        name=preset_title("twelve-times-twenty-eight", language),
        months=months,
        weekdays=[*names.SEVEN_DAYS[language]],
        moons=[Moon(name=names.MOON[language], period=28)],
        seasons=four_seasons(language, months, first=11),
    )


def leap_day_every_eight_years(language: str) -> CalendarDefinition:
    months = own_months(language, EARTH_LENGTHS)
    return CalendarDefinition(
        name=preset_title("leap-day-every-eight-years", language),
        months=months,
        weekdays=[*names.SEVEN_DAYS[language]],
        leap_rules=[LeapRule(month=months[1].name, every=8)],
        moons=[Moon(name=names.MOON[language], period=29.5)],
        seasons=four_seasons(language, months, first=11),
    )


PRESETS: dict[str, Callable[[str], CalendarDefinition]] = {
    "gregorian": gregorian,
    "twelve-times-thirty": twelve_times_thirty,
    "ten-day-weeks-and-festivals": ten_day_weeks_and_festivals,
    "twelve-times-twenty-eight": twelve_times_twenty_eight,
    "leap-day-every-eight-years": leap_day_every_eight_years,
}
