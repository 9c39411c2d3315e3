"""The three axes of a memory's score, and two ways to make one order of them. Pure: numbers in, numbers out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True)
class Weights:
    """Not negative, and not all nought."""

    similarity: float = 0.5
    recency: float = 0.3
    importance: float = 0.2

    def __post_init__(self) -> None:
        values = (self.similarity, self.recency, self.importance)
        if min(values) < 0 or not sum(values) > 0:
            raise ValueError(f"weights must not be negative, and not all 0: {values}")


@dataclass(frozen=True)
class Axes:
    """Each from 0 to 1."""

    similarity: float
    recency: float
    importance: float


def recency(at: datetime, *, now: datetime, half_life_hours: float = 24.0) -> float:
    """Halves with every half-life that has passed: 1 for now, and for a clock that runs ahead."""
    hours = max(0.0, (now - at).total_seconds() / 3600)
    return float(0.5 ** (hours / half_life_hours))


def clamp(value: float | None) -> float:
    """Return `value` if it lies between 0 and 1, else the nearer end; 0 for nothing and for NaN."""
    return min(1.0, max(0.0, value)) if value is not None and value == value else 0.0


def score(axes: Axes, weights: Weights = Weights()) -> float:
    """w_sim · similarity + w_rec · recency + w_imp · importance."""
    return (
        weights.similarity * axes.similarity
        + weights.recency * axes.recency
        + weights.importance * axes.importance
    )


class ScoreFusion(Protocol):
    """One score per memory out of the axes of all; higher is better."""

    @property
    def name(self) -> str: ...

    def fuse(self, found: Sequence[Axes]) -> list[float]: ...


@dataclass(frozen=True)
class WeightedFusion:
    """The weighted sum of the axes."""

    weights: Weights = field(default_factory=Weights)
    name: str = "weighted"

    def fuse(self, found: Sequence[Axes]) -> list[float]:
        return [score(axes, self.weights) for axes in found]


@dataclass(frozen=True)
class RRF:
    """Reciprocal rank fusion of the three orders: sum of weight / (k + rank). Equals share a rank."""

    weights: Weights = field(default_factory=Weights)
    k: int = 60
    name: str = "rrf"

    def fuse(self, found: Sequence[Axes]) -> list[float]:
        by_similarity = self._shares([axes.similarity for axes in found], self.weights.similarity)
        by_recency = self._shares([axes.recency for axes in found], self.weights.recency)
        by_importance = self._shares([axes.importance for axes in found], self.weights.importance)
        return [sum(parts) for parts in zip(by_similarity, by_recency, by_importance, strict=True)]

    def _shares(self, values: list[float], weight: float) -> list[float]:
        ranks = {
            value: rank for rank, value in enumerate(sorted(set(values), reverse=True), start=1)
        }
        return [weight / (self.k + ranks[value]) for value in values]


Clock = Callable[[], datetime]
