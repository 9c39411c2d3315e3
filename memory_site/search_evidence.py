"""Whether what the search of the site found answers the question, or is only what comes nearest.

Among thousands of passages some are always near a question, and the fused score says which, not how
near. So the log odds of an answer are estimated by a logistic regression on the best cosine, the
best BM25 score of the question's words (with their translations by the glossary), and what the
model of pairs makes of the question and the best hit of each kind. Both scores of unrelated texts
grow with the number of passages, and cosines depend on the script of the question. The numbers were
fitted to questions with and without an answer (docs/search.md, `python -m bench.site_questions`).
"""

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from retrieval.embedders import get_embedder, load_models_soon
from retrieval.statement_pairs import has_pair_model, prepare_pair_model, read_pair
from retrieval.text import has_hangul


class EvidenceWeights(NamedTuple):
    """The weights of the signs, by the script of the question where they depend on it. `words` is
    that of `log(1 + BM25)`, `reading` that of the log odds of the model of pairs, `size` that of
    the decimal logarithm of the thousands of passages; from `least` on, it is an answer."""

    constant: Mapping[str, float]
    cosine: Mapping[str, float]
    words: float
    reading: float
    size: float
    least: float


class FoundText(NamedTuple):
    """The raw scores of a hit, and its title and text. `is_first` of its kind."""

    cosine: float
    words: float
    text: str
    is_first: bool = False


LATIN, CYRILLIC, HANGUL = "latin", "cyrillic", "hangul"
WEIGHTS: dict[str, EvidenceWeights] = {
    "bge-small-en+use-multilingual-v3-sentences+e5-small@1280": EvidenceWeights(
        constant={LATIN: -2.29, CYRILLIC: 0.67, HANGUL: 0.26},
        cosine={LATIN: 2.47, CYRILLIC: 1.96, HANGUL: 1.96},
        words=1.68,
        reading=1.07,
        size=-2.44,
        least=-1.3,
    )
}
"""By the model of the vectors: another one has other cosines, and what it finds counts as found."""
SIZES = (100, 3_000)
"""Numbers of passages to which the weights were fitted."""
MOST_CERTAIN = 0.995
MOST_CHARACTERS = 600
"""Of a text that is read with the question."""


def load_search_models_soon() -> None:
    """Start loading the models that a question of the site takes, once in each process. It takes
    seconds, which somebody who opens a page spends on reading it."""
    load_models_soon()
    if get_embedder().name in WEIGHTS:
        # A model that is loaded is not loaded again.
        threading.Thread(target=prepare_pair_model, name="load-pairs", daemon=True).start()


def has_evidence(question: str, found: Sequence[FoundText], passages: int) -> bool:
    """Whether the hits are those of a question that has an answer among so many `passages`."""
    weights = WEIGHTS.get(get_embedder("lore").name)
    if weights is None or not found or not has_pair_model():
        return True
    script = script_of(question)
    size = min(max(passages, SIZES[0]), SIZES[1])
    evidence = (
        weights.constant[script]
        + weights.cosine[script] * max(each.cosine for each in found)
        + weights.words * math.log1p(max(each.words for each in found))
        + weights.reading * read_answers(question, (each.text for each in found if each.is_first))
        + weights.size * math.log10(size / 1_000)
    )
    return evidence >= weights.least


def read_answers(question: str, texts: Iterable[str]) -> float:
    """The log odds that the best of `texts` answers, as the model of pairs reads them."""
    best = max((read_pair(question, text[:MOST_CHARACTERS]).answers for text in texts), default=0.0)
    probability = min(max(best, 1 - MOST_CERTAIN), MOST_CERTAIN)
    return math.log(probability / (1 - probability))


def script_of(question: str) -> str:
    """The script of a question; one Korean or Russian word among English names decides."""
    if has_hangul(question):
        return HANGUL
    is_cyrillic = any("\u0400" <= character <= "\u04ff" for character in question)
    return CYRILLIC if is_cyrillic else LATIN
