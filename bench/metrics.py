"""Ranking metrics with binary relevance. Pure functions over lists of ids."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np

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


def bootstrap_interval(
    values: Sequence[float], *, level: float = 0.95, draws: int = 2_000
) -> tuple[float, float]:
    """Return the bounds of the mean of `values` by the percentile bootstrap: the questions are
    drawn anew `draws` times, with replacement. The same values give the same bounds."""
    if not values:
        return math.nan, math.nan
    known = np.asarray(values, dtype=float)
    random = np.random.default_rng(37)
    means = [known[random.integers(len(known), size=len(known))].mean() for _draw in range(draws)]
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def recall(ranked: Sequence[str], relevant: frozenset[str], k: int) -> float:
    return len(relevant.intersection(ranked[:k])) / len(relevant)


def ndcg(ranked: Sequence[str], relevant: frozenset[str], k: int) -> float:
    gained = sum(
        1 / math.log2(place + 2) for place, id_ in enumerate(ranked[:k]) if id_ in relevant
    )
    return gained / sum(1 / math.log2(place + 2) for place in range(min(k, len(relevant))))


def reciprocal_rank(ranked: Sequence[str], relevant: frozenset[str]) -> float:
    return next((1 / place for place, id_ in enumerate(ranked, start=1) if id_ in relevant), 0.0)
