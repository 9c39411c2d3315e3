"""How long something lasted or has lasted, as a statement says it: `for twenty years`, `меньше
десяти лет`, `20년째`. Whole years, because facts seldom know more than a year."""

import re
from dataclasses import dataclass
from typing import Literal

from knowledge.fact_check.prose_words import words_of
from knowledge.graph.models import GraphEdge
from knowledge.questions.numbers import MULTIPLES, value_of
from worlds.calendars.arithmetic import Calendar
from worlds.calendars.date_parser import DateSpan

UNITS = {
    "en": re.compile(r"(?<!\S)(?:years?|winters?|summers?)(?!\S)(?! ago| old)"),
    "ru": re.compile(r"(?<!\S)(?:лет|года|год|зимы|зим)(?!\S)(?! назад| от роду)"),
}
BEFORE = {
    "en": re.compile(
        r"\b(?:for|lasted|lasts|took|raged|continued|(?:dragged|went|goes|gone) on)(?: for)?"
        r"(?: (?P<limit>less than|under|more than|over|about|almost|nearly|some))?$"
    ),
    "ru": re.compile(
        r"(?:(?<!\S)(?:уже|вот|целых|всего|ровно|на протяжении|в течение|"
        r"(?P<limit>меньше|менее|больше|более|свыше|дольше|почти|около|примерно)(?: чем)?) ?)*$"
    ),
}
DATED = {
    "en": re.compile(r"(?<!\S)(?:in|since|until|by|after|before)$"),
    "ru": re.compile(r"(?<!\S)(?:с|со|до|в|во|к|от|после|по|из|за|через)$"),
}
"""What stands before a year or the length of another time: `с 622 года`."""
AFTER = re.compile(r"^ ?(?:(?:now|already|long|подряд)(?!\S))?")
KOREAN = re.compile(
    r"(?:(?P<verb>\S+) 지 )?(?P<limit>약 |거의 )?"
    r"(?P<number>(?:\d+|[가-힣]+) ?)(?:년|해)(?P<more> ?넘게| ?이상| ?미만)? ?"
    r"(?:째|동안|간|이나|이 넘게|이 되)\S*"
)
LASTED = {
    "en": re.compile(r"^M0(?: has)?$"),
    "ru": re.compile(
        r"^M0(?:_\S+)? (?:длил\w+|шл[аио]|ш[её]л|продолжал\w+|тянул\w+|заня\w+)$"
        r"|^(?:длил\w+|шл[аио]|продолжал\w+|тянул\w+) M0(?:_\S+)?$"
    ),
    "ko": re.compile(r"^M0\S* (?:이어\S+|계속\S+|지속\S+|걸렸\S*|끌\S+)$"),
}
"""What is left of a statement about how long one event lasted."""
LIMITS: dict[str, Literal["less", "more", "about"]] = {
    **dict.fromkeys(["less than", "under", "меньше", "менее", "미만"], "less"),
    **dict.fromkeys(["more than", "over", "больше", "более", "свыше", "дольше"], "more"),
    **dict.fromkeys(["넘게", "이상"], "more"),
    **dict.fromkeys(["about", "almost", "nearly", "some", "почти", "около", "примерно"], "about"),
    **dict.fromkeys(["약", "거의"], "about"),
}
ROUNDING = 0.15
"""`About` and `almost` allow this share more or less."""


@dataclass(frozen=True)
class Duration:
    years: int
    limit: Literal["", "less", "more", "about"] = ""

    def fits(self, years: int) -> bool | None:
        """Whether something lasted so long that is `years` apart by the numbers of its first and
        last year; None if these do not tell."""
        if self.limit == "less":
            return None if years == self.years else years < self.years
        if self.limit == "more":
            return None if years == self.years else years > self.years
        spare = ROUNDING * self.years if self.limit == "about" else 0
        # From 612 to 618 are six years, or seven with both.
        if years - spare <= self.years <= years + 1 + spare:
            return True
        return False if abs(self.years - years) > 1 + spare else None


def strip_duration(text: str, language: str) -> tuple[str, Duration | None]:
    """Return a folded statement without its duration, and the duration."""
    if language == "ko":
        return _strip_korean(text)
    for unit in UNITS[language].finditer(text):
        words = text[: unit.start()].split()
        first = len(words)
        while first and _is_number(words[first - 1]):
            first -= 1
        before = BEFORE[language].search(" ".join(words[:first]))
        years = _value(" ".join(words[first:]))
        is_dated = before and DATED[language].search(before.string[: before.start()].rstrip())
        if years is None or before is None or is_dated:
            continue
        rest = before.string[: before.start()] + " " + AFTER.sub(" ", text[unit.end() :])
        return " ".join(rest.split()), Duration(years, LIMITS.get(before["limit"] or "", ""))
    return text, None


def _strip_korean(text: str) -> tuple[str, Duration | None]:
    match = KOREAN.search(text)
    years = _value(match["number"]) if match else None
    if match is None or years is None:
        return text, None
    # `산 지 20년째` says `산다`.
    verb = f"{match['verb']}다" if match["verb"] else ""
    rest = f"{text[: match.start()]} {verb} {text[match.end() :]}"
    limit = (match["limit"] or match["more"] or "").strip()
    return " ".join(rest.split()), Duration(years, LIMITS.get(limit, ""))


def _is_number(word: str) -> bool:
    return word.isdigit() or value_of(word) is not None or word in MULTIPLES


def _value(words: str) -> int | None:
    numbers = words_of(f"{words} 년", [], [], "en").numbers
    return numbers[0].value if len(numbers) == 1 else None


def is_of_event(rest: str, language: str) -> bool:
    """Whether nothing but an event is left of a statement beside its duration."""
    return bool(LASTED[language].match(rest))


def years_of_fact(fact: GraphEdge, calendar: Calendar, day: float | None) -> int | None:
    """Return how many years apart a fact begins and ends, or lasts on `day`; None if unknown."""
    last = fact.until if fact.until is not None else day
    if fact.since is None or last is None:
        return None
    return years_between(DateSpan(fact.since, last), calendar)


def years_between(span: DateSpan, calendar: Calendar) -> int:
    return calendar.date_of(span.last).year - calendar.date_of(span.first).year
