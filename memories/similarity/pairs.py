"""Texts read together in pairs (`retrieval.statement_pairs`), each pair once in a while."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log

from memories.text_caches import text_cache
from retrieval.statement_pairs import PairScores, has_pair_model, read_pair

SMALLEST = 1e-5

__all__ = ["LogisticSum", "PairScores", "has_pair_model", "logit", "read_together"]


@text_cache(maxsize=16_384)
def read_together(one: str, other: str) -> PairScores:
    return read_pair(one, other)


def logit(probability: float) -> float:
    """Return ln(p / (1 − p)), within what a probability of `SMALLEST` has."""
    bounded = min(max(probability, SMALLEST), 1 - SMALLEST)
    return log(bounded / (1 - bounded))


@dataclass(frozen=True)
class LogisticSum:
    """Weights of signs by their names, fitted by logistic regression."""

    bias: float
    weights: Mapping[str, float]

    def probability(self, signs: Mapping[str, float]) -> float:
        """Return 1 / (1 + e^−(bias + Σ weight · sign)), from 0 to 1."""
        total = self.bias + sum(weight * signs[name] for name, weight in self.weights.items())
        return 1 / (1 + exp(-total))
