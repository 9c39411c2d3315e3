"""The three axes of a memory's score, and two fusions of them into one order. Pure."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True)
class Weights:
    """Not negative, and not all 0; else `ValueError`."""

    similarity: float = 0.5
    recency: float = 0.3
    importance: float = 0.2

    def __post_init__(self) -> None:
        values = astuple(self)
        # `not … > 0` refuses NaN as well.
        if min(values) < 0 or not sum(values) > 0:
            raise ValueError(f"weights must not be negative, and not all 0: {values}")


@dataclass(frozen=True)
class Axes:
    """Each from 0 to 1."""

    similarity: float
    recency: float
    importance: float


def recency(at: datetime, *, now: datetime, half_life_hours: float = 24.0) -> float:
    """Return 0.5 ** (age / half-life): 1 for now, and for a timestamp in the future."""
    hours = max(0.0, (now - at).total_seconds() / 3600)
    return float(0.5 ** (hours / half_life_hours))


def in_world_recency(day: float, *, today: float, half_life_days: float = 30.0) -> float:
    """The same by in-world days, for what NPCs remember."""
    return float(0.5 ** (max(0.0, today - day) / half_life_days))


def clamp(value: float | None) -> float:
    """Return `value` within 0–1; 0 for None and NaN."""
    return min(1.0, max(0.0, value)) if value is not None and value == value else 0.0


def score(axes: Axes, weights: Weights = Weights()) -> float:
    """w_sim · similarity + w_rec · recency + w_imp · importance."""
    return (
        weights.similarity * axes.similarity
        + weights.recency * axes.recency
        + weights.importance * axes.importance
    )


class ScoreFusion(Protocol):
    """Makes one score per memory from the axes of all; higher is better."""

    @property
    def name(self) -> str: ...

    def fuse(self, all_axes: Sequence[Axes]) -> list[float]: ...


@dataclass(frozen=True)
class WeightedFusion:
    """The weighted sum of the axes."""

    weights: Weights = field(default_factory=Weights)
    name: str = "weighted"

    def fuse(self, all_axes: Sequence[Axes]) -> list[float]:
        return [score(axes, self.weights) for axes in all_axes]


@dataclass(frozen=True)
class RRF:
    """Reciprocal rank fusion of the three orders: the sum of weight / (k + rank). Ties share a
    rank. (Cormack, Clarke, Büttcher 2009; k = 60 is theirs.)"""

    weights: Weights = field(default_factory=Weights)
    k: int = 60
    name: str = "rrf"

    def fuse(self, all_axes: Sequence[Axes]) -> list[float]:
        totals = [0.0] * len(all_axes)
        for axis, weight in vars(self.weights).items():
            values = [getattr(axes, axis) for axes in all_axes]
            descending = sorted(set(values), reverse=True)
            ranks = {value: rank for rank, value in enumerate(descending, start=1)}
            totals = [
                total + weight / (self.k + ranks[value])
                for total, value in zip(totals, values, strict=True)
            ]
        return totals
