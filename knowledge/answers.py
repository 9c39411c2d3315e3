"""The answer of a search as a caller reads it, and the budget of characters that it keeps to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from worlds.base_schemas import DEFAULT_CHARS, ResponseModel

Match = Literal["exact", "alias", "fuzzy", "keyword", "vector", "graph"]

WORTH_SHOWING = 120
"""Less than this of a text tells nothing: the hit is left out instead."""

RESPONSE_CONFIG = ConfigDict(extra="forbid")
"""For what is made by the dozen, plain dataclasses: pydantic describes and writes them, and does
not check what we made ourselves, which took longer than writing it as JSON."""


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
    """What every audience may see of something found. A field is hidden until it is listed here."""

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
    """The hits, best first. `degraded` names what did not take part; `truncated` says that the
    budget cut something.
    """

    hits: list[GmHitOut | HitOut] = []
    truncated: bool = False
    degraded: list[str] = []
    explain: ExplanationOut | None = None


def fit_hits(hits: Sequence[HitOut], max_chars: int | None) -> tuple[list[HitOut], list[str]]:
    """Return the hits that fit, the last one cut if need be (`truncated`), and the ids of those
    left out.
    """
    left = max_chars or DEFAULT_CHARS
    kept: list[HitOut] = []
    for hit in hits:
        if len(hit.text) <= left:
            kept.append(hit)
        elif left >= WORTH_SHOWING or not kept:
            kept.append(replace(hit, text=_cut(hit.text, left), truncated=True))
        else:
            break
        left = max(left - len(hit.text), 0)
    return kept, [hit.id for hit in hits[len(kept) :]]


def is_truncated(hits: Iterable[HitOut]) -> bool:
    return any(hit.truncated for hit in hits)


def _cut(text: str, length: int) -> str:
    """Cut at the last white space before `length`."""
    cut = text[: max(length - 1, 0)]
    return (cut[: cut.rfind(" ")] if " " in cut[length // 2 :] else cut).rstrip() + "…"
