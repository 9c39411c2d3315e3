"""Hybrid search: words by BM25 and meaning by vectors, fused, in one statement inside the caller's queryset."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from pgvector import HalfVector

from retrieval.domains import Scope
from retrieval.embedders import get_embedder
from retrieval.errors import EmbedderDown, Invalid
from retrieval.presets import Mode, Preset
from retrieval.presets import get_preset as preset_of
from retrieval.search.compiled_rows import CompiledRows
from retrieval.search.hits import Hit, Leg, SearchResult
from retrieval.search.query_text import QueryText, check_query
from retrieval.search.row_estimate import RowEstimate, estimate_rows
from retrieval.search.statement import QueryVector, Statement
from retrieval.search.telemetry import searching

logger = logging.getLogger(__name__)

NEAR_MISSES = 5
MOST_HITS = 200


@dataclass(frozen=True)
class Expansion:
    """Words that stand in for words of the question (a glossary's English term for a Korean one)."""

    text: str
    weight: float = 1.0


@dataclass(frozen=True)
class NamedPassage:
    """A passage that the caller found by name. It counts only if the queryset holds it."""

    id: UUID
    kind: str
    """exact, alias or fuzzy."""
    score: float = 1.0


def search(
    rows: "QuerySet[Any, Any] | CompiledRows",
    query: str,
    *,
    scopes: Sequence[Scope],
    hidden: bool = False,
    preset: Preset | None = None,
    limit: int = 10,
    mode: Mode | str | None = None,
    language: str | None = None,
    expansions: Sequence[Expansion] = (),
    named: Sequence[NamedPassage] = (),
    fields: Sequence[str] = (),
    one_of: str = "",
    vector_query: str | None = None,
    explain: bool = False,
) -> SearchResult:
    """Return the passages of `rows` that answer `query` best.

    `rows` is a queryset, already narrowed by world, audience and filters. `scopes` are the tenants whose word counts
    apply (`Searched.scope`): the world, its game system, a namespace. `hidden=True` counts hidden rows too, for a game
    master only: else a hidden row would change the ranking of others. `named` are passages found by name, `fields` more columns to return with each hit, also of related rows (`lore__title`). Of each value of the column `one_of`
    only the best passage is a hit (`lore_id`: one of each entry). `vector_query` is embedded in place of `query`. Raise
    `Invalid` for a question that cannot be asked, `SearchTimeout` when the database is too slow.
    """
    rows = rows if isinstance(rows, CompiledRows) else CompiledRows(rows)
    request = Request(
        rows=rows,
        asked=check_query(query),
        preset=preset or preset_of(rows.model.search_config.domain),
        scopes=[str(scope) for scope in scopes],
        hidden=hidden,
        limit=_checked_limit(limit),
        mode=_checked_mode(mode),
        languages=[language or "en"],
        expansions=expansions,
        named=named,
        fields=tuple(fields),
        one_of=one_of,
        vector_query=vector_query,
        explain=explain,
    )
    depths = {"k_vector": request.preset.k_vector, "k_keyword": request.preset.k_keyword}
    with searching(request.domain, mode=request.way, **depths) as found:
        result = _answer(request)
        found.extend(result.hits)
    return result


@dataclass(frozen=True)
class Request:
    """What `search` was asked, checked."""

    rows: CompiledRows
    asked: QueryText
    preset: Preset
    scopes: Sequence[str]
    hidden: bool
    limit: int
    mode: Mode | None
    languages: Sequence[str]
    expansions: Sequence[Expansion]
    named: Sequence[NamedPassage]
    fields: tuple[str, ...]
    one_of: str
    vector_query: str | None
    explain: bool

    @property
    def domain(self) -> str:
        return self.rows.model.search_config.domain

    @property
    def depth(self) -> int:
        """Passages to look for in each leg, at least: an entry may bring several, of which one is a hit."""
        return 2 * self.limit if self.one_of else self.limit

    @property
    def way(self) -> Mode:
        return self.mode or self.preset.mode


@dataclass
class Clock:
    started: float = field(default_factory=time.perf_counter)
    laps: dict[str, float] = field(default_factory=dict)

    def lap(self, name: str) -> None:
        """Note the milliseconds since the last lap."""
        self.laps[name] = 1000 * (time.perf_counter() - self.started) - sum(self.laps.values())


def _answer(request: Request) -> SearchResult:
    clock = Clock()
    meaning, degraded = _meaning(request)
    clock.lap("embed")
    statement = Statement(request.rows, meaning, request.fields, request.one_of)
    narrow = estimate_rows(request.rows.queryset, request.rows.key)
    clock.lap("plan")
    parameters = _parameters(request, meaning, narrow)
    hits = _found(request, statement, parameters, narrow)
    if meaning and narrow.rows and not any(hit.legs["vector"].score is not None for hit in hits):
        degraded = ("vector",)  # no passage has a vector of this model (yet): by words, then
        parameters = _parameters(request, None, narrow)
        hits = hits or _found(request, statement, parameters, narrow)
    clock.lap("sql")
    return SearchResult(
        hits=hits[: request.limit],
        degraded=degraded,
        notices=request.asked.notices,
        timings={**clock.laps, "total": sum(clock.laps.values())},
        explain=_explained(request, statement, parameters, narrow, hits)
        if request.explain
        else None,
    )


def _found(
    request: Request, statement: Statement, parameters: Mapping[str, Any], narrow: RowEstimate
) -> Sequence[Hit]:
    rows = statement.run(statement.text(exact=narrow.exact), parameters, request.preset)
    return [_hit(row, request.fields) for row in rows]


def _meaning(request: Request) -> tuple[QueryVector | None, tuple[str, ...]]:
    """Embed the question, before the database is touched. A model that is down takes only its leg with it."""
    if request.way == Mode.KEYWORD:
        return None, ()
    embedder = get_embedder(request.domain)
    try:
        vector = embedder.embed_query([request.vector_query or request.asked.text])[0]
    except EmbedderDown as problem:
        logger.warning("searching %s by words alone: %s", request.domain, problem)
        return None, ("vector",)
    return QueryVector(embedder.name, embedder.dims, HalfVector(vector)), ()


def _parameters(
    request: Request, meaning: QueryVector | None, narrow: RowEstimate
) -> dict[str, Any]:
    """Return the values of the statement's named parameters."""
    preset, by_words = request.preset, request.way != Mode.VECTOR or meaning is None
    named = request.named
    return {
        "domain": request.domain,
        "scopes": list(request.scopes),
        "hidden": request.hidden,
        "languages": list(request.languages),
        "query": request.asked.text if by_words else "",
        "expansions": [expansion.text for expansion in request.expansions if by_words],
        "expansion_weights": [
            float(expansion.weight) for expansion in request.expansions if by_words
        ],
        "most_words": preset.most_words,
        "budget": preset.candidates,
        "matching": max(narrow.rows, 1),
        "k1": preset.k1,
        "b": preset.b,
        "k_keyword": max(preset.k_keyword, request.depth),
        "k_vector": max(preset.k_vector, request.depth) if meaning else 0,
        "vector": meaning.vector if meaning else None,
        "named_ids": [name.id for name in named],
        "named_kinds": [name.kind for name in named],
        "named_scores": [float(name.score) for name in named],
        "fusion": preset.fusion.value,
        "rrf_k": preset.rrf_k,
        "vector_weight": _vector_weight(request, meaning),
        "vector_floor": preset.vector_floor,
        "evidence": preset.evidence,
        "name_weight": preset.name_weight,
        "limit": request.limit + (NEAR_MISSES if request.explain else 0),
    }


def _vector_weight(request: Request, meaning: QueryVector | None) -> float:
    if meaning is None:
        return 0.0
    if request.way == Mode.VECTOR:
        return 1.0
    preset = request.preset
    expanded = preset.expanded_weight if request.expansions else None
    return preset.vector_weight if expanded is None else expanded


def _hit(row: Mapping[str, Any], fields: Sequence[str]) -> Hit:
    legs = {
        "keyword": Leg(row["keyword_rank"], row["keyword"]),
        "vector": Leg(row["vector_rank"], row["vector"]),
    }
    if row["kind"]:
        legs["name"] = Leg(1, row["named_score"])
    return Hit(
        id=row["id"],
        text=row["text"],
        context=row["context"],
        metadata=row["metadata"],
        payload=row["payload"],
        language=row["language"],
        updated_at=row["updated_at"],
        score=row["score"],
        legs=legs,
        match=row["kind"] or _better_leg(legs),
        fields={name: row[name] for name in fields},
    )


def _better_leg(legs: Mapping[str, Leg]) -> str:
    ranked = {name: leg.rank for name, leg in legs.items() if leg.rank is not None}
    return min(ranked, key=lambda name: ranked[name]) if ranked else "keyword"


def _explained(
    request: Request,
    statement: Statement,
    parameters: Mapping[str, Any],
    narrow: RowEstimate,
    hits: Sequence[Hit],
) -> dict[str, Any]:
    """Say how the answer came about: for game masters, the "Try search" page and bug reports."""
    return {
        "mode": request.way.value,
        "fusion": request.preset.fusion.value,
        "vector_weight": parameters["vector_weight"],
        "words": statement.words(parameters),
        "rows_matching_filter": narrow.rows,
        "vector_scan": "exact" if narrow.exact else "index",
        "k_keyword": parameters["k_keyword"],
        "k_vector": parameters["k_vector"],
        "near_misses": list(hits[request.limit :]),
    }


def _checked_limit(limit: int) -> int:
    if not 1 <= limit <= MOST_HITS:
        raise Invalid(f"The number of hits must be from 1 to {MOST_HITS}.")
    return limit


def _checked_mode(mode: Mode | str | None) -> Mode | None:
    try:
        return Mode(mode) if mode else None
    except ValueError as error:
        raise Invalid(f"Unknown mode {mode!r}.", candidates=[way.value for way in Mode]) from error
