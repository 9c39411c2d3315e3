"""How probable it is that a hit answers the question: one scale over domains and languages.

The fused score orders the hits of one question. A hit is an answer the more often, the higher its
score is and the farther it leads the other hits. A logistic regression over both is fitted to
labelled questions with and without an answer in four sets and three languages
(`python -m bench.relevance`). The signs of the single legs (coverage of the question's words, the
cosine and its distinction) were tried beside them and told answerable questions from others worse.
"""

import math
from collections.abc import Iterator, Sequence

BIAS, SCORE, LEAD = -3.56, 4.32, 4.69
"""Coefficients: of 1, of the fused score, and of its distance to the best other hit's score."""


def estimate_relevances(scores: Sequence[float], named: Sequence[float]) -> list[float]:
    """Return, for hits with these fused scores, the probability from 0 to 1 that each answers.
    `scores` are without the bonus for a name; `named` are the scores of the matches by name, 0
    without one. A hit is at least as relevant as its name says."""
    pairs = zip(scores, leads(scores), named, strict=True)
    return [max(logistic(BIAS + SCORE * score + LEAD * lead), by) for score, lead, by in pairs]


def leads(scores: Sequence[float]) -> Iterator[float]:
    """The distance of each score to the best of the others: negative for all but the best."""
    best = sorted(range(len(scores)), key=lambda number: -scores[number])[:2]
    for number, score in enumerate(scores):
        rival = best[-1] if number == best[0] else best[0]
        yield score - scores[rival]


def logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
