"""Days and dates of every preset convert exactly, are written and read in three languages, and a
text that is no date, or several, is refused with what to write."""

from datetime import date as real_date

import pytest
from django.utils import translation
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from retrieval.errors import Ambiguous, Invalid
from worlds.calendars.arithmetic import Calendar
from worlds.calendars.date_parser import parse_date
from worlds.calendars.date_texts import date_text, day_text, typed_text
from worlds.calendars.definition import CalendarDefinition, Era, LeapRule, Month
from worlds.calendars.moons import phases_on
from worlds.calendars.presets import PRESETS, preset

LANGUAGES = ("en", "ru", "ko")
CALENDARS = {
    (name, language): Calendar(preset(name, language)) for name in PRESETS for language in LANGUAGES
}
AGES = Calendar(
    CalendarDefinition(
        name="Two ages",
        months=[
            Month(name="Frostmoon", days=30),
            Month(name="Frostfall", days=30),
            Month(name="Wake", days=3, intercalary=True),
        ],
        leap_rules=[LeapRule(month="Wake", every=3, days=2, offset=1)],
        weekdays=["Oneday", "Twoday", "Restday"],
        eras=[
            Era(name="First Age", short="FA", first_year=1),
            Era(name="Second Age", short="SA", first_year=301),
        ],
        hours=20,
        year_one_begins=-5000,
        first_weekday=2,
    )
)
days = st.integers(-4_000_000, 40_000_000)
calendars = st.sampled_from([*CALENDARS.values(), AGES])


def day_of(calendar, text, language="en"):
    span = parse_date(calendar, text, language)
    assert span.is_one_day
    return span.first


@given(calendars, days)
def test_every_day_is_one_date_and_every_date_one_day(calendar, day):
    date = calendar.date_of(day)
    assert calendar.exists(date)
    assert calendar.day_of(date) == day


@given(calendars, days, days)
def test_dates_are_in_the_order_of_their_days(calendar, first, second):
    assert (first < second) == (calendar.date_of(first) < calendar.date_of(second))


@given(calendars, st.sampled_from(LANGUAGES), days, st.integers(0, 19), st.integers(0, 59))
def test_what_is_shown_is_read_as_the_same_moment(calendar, language, day, hour, minute):
    date = calendar.date_of(day)
    assume(calendar.era_year(date.year))  # a day before the calendar begins has no date
    at = calendar.day_of(type(date)(date.year, date.month, date.day, hour, minute))
    assert day_of(calendar, date_text(calendar, at, language), language) == at


@given(calendars, st.floats(-1e7, 1e7), st.sampled_from(LANGUAGES))
def test_saving_a_form_again_never_moves_a_stored_day(calendar, at, language):
    assert day_of(calendar, typed_text(calendar, at, language), language) == at


@given(calendars, days)
def test_weekdays_follow_each_other(calendar, day):
    weekdays = calendar.definition.weekdays
    today, tomorrow = (calendar.weekday_of(calendar.date_of(each)) for each in (day, day + 1))
    if today and tomorrow:
        assert weekdays.index(tomorrow) == (weekdays.index(today) + 1) % len(weekdays)


@given(st.integers(1, real_date.max.toordinal()))
def test_the_gregorian_calendar_is_that_of_the_earth(ordinal):
    calendar, expected = CALENDARS["gregorian", "en"], real_date.fromordinal(ordinal)
    date = calendar.date_of(ordinal - 1)
    assert (date.year, date.month + 1, date.day) == expected.timetuple()[:3]
    assert calendar.weekday_of(date) == expected.strftime("%A")


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_a_calendar_in_every_language(name):
    years = {CALENDARS[name, language].year_start(2000) for language in LANGUAGES}
    assert len(years) == 1


def test_dates_are_written_as_each_language_does():
    calendar = CALENDARS["gregorian", "ru"]
    at = day_of(calendar, "3 февраля 1492")
    assert date_text(calendar, at, "ru") == "3 февраля 1492"
    assert date_text(CALENDARS["gregorian", "ko"], at, "ko") == "1492년 2월 3일"
    assert date_text(CALENDARS["gregorian", "en"], at + 0.604167, "en") == "3 February 1492, 14:30"
    assert day_text(76530, "en") == "day 76,530"
    assert day_text(76530.5, "ru") == "день 76\u00a0530.5"
    assert day_text(-76530, "ko") == "−76,530일째"


@pytest.mark.parametrize(
    "text",
    [
        "3 February 1492",
        "3rd of February, 1492",
        "February 3, 1492",
        "3. February, year 1492",
        "3 feb. 1492",
        "3 февраля 1492 г.",
        "3 февраля 1492 года",
        "1492년 2월 3일",
        "1492년2월3일",
        "1492-02-03",
        "1492-2-3",
    ],
)
def test_a_date_is_read_however_it_is_written(text):
    for language in LANGUAGES:
        calendar = CALENDARS["gregorian", language]
        assert date_text(calendar, day_of(calendar, text), "en").endswith("1492")
        date = calendar.date_of(day_of(calendar, text))
        assert (date.year, date.month, date.day) == (1492, 1, 3)


@pytest.mark.parametrize(
    ("text", "day"),
    [("76530", 76530), ("76,530", 76530), ("day 76 530", 76530), ("день 5", 5), ("0,5", 0.5)],
)
def test_a_number_alone_is_a_world_day(text, day):
    assert day_of(None, text) == day_of(AGES, text) == day


def test_months_seasons_and_years_are_spans_of_days():
    calendar = CALENDARS["twelve-times-thirty", "en"]
    year = parse_date(calendar, "year 1492", "en")
    assert year.last - year.first == 359
    assert parse_date(calendar, "1492년", "ko") == parse_date(calendar, "1492 год", "ru") == year
    month = parse_date(calendar, "Frostmoon 1492", "en")
    assert (month.first, month.last) == (year.first, year.first + 29)
    spring = parse_date(calendar, "spring 1492", "en")
    assert spring.last - spring.first == 89


def test_years_are_counted_backwards_before_the_first_era():
    calendar = CALENDARS["gregorian", "en"]
    at = day_of(calendar, "15 March 44 BCE")
    assert calendar.date_of(at).year == -43
    assert date_text(calendar, at, "en") == "15 March 44 BCE"
    assert day_of(calendar, "31 December 1 BCE") + 1 == day_of(calendar, "1 January 1")


def test_a_text_that_fits_two_eras_is_refused_with_both():
    with pytest.raises(Ambiguous) as refused:
        parse_date(AGES, "3 Frostmoon 90", "en")
    assert refused.value.candidates == ["3 Frostmoon 90 FA", "3 Frostmoon 90 SA"]
    assert "3 Frostmoon 90 SA" in refused.value.detail


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("3 Frost 90 FA", "can be several dates"),
        ("31 Frostmoon 90 FA", "has 30 days"),
        ("31 Frostmoon 302", "has 30 days"),
        ("3 Frostmoon", "lacks the year"),
        ("Frostmoon 12", "lacks the year"),
        ("3 Frostmoon 301 FA", "has no year 301"),
        ("3 Smokemoon 90 FA", "3 Frostmoon 100 SA"),
        ("someday", "3 Frostmoon 100 SA"),
        ("", "3 Frostmoon 100 SA"),
        ("3 Frostmoon 90 FA, 21:00", "20 hours"),
        ("3 Frostmoon -7", "the calendar begins on 1 Frostmoon 1 FA"),
        ("5 Wake 2 FA", "has 3 days"),
        ("1e400", "too large"),
        ("year 99999999999 SA", "too large"),
        ("9" * 30, "too large"),
        ("3 Frostmoon 90 FA " * 40, "no date"),
    ],
)
def test_what_is_no_date_is_refused_with_what_to_write(text, advice):
    with translation.override("en"), pytest.raises((Invalid, Ambiguous)) as refused:
        parse_date(AGES, text, "en")
    assert advice in refused.value.detail


def test_a_wrong_weekday_is_refused():
    calendar = CALENDARS["gregorian", "en"]
    assert day_of(calendar, "Monday, 1 January 1") == 0
    with pytest.raises(Invalid, match="its weekday is Monday"):
        parse_date(calendar, "Friday, 1 January 1", "en")


def test_a_day_before_the_calendar_begins_is_shown_by_its_number():
    assert date_text(AGES, -5001, "en") == "day −5001"
    assert date_text(AGES, -5000, "en") == "1 Frostmoon 1 FA"


def test_festival_days_stand_outside_weeks_and_a_leap_festival_only_in_its_years():
    calendar = CALENDARS["ten-day-weeks-and-festivals", "en"]
    midwinter = day_of(calendar, "Midwinter Day 1492")
    assert calendar.weekday_of(calendar.date_of(midwinter)) == ""
    assert date_text(calendar, midwinter, "en") == "Midwinter Day 1492"
    assert day_of(calendar, "Day of Oaths 1492") == day_of(calendar, "Midsummer Day 1492") + 1
    with pytest.raises(Invalid, match="no Day of Oaths in the year 1491"):
        parse_date(calendar, "Day of Oaths 1491", "en")
    names = [name for _day, name in calendar.festivals_of(1491)]
    assert len(names) == 5


def test_moons_have_phases():
    definition = preset("twelve-times-thirty", "en")
    assert [phases_on(definition, day)[0].symbol for day in (0, 15, 30)] == ["🌑", "🌕", "🌑"]


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        ({"months": [{"name": "One", "days": 0}]}, "At least one month"),
        ({"months": [{"name": "One", "days": 3}, {"name": "one", "days": 3}]}, "occurs twice"),
        ({"leap_rules": [{"month": "Nine", "every": 4}]}, "There is no month Nine"),
        ({"festivals": [{"name": "Ball", "month": "Thaw", "day": 31}]}, "has no day 31"),
        (
            {"eras": [{"name": "A", "first_year": 1}, {"name": "B", "first_year": 9}]},
            "Only one era",
        ),
        (
            {
                "eras": [
                    {"name": "A", "first_year": 1},
                    {"name": "B", "short": "B", "first_year": -5, "backwards": True},
                ]
            },
            "its year 1 is 0",
        ),
        ({"first_weekday": 4, "weekdays": ["A"]}, "from 0 to 0"),
    ],
)
def test_a_calendar_that_cannot_work_is_refused(change, advice):
    stored = preset("twelve-times-thirty", "en").model_dump() | {"seasons": []}
    with pytest.raises(ValidationError, match=advice):
        CalendarDefinition.model_validate(stored | change)
