"""Hybrid search: words by BM25 and meaning by vectors, fused, in one statement inside the caller's queryset."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import QuerySet
from pgvector import HalfVector

from retrieval.domains import searched
from retrieval.embedders import get_embedder
from retrieval.hits import Hit, Leg, SearchResult
from retrieval.models import Passage
from retrieval.presets import Mode, Preset
from retrieval.presets import preset as preset_of
from retrieval.problems import EmbedderDown
from retrieval.questions import checked
from retrieval.selectivity import narrowness
from retrieval.statement import Meaning, Statement
from retrieval.statistics import Scope

logger = logging.getLogger(__name__)
P = TypeVar("P", bound=Passage)

NEAR_MISSES = 5


@dataclass(frozen=True)
class Expansion:
    """Words that stand in for words of the question (a glossary's English term for a Korean one)."""

    text: str
    weight: float = 1.0


@dataclass(frozen=True)
class Named:
    """A passage that the caller found by name. It counts only if the queryset holds it."""

    id: UUID
    kind: str
    """exact, alias or fuzzy."""
    score: float = 1.0


def search(
    queryset: "QuerySet[P]",
    query: str,
    *,
    scopes: Sequence[Scope],
    hidden: bool = False,
    preset: Preset | None = None,
    limit: int = 10,
    mode: Mode | str | None = None,
    language: str | None = None,
    expansions: Sequence[Expansion] = (),
    named: Sequence[Named] = (),
    fields: Sequence[str] = (),
    vector_query: str | None = None,
    explain: bool = False,
) -> SearchResult:
    """Return the passages of `queryset` that answer `query` best.

    `queryset` is already narrowed by world, audience and filters. `scopes` are the tenants whose word counts apply
    (`Searched.scope`): the world, its game system, a namespace. `hidden=True` counts hidden rows too, for a game master
    only: else a hidden row would change another audience's ranking. `named` are passages found by name, `fields` more
    columns to return with each hit; `vector_query` is embedded in place of `query`. Raise `Invalid` for a question that
    cannot be asked, `SearchTimeout` when the database is too slow.
    """
    started = time.perf_counter()
    settings = preset or preset_of(searched(queryset.model).domain)
    asked = checked(query)
    way = Mode(mode or settings.mode)
    meaning, degraded = _meaning(queryset.model, vector_query or asked.text, way)
    embedded = time.perf_counter()
    statement = Statement(queryset, meaning, tuple(fields))
    narrow = narrowness(queryset, statement.filter_key)
    parameters: dict[str, Any] = {
        "domain": searched(queryset.model).domain,
        "scopes": [str(scope) for scope in scopes],
        "hidden": hidden,
        "query": "" if way == Mode.VECTOR and meaning else asked.text,
        "languages": [language or "en"],
        "expansions": [expansion.text for expansion in expansions],
        "expansion_weights": [float(expansion.weight) for expansion in expansions],
        "most_words": settings.most_words,
        "budget": settings.candidates,
        "matching": max(narrow.rows, 1),
        "k1": settings.k1,
        "b": settings.b,
        "k_keyword": max(settings.k_keyword, limit),
        "k_vector": max(settings.k_vector, limit) if meaning else 0,
        "vector": meaning.vector if meaning else None,
        "named_ids": [name.id for name in named],
        "named_kinds": [name.kind for name in named],
        "named_scores": [float(name.score) for name in named],
        "fusion": settings.fusion.value,
        "rrf_k": settings.rrf_k,
        "vector_weight": _vector_weight(settings, way, meaning),
        "name_weight": settings.name_weight,
        "limit": limit + (NEAR_MISSES if explain else 0),
    }
    text = statement.text(exact=narrow.exact)
    rows = statement.run(text, parameters, seconds=settings.timeout, ef_search=settings.ef_search)
    done = time.perf_counter()
    hits = [_hit(row, fields) for row in rows]
    return SearchResult(
        hits=hits[:limit],
        degraded=degraded,
        notices=asked.notices,
        timings=_milliseconds(embed=embedded - started, sql=done - embedded, total=done - started),
        explain={"near_misses": hits[limit:], "rows": narrow.rows, "exact": narrow.exact} if explain else None,
    )


def _meaning(model: type[Passage], text: str, mode: Mode) -> tuple[Meaning | None, tuple[str, ...]]:
    """Embed the question, before the database is touched. A model that is down takes only its leg with it."""
    if mode == Mode.KEYWORD:
        return None, ()
    embedder = get_embedder(searched(model).domain)
    try:
        vector = embedder.embed_query([text])[0]
    except EmbedderDown as problem:
        logger.warning("searching by words alone: %s", problem)
        return None, ("vector",)
    return Meaning(embedder.name, embedder.dims, HalfVector(vector).to_text()), ()


def _milliseconds(**seconds: float) -> dict[str, float]:
    return {name: 1000 * value for name, value in seconds.items()}


def _vector_weight(settings: Preset, mode: Mode, meaning: Meaning | None) -> float:
    if meaning is None:
        return 0.0
    return 1.0 if mode == Mode.VECTOR else settings.vector_weight


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
