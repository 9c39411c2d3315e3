"""How dates are written and read in English, Russian and Korean."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DateWords:
    """Patterns with named places. A Korean date begins with the year, the others with the day."""

    day_number: str
    date: str
    month: str
    year: str
    year_of_era: str
    year_alone: str
    with_time: str
    thousands: str


WORDS = {
    "en": DateWords(
        day_number="day {number}",
        date="{day} {month} {year}",
        month="{month} {year}",
        year="{number}",
        year_of_era="{number} {era}",
        year_alone="year {number}",
        with_time="{date}, {time}",
        thousands=",",
    ),
    "ru": DateWords(
        day_number="день {number}",
        date="{day} {month} {year}",
        month="{month} {year}",
        year="{number}",
        year_of_era="{number} {era}",
        year_alone="{number} год",
        with_time="{date}, {time}",
        thousands="\u00a0",
    ),
    "ko": DateWords(
        day_number="{number}일째",
        date="{year} {month} {day}일",
        month="{year} {month}",
        year="{number}년",
        year_of_era="{era} {number}년",
        year_alone="{number}년",
        with_time="{date} {time}",
        thousands=",",
    ),
}


def words_of(language: str) -> DateWords:
    """Return the words of a language code such as `ru-RU`; English for any other language."""
    return WORDS.get(language.partition("-")[0], WORDS["en"])
