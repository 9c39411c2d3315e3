"""The answer of a search as a caller reads it, and the budget of characters that it keeps to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from worlds.base_schemas import DEFAULT_CHARS, ResponseModel

Match = Literal["exact", "alias", "fuzzy", "keyword", "vector", "graph"]

SHORTEST_TEXT = 120
"""A hit whose text would be cut to less than this is left out."""

RESPONSE_CONFIG = ConfigDict(extra="forbid")
"""Hits are plain dataclasses: Pydantic describes and serializes them, and does not validate our own
values, which took longer than writing the JSON."""


@dataclass(kw_only=True, slots=True)
class LegOut:
    """The place of a hit in one leg of the search."""

    __pydantic_config__ = RESPONSE_CONFIG

    rank: Annotated[
        int | None, Field(description="Empty: this leg alone would not have brought it.")
    ]
    score: float | None


@dataclass(kw_only=True, slots=True)
class SourceOut:
    """Where a hit comes from, as far as it applies."""

    __pydantic_config__ = RESPONSE_CONFIG

    document: str | None = None
    publisher: str | None = None
    edition: str | None = None
    licence: str | None = None
    attribution: str | None = None
    author: str | None = None
    episode: str | None = None


@dataclass(kw_only=True, slots=True)
class HitOut:
    """What every audience may see of a hit: an allow-list, so a new field is hidden until it is
    added.
    """

    __pydantic_config__ = RESPONSE_CONFIG

    id: str
    kind: str
    title: str
    text: str
    score: float
    match: Match
    legs: dict[str, LegOut] = field(default_factory=dict)
    headings: list[str] = field(default_factory=list)
    language: str = ""
    in_world_at: float | None = None
    in_world_label: str = ""
    source: SourceOut = field(default_factory=SourceOut)
    updated_at: datetime | None = None
    truncated: bool = False


@dataclass(kw_only=True, slots=True)
class GmHitOut(HitOut):
    """A hit with what only a game master may see."""

    visibility: str
    known_to: list[str] = field(default_factory=list)
    secret: bool = False
    status: str | None = None
    campaign: str | None = None
    row: Annotated[str | None, Field(description="Id of the row in the database, for reveals.")] = (
        None
    )
    passage: str | None = None


class NearMissOut(ResponseModel):
    id: str
    title: str
    score: float
    legs: dict[str, LegOut] = {}


class ExplanationOut(ResponseModel):
    """How an answer came about (game masters only)."""

    query: str
    expanded: list[str] = []
    mode: str = ""
    fusion: str = ""
    filters: dict[str, Any] = {}
    audience: str = ""
    near_misses: list[NearMissOut] = []
    cut_by_budget: list[str] = []
    milliseconds: float | None = None


class SearchAnswer(ResponseModel):
    """The hits, best first. `degraded` names the legs that failed; `truncated`: the budget cut
    something.
    """

    hits: list[GmHitOut | HitOut] = []
    truncated: bool = False
    degraded: list[str] = []
    explain: ExplanationOut | None = None


def fit_hits(hits: Sequence[HitOut], max_chars: int | None) -> tuple[list[HitOut], list[str]]:
    """Return the hits within the budget, the last one shortened if need be, and the ids of the
    others.
    """
    budget = max_chars or DEFAULT_CHARS
    fitting: list[HitOut] = []
    for hit in hits:
        # The first hit is always shown, cut if need be: an answer without any says "unknown".
        if len(hit.text) <= budget:
            fitting.append(hit)
        elif budget >= SHORTEST_TEXT or not fitting:
            fitting.append(replace(hit, text=_cut(hit.text, budget), truncated=True))
        else:
            break
        budget = max(budget - len(hit.text), 0)
    return fitting, [hit.id for hit in hits[len(fitting) :]]


def is_truncated(hits: Iterable[HitOut]) -> bool:
    return any(hit.truncated for hit in hits)


def _cut(text: str, length: int) -> str:
    """Cut at the last white space before `length`."""
    # One character is for the ellipsis; a space in the first half would lose too much text.
    cut = text[: max(length - 1, 0)]
    return (cut[: cut.rfind(" ")] if " " in cut[length // 2 :] else cut).rstrip() + "…"
