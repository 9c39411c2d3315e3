"""Order the best hits anew by a model that reads question and passage together."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from django.conf import settings

from retrieval.errors import RerankerDown
from retrieval.presets import Rerank
from retrieval.rerankers import get_reranker
from retrieval.search.request import Hit, Leg
from retrieval.text import light_stem

logger = logging.getLogger(__name__)

TITLE_WORDS = 12
WORDS_BEFORE = 40
"""Of the turn before a turn, its last words; at most half as many as of the passage."""
WORD = re.compile(r"\w+(?:['’]\w+)*")


@dataclass(frozen=True)
class Depth:
    hits: int
    """How many of the best hits are read at most."""
    words: int
    """Of each hit, its best window of so many words."""
    least_hits: int = 0
    most_words: int = 0
    """Hits beyond `least_hits` are read while all that is read, the question with each of them, has
    no more words than this: the time of the model grows with them, and of short hits more can be
    read in it."""


DEPTHS = {
    Rerank.FAST: Depth(hits=20, words=48, least_hits=10, most_words=800),
    Rerank.CAREFUL: Depth(hits=30, words=160, least_hits=30),
}


def rerank_hits(
    query: str, hits: Sequence[Hit], rerank: Rerank, *, share: float
) -> tuple[list[Hit], bool]:
    """Return `hits` in their new order, and whether the model could take part. When its time is
    over or it fails, the fused order stands. Hits in a language it does not know are not read."""
    reranker, depth = get_reranker(), DEPTHS[rerank]
    if reranker is None or len(hits) < 2 or not reranker.knows(query):
        return list(hits), True
    readable = {
        number: passage_window(query, hit, depth.words)
        for number, hit in enumerate(hits[: depth.hits])
        if reranker.knows(hit.text)
    }
    windows = list(readable.values())
    windows = windows[: hits_to_read(query, windows, depth)]
    seconds = settings.RERANK_SECONDS[rerank]
    try:
        scores = reranker.score(query, windows, seconds=seconds)
    except RerankerDown as problem:
        logger.warning("searching without the re-ranker: %s", problem)
        return list(hits), False
    if scores is None:
        logger.warning("the re-ranker took longer than %.2f seconds", seconds)
        return list(hits), False
    # Fewer scores than hits: the rest was not read.
    return reorder(hits, dict(zip(readable, scores, strict=False)), share=share), True


def hits_to_read(query: str, windows: Sequence[str], depth: Depth) -> int:
    """Return how many of the hits with these windows are read, of the best first."""
    asked = len(query.split())
    totals = accumulate(len(window.split()) + asked for window in windows)
    within = sum(total <= depth.most_words for total in totals)
    return max(within, min(depth.least_hits, len(windows)))


def reorder(hits: Sequence[Hit], scores: dict[int, float], *, share: float) -> list[Hit]:
    """Place the hits that have a score anew among themselves: the positions, and the scores that
    belong to these positions, stay. `scores` are by the number of the hit; `share` is theirs in
    the new order, and the rest that of the fused scores."""
    fused = scale([hits[number].score for number in scores])
    model = scale(list(scores.values()))
    mixed = {
        number: share * by_model + (1 - share) * by_fusion
        for number, by_model, by_fusion in zip(scores, model, fused, strict=True)
    }
    order = sorted(mixed, key=lambda number: (-mixed[number], number))
    placed = list(hits)
    for rank, (position, number) in enumerate(zip(sorted(scores), order, strict=True), start=1):
        hit = hits[number]
        legs = {**hit.legs, "rerank": Leg(rank, scores[number])}
        placed[position] = replace(
            hit, score=hits[position].score, relevance=hits[position].relevance, legs=legs
        )
    return placed


def scale(values: Sequence[float]) -> list[float]:
    """Return `values` between 0 and 1, by the lowest and the highest."""
    lowest, highest = min(values, default=0.0), max(values, default=0.0)
    return [(value - lowest) / ((highest - lowest) or 1.0) for value in values]


def passage_window(query: str, hit: Hit, words: int) -> str:
    """Return the beginning of the context, and the window of the text with the most words of
    `query`. A turn of a conversation is read after the end of the turn before it, which may ask
    what it answers, and with its speaker instead of its context."""
    window = best_window(query, hit.text, words)
    context = " ".join(hit.context.split()[:TITLE_WORDS])
    if speaker := hit.fields.get("speaker"):
        window = f"{speaker}: {window}"
    elif context:
        window = f"{context}. {window}"
    end = str(hit.fields.get("surroundings", "")).split()[-min(WORDS_BEFORE, words // 2) :]
    return f"{' '.join(end)} / {window}" if end else window


def best_window(query: str, text: str, words: int) -> str:
    """Return the first of the windows of so many `words` that hold the most different words of
    `query`, compared by their stems."""
    places = list(WORD.finditer(text))
    if len(places) <= words:
        return text
    wanted = {light_stem(word.lower()) for word in WORD.findall(query)}
    stems = [light_stem(place.group().lower()) for place in places]
    starts = range(0, len(places) - words + 1, max(words // 4, 1))
    best = max(starts, key=lambda start: len(wanted.intersection(stems[start : start + words])))
    return text[places[best].start() : places[best + words - 1].end()]
