"""Whether a newer statement ends the state that an older one says somebody is in: who moved does
not live there any more. For the plainest cases, in few words, which the model of pairs reads worst.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from memories.similarity.comparable_text import (
    FUNCTION_WORDS,
    KOREAN_NOUN,
    ComparableText,
    is_inflection,
    parse_text,
)

FILE = Path(__file__).parent / "ended_states.yaml"


@dataclass(frozen=True)
class EndedState:
    """How a state is said, what ends it, and how one asks for it."""

    state: re.Pattern[str]
    end: re.Pattern[str]
    asked: re.Pattern[str]

    @classmethod
    def of(cls, patterns: Mapping[str, list[str]]) -> "EndedState":
        return cls(**{name: re.compile("|".join(parts)) for name, parts in patterns.items()})


@cache
def ended_states() -> tuple[EndedState, ...]:
    kinds: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return tuple(map(EndedState.of, kinds.values()))


def ends_state(question: str, older: str, newer: str) -> bool:
    """Whether the question asks for a state of whom `older` is about, and `newer` ends it."""
    asked, before, after = question.casefold(), older.casefold(), newer.casefold()
    is_ended = any(
        kind.asked.search(asked) and kind.state.search(before) and kind.end.search(after)
        for kind in ended_states()
    )
    return is_ended and _has_subject_of(parse_text(newer), parse_text(older))


def _has_subject_of(newer: ComparableText, older: ComparableText) -> bool:
    """Whether the first content word of `older` is in `newer`."""
    subject = next((form for _stem, form in older.sequence if form not in FUNCTION_WORDS), "")
    root = _root(subject)
    return bool(root) and any(
        _root(form) == root or is_inflection(root, form) for _stem, form in newer.sequence
    )


def _root(form: str) -> str:
    """Return a Korean noun without its particle, any other word without 's."""
    noun = KOREAN_NOUN.match(form)
    return noun[1] if noun else form.removesuffix("'s")
