"""From changes to a disposition. Pure: it sees values only. The formulas are in
docs/dispositions.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

LOWEST, HIGHEST = -100.0, 100.0
WEIGHTS = {"affection": 1.0, "trust": 1.0, "respect": 1.0, "fear": 0.0}
"""What a point on each axis does to the score. Fear is kept beside it: one may love or hate whom
one fears.
"""
TREND_CHANGES = 3


class Label(StrEnum):
    HOSTILE = "hostile"
    UNFRIENDLY = "unfriendly"
    WARY = "wary"
    NEUTRAL = "neutral"
    WARM = "warm"
    FRIENDLY = "friendly"
    DEVOTED = "devoted"


BANDS = (
    (-60.0, Label.HOSTILE),
    (-25.0, Label.UNFRIENDLY),
    (-8.0, Label.WARY),
    (8.0, Label.NEUTRAL),
    (25.0, Label.WARM),
    (60.0, Label.FRIENDLY),
)
"""Below the bound, in order; what is above all of them is devoted. A bound belongs to the side of
zero.
"""


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A change that counts."""

    delta: float
    axis: str = "affection"
    in_world_at: float | None = None
    entry: int = 0


@dataclass(frozen=True, slots=True)
class Point:
    """The score after a change."""

    entry: int
    score: float


@dataclass(frozen=True)
class FoldedScore:
    score: float
    axes: dict[str, float] = field(default_factory=dict)
    trend: float = 0.0
    in_world_at: float | None = None
    points: tuple[Point, ...] = ()


def clamp(score: float) -> float:
    return min(HIGHEST, max(LOWEST, score))


def label_of(score: float) -> Label:
    if score >= 0:
        return next((label for bound, label in BANDS[3:] if score <= bound), Label.DEVOTED)
    return next((label for bound, label in BANDS[:4] if score < bound), Label.NEUTRAL)


def decay(score: float, *, base: float, days: float, half_life: float | None) -> float:
    """`base + (score − base) · 2^(−days / half_life)`; without a half-life nothing is forgotten."""
    if not half_life or days <= 0:
        return score
    return float(base + (score - base) * 2.0 ** (-days / half_life))


def fold(
    changes: Sequence[ScoreChange], *, base: float = 0.0, half_life: float | None = None
) -> FoldedScore:
    """Add up `changes` in their order, from `base`, within the scale after each one, so that a
    betrayal at the top of the scale still shows. Between changes the score fades towards `base`;
    days that run backwards fade nothing.
    """
    score, day, axes = clamp(base), None, dict.fromkeys(WEIGHTS, 0.0)
    points = []
    for change in changes:
        days = _days(day, change.in_world_at)
        score = decay(score, base=base, days=days, half_life=half_life)
        score = clamp(score + change.delta * WEIGHTS[change.axis])
        axes = {
            axis: decay(value, base=0.0, days=days, half_life=half_life)
            for axis, value in axes.items()
        }
        axes[change.axis] = clamp(axes[change.axis] + change.delta)
        day = _later(day, change.in_world_at)
        points.append(Point(change.entry, round(score, 4)))
    kept = {axis: round(value, 4) for axis, value in axes.items() if value}
    return FoldedScore(round(score, 4), kept, _trend(clamp(base), points), day, tuple(points))


def _trend(base: float, points: Sequence[Point]) -> float:
    """How far the last few changes have moved the score."""
    scores = [base, *(point.score for point in points)]
    return round(
        sum(after - before for before, after in list(pairwise(scores))[-TREND_CHANGES:]), 4
    )


def _days(since: float | None, until: float | None) -> float:
    return 0.0 if since is None or until is None else max(0.0, until - since)


def _later(day: float | None, other: float | None) -> float | None:
    days: Iterable[float] = [each for each in (day, other) if each is not None]
    return max(days, default=None)
