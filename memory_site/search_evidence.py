"""Whether what the search of the site found answers the question, or is only what comes nearest.

Among thousands of passages some are always near a question, and the fused score says which, not how
near. So two raw scores are summed: the best cosine, and the logarithm of the BM25 score of the
question's words, with their translations by the glossary. How high both are without an answer
depends on the model of the vectors and on the script of the question; it was measured with
questions that have no answer and with real ones (docs/search.md, `python -m bench.site_questions`).
"""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from retrieval.embedders import get_embedder
from retrieval.text import has_hangul


class EvidenceScale(NamedTuple):
    """An answer has at least `least` of `cosine + words_weight · log(1 + BM25)`."""

    words_weight: float
    least: float


class RawScores(NamedTuple):
    """The raw scores of a hit."""

    cosine: float
    words: float


LATIN, CYRILLIC, HANGUL = "latin", "cyrillic", "hangul"
SCALES: dict[str, Mapping[str, EvidenceScale]] = {
    "bge-small-en+use-multilingual-v3-sentences+e5-small@1280": {
        LATIN: EvidenceScale(words_weight=0.24, least=0.61),
        CYRILLIC: EvidenceScale(words_weight=0.11, least=0.205),
        HANGUL: EvidenceScale(words_weight=0.048, least=0.152),
    }
}
"""By the model of the vectors: another one has other cosines, and what it finds counts as found."""


def has_evidence(question: str, scores: Iterable[RawScores]) -> bool:
    """Whether the best scores among the hits are those of a question that has an answer."""
    scale = SCALES.get(get_embedder("lore").name, {}).get(script_of(question))
    found = list(scores)
    if scale is None or not found:
        return True
    words = max(each.words for each in found)
    cosine = max(each.cosine for each in found)
    return cosine + scale.words_weight * math.log1p(words) >= scale.least


def script_of(question: str) -> str:
    """The script of a question; one Korean or Russian word among English names decides."""
    if has_hangul(question):
        return HANGUL
    is_cyrillic = any("\u0400" <= character <= "\u04ff" for character in question)
    return CYRILLIC if is_cyrillic else LATIN
