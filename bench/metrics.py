"""Ranking metrics with binary relevance. Pure functions over lists of ids."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean

MEASURES = ("recall@5", "recall@10", "nDCG@10", "MRR")


def measures_of(ranked: Sequence[str], relevant: frozenset[str]) -> dict[str, float]:
    """Return the four measures of one question."""
    return {
        "recall@5": recall(ranked, relevant, 5),
        "recall@10": recall(ranked, relevant, 10),
        "nDCG@10": ndcg(ranked, relevant, 10),
        "MRR": reciprocal_rank(ranked, relevant),
    }


def mean_measures(rows: Iterable[dict[str, float]]) -> dict[str, float]:
    known = list(rows)
    return {name: fmean(row[name] for row in known) if known else math.nan for name in MEASURES}


def recall(ranked: Sequence[str], relevant: frozenset[str], k: int) -> float:
    return len(relevant.intersection(ranked[:k])) / len(relevant)


def ndcg(ranked: Sequence[str], relevant: frozenset[str], k: int) -> float:
    gained = sum(
        1 / math.log2(place + 2) for place, id_ in enumerate(ranked[:k]) if id_ in relevant
    )
    return gained / sum(1 / math.log2(place + 2) for place in range(min(k, len(relevant))))


def reciprocal_rank(ranked: Sequence[str], relevant: frozenset[str]) -> float:
    return next((1 / place for place, id_ in enumerate(ranked, start=1) if id_ in relevant), 0.0)
