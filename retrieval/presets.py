"""How each domain is embedded and searched (requirement 1.1): one configuration object, overridable
by environment."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from django.conf import settings


class Mode(StrEnum):
    HYBRID = "hybrid"
    VECTOR = "vector"
    KEYWORD = "keyword"


class Fusion(StrEnum):
    SCORE = "score"
    RRF = "rrf"


@dataclass(frozen=True)
class Preset:
    """`dims` is what a hosted model is asked for; a local model brings its own width."""

    dims: int
    k_vector: int = 10
    k_keyword: int = 50
    mode: Mode = Mode.HYBRID
    fusion: Fusion = Fusion.SCORE
    vector_weight: float = 0.4
    """The share of meaning in the fused score; the rest is how much of the question's words (by
    idf) is covered."""
    expanded_weight: float | None = None
    """The same where the question brings expansions: a glossary's terms say what is meant, plain
    words often do not."""
    evidence: float = 14.0
    """BM25 that counts as full evidence (about three rare words). A question that cannot give as
    much is measured by what it can give, t; of one that can give more, `evidence · √(evidence / t)`
    is enough: the longer a question is, the more its words say, and the less its one vector."""
    vector_floor: float = 0.0
    """The cosine of unrelated texts: 0 is right for the local model, e5 models want about 0.75."""
    name_weight: float = 0.5
    """What a passage found by its name gains; good hits score 0.3 to 0.6 without."""
    rrf_k: int = 10
    k1: float = 1.5
    b: float = 0.75
    candidates: int = 1_000
    """Passages that the keyword leg looks at: the rarest words are taken until they occur in so
    many."""
    most_words: int = 64
    """Words of a question that score, rarest first; a longer question gains nothing by the
    others."""
    ef_search: int = 100
    timeout: float = 10.0
    """Seconds the database may take."""


TALK = Preset(dims=1024, k1=2.7, b=0.4)
"""Short turns: length says little, and k1 is 0.9 for text that counts three times
(`Searched.text_weight`)."""

PRESETS = {
    "srd": Preset(
        dims=1536, vector_weight=0.9, expanded_weight=0.75
    ),  # players seldom use the words of the rules
    "lore": Preset(dims=1024, vector_weight=0.6),
    "episode": Preset(dims=1024, mode=Mode.VECTOR),
    "art": Preset(dims=1024),
    "memory": TALK,
    "conversation": TALK,
}


def get_preset(domain: str) -> Preset:
    """Return the preset of `domain`, with the overrides of `settings.RETRIEVAL_PRESETS` applied."""
    preset = PRESETS[domain]
    overrides = getattr(settings, "RETRIEVAL_PRESETS", {}).get(domain, {})
    if not overrides:
        return preset
    return replace(
        preset,
        **{name: convert_like(getattr(preset, name), value) for name, value in overrides.items()},
    )


def convert_like(default: Any, value: Any) -> Any:
    """Return `value` in the type of the setting it overrides; only shares may be left empty."""
    return float(value) if default is None else type(default)(value)
