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
        r"(?P<number>(?:[\w-]+ ){0,3}?[\w-]+) years? "
        r"(?P<order>after|before|later than|prior to) (?:the )?$",
        re.IGNORECASE,
    ),
    "ru": re.compile(
        r"(?P<number>(?:\w+ ){0,3}?)(?:год|года|лет) (?:спустя )?"
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
        if match is None:
            continue
        kept, years = _split_number(match["number"], language)
        if years is None:
            continue
        start += len(kept) if language != "ko" else 0
        is_later = match["order"].lower() in LATER
        day = span.last if is_later else span.first
        year = calendar.date_of(day).year + (years if is_later else -years)
        return text[:start] + WORDED[language](year) + text[end:].removeprefix("»")
    return text


def _split_number(words: str, language: str) -> tuple[str, int | None]:
    """Return the words before a number, and the number: `was rebuilt three`."""
    parts = words.split()
    for first in range(len(parts)):
        said = words_of(" ".join(parts[first:]) + " 년", [], [], language)
        if len(said.numbers) == 1 and not said.words - {"년"}:
            kept = " ".join(parts[:first])
            return kept + " " if kept else "", said.numbers[0].value
    is_one = language == "ru" and bool(parts) and parts[-1].lower() in ("через", "спустя")
    return " ".join(parts[:-1]), 1 if is_one else None
