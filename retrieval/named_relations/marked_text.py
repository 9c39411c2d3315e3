"""The text that the model reads for two names: all mentions of both are marked, with their kinds:
`@ person Anna @ runs # faction the Guild #`."""

from collections.abc import Sequence
from dataclasses import dataclass

FIRST, SECOND = "@", "#"


@dataclass(frozen=True)
class MarkedSpan:
    """A mention of one of the two names. `is_first`: of that which comes first in the text."""

    start: int
    end: int
    kind: str
    is_first: bool


@dataclass(frozen=True)
class MarkedText:
    """`firsts` and `seconds` are the characters where the marks before the mentions are."""

    text: str
    firsts: tuple[int, ...]
    seconds: tuple[int, ...]


def mark_names(text: str, spans: Sequence[MarkedSpan]) -> MarkedText:
    """Return `text` with the mentions marked. The spans must not overlap."""
    parts: list[str] = []
    marks: dict[bool, list[int]] = {True: [], False: []}
    length = place = 0

    def add(part: str) -> None:
        nonlocal length
        parts.append(part)
        length += len(part)

    for span in sorted(spans, key=lambda each: each.start):
        sign = FIRST if span.is_first else SECOND
        add(without_marks(text[place : span.start]))
        if length and not parts[-1].endswith(" "):
            add(" ")
        marks[span.is_first].append(length)
        add(f"{sign} {span.kind} {without_marks(text[span.start : span.end])} {sign} ")
        place = span.end
    add(without_marks(text[place:]))
    return MarkedText("".join(parts), tuple(marks[True]), tuple(marks[False]))


def without_marks(text: str) -> str:
    return text.replace(FIRST, " ").replace(SECOND, " ")
