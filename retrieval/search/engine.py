"""Hybrid search within a queryset: BM25 and vector similarity, fused in one SQL statement."""

import logging
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import QuerySet
from opentelemetry import metrics, trace
from pgvector import HalfVector

from retrieval.embedders import get_embedder, serving_models
from retrieval.embedders.base import ScriptComparison
from retrieval.errors import EmbedderDown
from retrieval.presets import LONG_LENGTH, USUAL_LENGTH, Mode, Preset, Rerank, get_preset
from retrieval.search.compiled_rows import CompiledRows, RowEstimate, estimate_rows
from retrieval.search.relevance import estimate_relevances
from retrieval.search.request import Hit, Leg, SearchRequest, SearchResult
from retrieval.search.rerank import DEPTHS, rerank_hits
from retrieval.search.statement import HIT_COLUMNS, QueryVector, Statement
from retrieval.search.vector_share import missing_share, share_with_vector
from retrieval.text import OTHER_SCRIPTS, WORD_OR_NUMBER, has_hangul

logger = logging.getLogger(__name__)
_tracer = trace.get_tracer("memory37.search")
_meter = metrics.get_meter("memory37.search")
_requests = _meter.create_counter("memory37.search.requests", description="Searches")
_hits = _meter.create_counter("memory37.search.hits", description="Passages found")

NEAR_MISSES = 5
WHOLE_NAME = 1.0
TOO_COMMON, MOST_CANDIDATES = 2, 3
"""Times the budget of candidates. A question's rarest word may select the former; of a more common
one only the passages that hold other words too are candidates, and the latter are scored at most.
"""
PLACES_A_ROW = 16
"""Places of a word that the index of words reads in the time of looking at one row (8 µs)."""


@dataclass
class Clock:
    start: float = field(default_factory=time.perf_counter)
    laps: dict[str, float] = field(default_factory=dict)

    def lap(self, name: str) -> None:
        """Record the milliseconds since the last lap."""
        self.laps[name] = 1000 * (time.perf_counter() - self.start) - sum(self.laps.values())


@dataclass(frozen=True)
class SearchPlan:
    """A checked request for the rows of one domain."""

    request: SearchRequest
    domain: str
    preset: Preset
    mode: Mode
    query: str
    limit: int
    rerank: Rerank

    @property
    def depth(self) -> int:
        """How many hits are found: more than are asked for, to choose from."""
        depth = DEPTHS.get(self.rerank)
        return max(self.limit, self.request.candidates, depth.hits if depth else 0)


def search(rows: "QuerySet[Any, Any] | CompiledRows", request: SearchRequest) -> SearchResult:
    """Return the passages of `rows` that answer `request` best.

    `rows` are already narrowed by world, audience and filters: nothing is removed after ranking.
    Raise `Invalid` for a malformed request, `SearchTimeout` when the database is too slow.
    """
    rows = rows if isinstance(rows, CompiledRows) else CompiledRows(rows)
    query, notices = request.check_query()
    domain = rows.model.search_config.domain
    preset = request.preset or get_preset(domain)
    mode = request.check_mode() or preset.mode
    limit, rerank = request.check_limit(), request.check_rerank() or preset.rerank
    request.check_least()
    plan = SearchPlan(request, domain, preset, mode, query, limit, rerank)

    # Counts and names (requirement 1.10), never text. A search that fails is counted too.
    attributes = {"domain": domain, "op": "search", "mode": mode}
    depths = {"k_vector": preset.k_vector, "k_keyword": preset.k_keyword}
    hit_count = 0
    with start_span(_tracer, "memory37.search", **attributes, **depths) as span:
        try:
            result = _run(plan, rows, notices)
            hit_count = len(result.hits)
        finally:
            span.set_attribute("hits", hit_count)
            _requests.add(1, attributes)
            _hits.add(hit_count, attributes)
    return result


def start_span(
    tracer: trace.Tracer, name: str, **attributes: Any
) -> AbstractContextManager[trace.Span]:
    """Begin a span, or nothing while no SDK is configured: even an empty span has a price."""
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return nullcontext(trace.INVALID_SPAN)
    return tracer.start_as_current_span(name, attributes=attributes)


@dataclass(frozen=True)
class Found:
    """The rows that the statement returned, and what it was executed with."""

    rows: Sequence[Mapping[str, Any]]
    statement: Statement
    parameters: Mapping[str, Any]
    estimate: RowEstimate
    missing_legs: tuple[str, ...]
    """The names of the legs that could not take part."""


def _run(plan: SearchPlan, rows: CompiledRows, notices: Sequence[str]) -> SearchResult:
    clock = Clock()
    found = _find_rows(plan, rows, clock)
    hits, missing_legs = (
        [to_hit(row, plan.request.fields) for row in found.rows],
        found.missing_legs,
    )
    if plan.request.weigh and plan.mode == Mode.HYBRID:
        hits = plan.request.weigh(plan.query, hits)
        clock.lap("weigh")
    hits = rate(hits, name_weight=plan.preset.name_weight)
    if plan.rerank != Rerank.OFF and not found_by_name(hits):
        hits, has_worked = rerank_hits(
            plan.query, hits, plan.rerank, share=plan.preset.rerank_share
        )
        missing_legs = missing_legs if has_worked else (*missing_legs, "rerank")
        clock.lap("rerank")
    hits = [hit for hit in hits if (hit.relevance or 0.0) >= plan.request.least]
    return SearchResult(
        hits=hits[: plan.limit],
        degraded=missing_legs,
        notices=notices,
        timings={**clock.laps, "total": sum(clock.laps.values())},
        explain=_explain(plan, found, hits) if plan.request.explain else None,
    )


def _find_rows(plan: SearchPlan, rows: CompiledRows, clock: Clock) -> Found:
    # The model is asked before the database is touched, so that no connection waits for it.
    vector, missing_legs = _embed_query(plan)
    clock.lap("embed")
    estimate = estimate_rows(rows.queryset, rows.key)
    clock.lap("plan")

    def run(vector: QueryVector | None, missing_legs: tuple[str, ...]) -> Found:
        request = plan.request
        vector = vector and choose_comparison(vector, estimate)
        statement = Statement(rows, vector, tuple(request.fields), request.one_of)
        parameters = _parameters(plan, vector, estimate)
        found_rows = statement.run(parameters, plan.preset, estimate)
        return Found(found_rows, statement, parameters, estimate, missing_legs)

    found = run(vector, missing_legs)
    if vector and estimate.rows and model_was_switched(plan.domain, vector.model, found.rows):
        vector, missing_legs = _embed_query(plan)
        found = run(vector, missing_legs)
    if vector and estimate.rows:
        share = share_with_vector(rows, vector.model)
        has_vectors = any(row["vector"] is not None for row in found.rows)
        if share < 100:
            found = replace(found, missing_legs=(missing_share(share),))
        elif not has_vectors:
            found = replace(found, missing_legs=("vector",))
        if not found.rows:
            # No passage has a vector of this model yet (mode `vector`): search by words alone.
            found = run(None, found.missing_legs)
    clock.lap("sql")
    return found


def _explain(plan: SearchPlan, found: Found, hits: Sequence[Hit]) -> dict[str, Any]:
    """Return what led to the ranking: the words with their counts, the settings, near misses."""
    weight = found.rows[0]["vector_weight"] if found.rows else found.parameters["vector_weight"]
    return {
        "mode": plan.mode.value,
        "fusion": plan.preset.fusion.value,
        "vector_weight": weight,
        "rows_matching_filter": found.estimate.rows,
        "vector_scan": "exact" if found.estimate.exact else "index",
        "k_keyword": found.parameters["k_keyword"],
        "k_vector": found.parameters["k_vector"],
        "near_misses": hits[plan.limit :][:NEAR_MISSES],
        "words": found.statement.words(found.parameters),
    }


def found_by_name(hits: Sequence[Hit]) -> bool:
    """Whether the question is the name of the best hit: nothing can be better. A name that is only
    mentioned in a question has a lower score."""
    name = hits[0].legs.get("name") if hits else None
    return name is not None and (name.score or 0) >= WHOLE_NAME


def model_was_switched(domain: str, used: str, found: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the vectors of `domain` were replaced by those of another model than the one `used`
    for the question. `found` are the rows of the search."""
    if not found:
        serving_models.read_serving_models()
    elif found[0]["serving"] is not None:
        serving_models.note_serving_model(domain, found[0]["serving"])
    return get_embedder(domain).name != used


def _embed_query(plan: SearchPlan) -> tuple[QueryVector | None, tuple[str, ...]]:
    """Return the vector of the query, and the names of the legs whose model is down."""
    if plan.mode == Mode.KEYWORD:
        return None, ()
    embedder = get_embedder(plan.domain)
    try:
        vector = embedder.embed_query([plan.request.vector_query or plan.query])[0]
    except EmbedderDown as problem:
        logger.warning("searching %s by words alone: %s", plan.domain, problem)
        return None, ("vector",)
    across_scripts = embedder.compare_across_scripts(vector)
    if plan.request.map_vector:
        vector = plan.request.map_vector(embedder.name, vector)
    return QueryVector(embedder.name, embedder.dims, HalfVector(vector), across_scripts), ()


def choose_comparison(vector: QueryVector, estimate: RowEstimate) -> QueryVector:
    """Return the vector as it is compared with such rows: across scripts if some are in another
    script than the question. A question that is not Latin asks texts that are all Latin as they
    are: the weights of the legs are fitted to such questions, too."""
    across = vector.across_scripts
    if across is None:
        return vector
    is_needed = estimate.has_other_scripts and (across.is_question_latin or estimate.has_latin)
    return vector if is_needed else replace(vector, across_scripts=None)


def _parameters(
    plan: SearchPlan, vector: QueryVector | None, estimate: RowEstimate
) -> dict[str, Any]:
    """Return the values of the statement's named parameters."""
    request, preset = plan.request, plan.preset
    by_words = plan.mode != Mode.VECTOR or vector is None
    expansions = request.expansions if by_words else ()
    # An entry may bring several passages of which only one becomes a hit.
    depth = 2 * plan.depth if request.one_of else plan.depth
    words = WORD_OR_NUMBER.findall(plan.query)
    korean_words = sum(map(has_hangul, words))
    return {
        "domain": plan.domain,
        "scopes": [str(scope) for scope in request.scopes],
        "hidden": request.hidden,
        "languages": [request.language or "en"],
        "query": plan.query if by_words else "",
        "korean_words": float(korean_words),
        "other_words": float(len(words) - korean_words),
        "expansions": [expansion.text for expansion in expansions],
        "expansion_weights": [float(expansion.weight) for expansion in expansions],
        "most_words": preset.most_words,
        "budget": preset.candidates,
        "too_common": TOO_COMMON,
        "most_candidates": MOST_CANDIDATES * preset.candidates,
        "places_a_row": PLACES_A_ROW,
        "matching": max(estimate.rows, 1),
        "k1": preset.k1,
        "b": preset.b,
        "k_keyword": max(preset.k_keyword, depth),
        "k_vector": max(preset.k_vector, depth) if vector else 0,
        "vector": vector.vector if vector else None,
        **_parameters_across_scripts(vector.across_scripts if vector else None),
        "named_ids": [hit.id for hit in request.name_hits],
        "named_kinds": [hit.kind for hit in request.name_hits],
        "named_scores": [float(hit.score) for hit in request.name_hits],
        "fusion": preset.fusion.value,
        "rrf_k": preset.rrf_k,
        "vector_weight": vector_weight(plan, vector),
        "long_vector_weight": preset.long_vector_weight if by_words and vector else 0.0,
        "usual_length": float(USUAL_LENGTH),
        "long_length": float(LONG_LENGTH),
        "full_coverage": preset.full_coverage,
        "guessed_weight": preset.guessed_weight,
        "vector_floor": preset.vector_floor,
        "evidence": preset.evidence,
        "name_weight": preset.name_weight,
        # The relevance of a hit depends on its distance to the best other one.
        "limit": max(plan.depth + (NEAR_MISSES if request.explain else 0), 2),
    }


def _parameters_across_scripts(across: ScriptComparison | None) -> dict[str, Any]:
    if across is None:
        return {}
    return {
        "other_vector": HalfVector(across.vector),
        "other_scale": across.scale,
        "other_scripts": list(OTHER_SCRIPTS),
        "is_question_latin": across.is_question_latin,
    }


def vector_weight(plan: SearchPlan, vector: QueryVector | None) -> float:
    if vector is None:
        return 0.0
    if plan.mode == Mode.VECTOR:
        return 1.0
    return plan.preset.vector_weight


def to_hit(row: Mapping[str, Any], fields: Sequence[str]) -> Hit:
    legs = {name: Leg(row[f"{name}_rank"], row[name]) for name in ("keyword", "vector")}
    better_leg = min(legs, key=lambda name: legs[name].rank or math.inf)
    if row["kind"]:
        legs["name"] = Leg(1, row["named_score"])
    columns: dict[str, Any] = {name: row[name] for name in HIT_COLUMNS}
    extra, match = {name: row[name] for name in fields}, row["kind"] or better_leg
    return Hit(**columns, score=row["score"], legs=legs, match=match, fields=extra)


def rate(hits: Sequence[Hit], *, name_weight: float) -> list[Hit]:
    """Return the hits with their relevance."""
    named = [hit.legs["name"].score or 0.0 if "name" in hit.legs else 0.0 for hit in hits]
    scores = [hit.score - name_weight * by for hit, by in zip(hits, named, strict=True)]
    relevances = estimate_relevances(scores, named)
    return [replace(hit, relevance=each) for hit, each in zip(hits, relevances, strict=True)]
