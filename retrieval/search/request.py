"""A search request, checked before it is run, and its result: hits with the rank of each leg."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from retrieval.domains import Scope
from retrieval.embedders import Vectors
from retrieval.errors import Invalid
from retrieval.presets import Mode, Preset, Rerank
from retrieval.text import visible_text

MAX_HITS = 200
MAX_QUERY_READ = 8_000
"""Characters of a query that are read; a notice in the result reports that the rest is ignored."""
MAX_QUERY_ACCEPTED = 100_000


@dataclass(frozen=True)
class Expansion:
    """Words that stand in for words of the query (a glossary's English term for a Korean one)."""

    text: str
    weight: float = 1.0


@dataclass(frozen=True)
class NamedPassage:
    """A passage that the caller found by name. It counts only if the queryset holds it."""

    id: UUID
    kind: str
    """exact, alias or fuzzy."""
    score: float = 1.0


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """A query with everything that shapes its answer."""

    query: str
    scopes: Sequence[Scope]
    """Whose word counts apply (`SearchConfig.scope`): a world, its game system, a namespace."""
    hidden: bool = False
    """Use the word counts of hidden rows too. For a GM only: the ranking would reveal them."""
    preset: Preset | None = None
    """None: the preset of the domain."""
    limit: int = 10
    mode: Mode | str | None = None
    """None: the mode of the preset."""
    language: str | None = None
    expansions: Sequence[Expansion] = ()
    name_hits: Sequence[NamedPassage] = ()
    fields: Sequence[str] = ()
    """More columns to return with each hit, also of related rows (`lore__title`)."""
    one_of: str = ""
    """A column; each of its values gives one hit, its best passage (`lore_id`: one per entry)."""
    rerank: Rerank | str | None = None
    """None: the value of the preset."""
    candidates: int = 0
    """Hits that are found at least, for `weigh` and the re-ranker to choose from."""
    weigh: "Weigh | None" = None
    """Gives the hits of a hybrid search other scores, before they are re-ranked and cut."""
    least: float = 0.0
    """The least relevance of a hit, from 0 to 1."""
    vector_query: str | None = None
    """Embedded in place of `query`."""
    map_vector: "MapVector | None" = None
    """Gives the vector of the question another direction before it is compared."""
    explain: bool = False

    def check_limit(self) -> int:
        if not 1 <= self.limit <= MAX_HITS:
            raise Invalid(f"The number of hits must be from 1 to {MAX_HITS}.")
        return self.limit

    def check_least(self) -> float:
        if not 0 <= self.least <= 1:
            raise Invalid("The least relevance must be from 0 to 1.")
        return self.least

    def check_mode(self) -> Mode | None:
        try:
            return Mode(self.mode) if self.mode else None
        except ValueError as error:
            modes = [mode.value for mode in Mode]
            raise Invalid(f"Unknown mode {self.mode!r}.", candidates=modes) from error

    def check_rerank(self) -> Rerank | None:
        try:
            return Rerank(self.rerank) if self.rerank else None
        except ValueError as error:
            values = [value.value for value in Rerank]
            raise Invalid(
                f"Unknown value of rerank: {self.rerank!r}.", candidates=values
            ) from error

    def check_query(self) -> tuple[str, tuple[str, ...]]:
        """Return the query, stripped and cut if very long, and notices for the caller."""
        text = visible_text(self.query).strip()
        if not text:
            raise Invalid(_("The question is empty. Enter what you want to find."))
        if len(self.query) > MAX_QUERY_ACCEPTED:
            detail = _(
                "The question has %(length)d characters; at most %(limit)d are allowed. Ask "
                "about one thing at a time."
            )
            raise Invalid(detail % {"length": len(self.query), "limit": MAX_QUERY_ACCEPTED})
        if "\0" in text:
            raise Invalid(_("The question contains a NUL character. Remove it."))
        try:
            text.encode()
        except UnicodeEncodeError as error:
            detail = _("The question is not valid Unicode at character %d.")
            raise Invalid(detail % error.start) from error
        if len(text) <= MAX_QUERY_READ:
            return text, ()
        notice = _("Only the first %d characters of the question were used.") % MAX_QUERY_READ
        return text[:MAX_QUERY_READ], (notice,)


@dataclass(frozen=True)
class Leg:
    """The rank and score of a passage in one leg; `rank` is None if that leg did not find it."""

    rank: int | None
    score: float | None


@dataclass(frozen=True)
class Hit:
    """A passage with its fused `score`, comparable within one result only, and its legs."""

    id: UUID
    text: str
    context: str
    metadata: dict[str, Any]
    payload: dict[str, Any]
    language: str
    updated_at: datetime
    score: float
    legs: Mapping[str, Leg]
    match: str
    """exact, alias or fuzzy (a match by name), else its best leg: keyword, vector or graph."""
    relevance: float | None = None
    """The probability that this hit answers, as `retrieval.search.relevance` estimates it:
    comparable between questions, domains and languages, as `score` is not. None where nothing
    estimated it."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The extra columns that the caller asked for."""


Weigh = Callable[[str, Sequence[Hit]], list[Hit]]
"""Takes the question and the hits; returns them in their new order."""
MapVector = Callable[[str, Vectors], Vectors]
"""Takes the name of the embedder and the vector of the question, (dims,); returns another one."""


@dataclass(frozen=True)
class SearchResult:
    """Hits in order, best first. `degraded` names the legs that could not take part."""

    hits: Sequence[Hit]
    degraded: Sequence[str] = ()
    notices: Sequence[str] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds: `embed`, `sql`, `total`."""
    explain: Mapping[str, Any] | None = None
    """With `explain=True`: words with their counts, legs, settings, near misses."""

    def __iter__(self) -> Any:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)
