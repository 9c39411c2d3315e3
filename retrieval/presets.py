"""How each domain is embedded and searched (requirement 1.1), overridable by environment."""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any

from django.conf import settings


class Mode(StrEnum):
    HYBRID = "hybrid"
    VECTOR = "vector"
    KEYWORD = "keyword"


class Fusion(StrEnum):
    SCORE = "score"
    RRF = "rrf"


class Rerank(StrEnum):
    """How many of the best hits a re-ranker reads: none, parts of ten to twenty, or thirty."""

    OFF = "off"
    FAST = "fast"
    CAREFUL = "careful"


@dataclass(frozen=True)
class Preset:
    """`dims` is what a hosted model is asked for; a local model brings its own width."""

    dims: int
    k_vector: int = 10
    k_keyword: int = 50
    mode: Mode = Mode.HYBRID
    fusion: Fusion = Fusion.SCORE
    vector_weight: float = 0.4
    """The share of the vector leg in the fused score, if the words cover the question; the rest is
    the share of the query's idf."""
    long_vector_weight: float = 0.0
    """What `vector_weight` rises to as the passages searched are longer (`USUAL_LENGTH` to
    `LONG_LENGTH`): a long passage holds some words of any question. 0: the same at all lengths."""
    full_coverage: float = 0.5
    """The keyword share of the best passage (its BM25 as a share of the question's idf, or of full
    evidence, if that is less) from which the keyword leg has its full weight. If it is less, the
    words of the question are not those of the answer, and the weight of the keyword leg is less in
    proportion. (A passage that holds every word of a short question once has about 0.4, or 0.5 in
    agent memory.)"""
    guessed_weight: float = 1.0
    """The weight of the keyword leg, as a share of its usual one, if all words that it finds are a
    glossary's expansions: they are guesses at what the question means. Its own words count as the
    share of the idf that they have."""
    evidence: float = 14.0
    """BM25 that counts as full evidence (about three rare words). Of a query that can reach at most
    t: if t is less, t; if it is more, `evidence · √(evidence / t)`, because the words of a long
    query say more and its one vector less. A Korean word is indexed by several parts (see
    docs/search.md): of a Korean query it is higher by their number for each word."""
    vector_floor: float = 0.0
    """The cosine of unrelated texts: 0 is right for the local model, e5 models want about 0.75."""
    name_weight: float = 0.5
    """Added to the score of a match by name; good hits score 0.3 to 0.6 without it."""
    rrf_k: int = 10
    k1: float = 1.5
    b: float = 0.75
    candidates: int = 1_000
    """Passages that the keyword leg scores: it adds words, rarest first, up to so many."""
    most_words: int = 64
    """Words of a query that score, rarest first; more words gain nothing."""
    rerank: Rerank = Rerank.OFF
    rerank_share: float = 0.7
    """The share of the re-ranker in the new order; the rest is that of the fused score."""
    ef_search: int = 100
    """Candidates of the vector index up to 100,000 rows of the table; of larger tables more."""
    timeout: float = 10.0
    """Seconds the database may take."""


USUAL_LENGTH, LONG_LENGTH = 150, 500
"""Words of a passage as they are indexed (in agent memory each counts three times). Turns of people
have 50 to 120 on average, those of chats with an assistant 550 to 900."""

TALK = Preset(
    dims=1024,
    vector_weight=0.4,
    long_vector_weight=0.8,
    full_coverage=0.5,
    k1=2.7,
    rerank_share=0.5,
)
"""k1 is 0.9 times a `SearchConfig.text_weight` of 3. A re-ranker does not see who speaks and what
else was said, which the scores of turns know."""

PRESETS = {
    # Players seldom use the words of the rules.
    "srd": Preset(
        dims=1536, vector_weight=0.75, full_coverage=0.15, guessed_weight=0.4, rerank_share=0.3
    ),
    "lore": Preset(dims=1024, vector_weight=0.7, full_coverage=0.15, rerank_share=0.3),
    "episode": Preset(dims=1024, mode=Mode.VECTOR),
    "art": Preset(dims=1024),
    "memory": TALK,
    "conversation": TALK,
}


@cache
def get_preset(domain: str) -> Preset:
    """Return the preset of `domain`, with the overrides of `settings.RETRIEVAL_PRESETS` applied.
    The settings are read once per process."""
    preset, overrides = PRESETS[domain], settings.RETRIEVAL_PRESETS.get(domain, {})
    # A value takes the type of the one it overrides.
    values: dict[str, Any] = {
        name: type(getattr(preset, name))(value) for name, value in overrides.items()
    }
    return replace(preset, **values)
