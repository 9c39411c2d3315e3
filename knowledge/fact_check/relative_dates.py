"""Dates that count from an event, as dates of the calendar: `three years after the Great Thaw`."""

import re
from collections.abc import Callable

from knowledge.fact_check.event_dates import event_span
from knowledge.fact_check.lexicon import language_of
from knowledge.fact_check.name_slots import described_mentions, joined_mentions
from knowledge.fact_check.prose_words import words_of
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import NodeKind
from knowledge.graph.protocol import View
from worlds.world_calendar import calendar_of

BEFORE_NAME = {
    "en": re.compile(
        r"(?P<number>(?:[\w-]+ ){1,3})years? (?P<order>after|before|later than|prior to) (?:the )?$",
        re.IGNORECASE,
    ),
    "ru": re.compile(
        r"(?:через |спустя )?(?P<number>(?:\w+ ){0,2}?)(?:год|года|лет) (?:спустя )?"
        r"(?P<order>после|до) [«“\"]?$",
        re.IGNORECASE,
    ),
}
AFTER_NAME = re.compile(
    r"^\S{0,3}? ?(?:(?:일어난|있은|끝난|벌어진|난) 지 )?(?P<number>\S+?) ?(?:년|해) ?"
    r"(?P<order>뒤|후|전|만)(?:에|인)?(?= |$)"
)
LATER = frozenset(["after", "later than", "после", "뒤", "후", "만"])
WORDED: dict[str, Callable[[int], str]] = {
    "en": lambda year: f"in {year}",
    "ru": lambda year: f"в {year} году",
    "ko": lambda year: f"{year}년에",
}


def with_dates_of_events(text: str, linker: EntityLinker, view: View) -> str:
    """Return the statement with the year in place of `three years after M0`, if the facts date that
    event."""
    language = language_of(text)
    calendar = calendar_of(view.world)
    if calendar is None or not re.search(r"year|год|лет|년|해", text):
        return text
    mentions = joined_mentions(text, linker)
    readings = [mentions, *described_mentions(text, mentions, linker)][:2]
    for mention in (each for reading in readings for each in reading if not each.ambiguous):
        event = linker.node_of(mention)
        span = event_span(event, view.facts()) if event.kind == NodeKind.EVENT else None
        if span is None:
            continue
        if language == "ko":
            match = AFTER_NAME.match(text[mention.end :])
            start, end = mention.start, mention.end + (match.end() if match else 0)
        else:
            match = BEFORE_NAME[language].search(text[: mention.start])
            start, end = match.start() if match else 0, mention.end
        years = _number(match["number"], language) if match else None
        if match is None or years is None:
            continue
        is_later = match["order"].lower() in LATER
        day = span.last if is_later else span.first
        year = calendar.date_of(day).year + (years if is_later else -years)
        return text[:start] + WORDED[language](year) + text[end:].removeprefix("»")
    return text


def _number(words: str, language: str) -> int | None:
    if not words.strip():
        return 1 if language == "ru" else None
    numbers = words_of(f"{words} 년", [], [], language).numbers
    return numbers[0].value if len(numbers) == 1 else None
