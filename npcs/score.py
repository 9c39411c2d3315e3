"""Fold disposition changes to a score. Pure. The formulas are explained in docs/dispositions.md."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from math import exp
from typing import Protocol

LOWEST, HIGHEST = -100.0, 100.0
WEIGHTS = {"affection": 1.0, "trust": 1.0, "respect": 1.0, "fear": 0.0}
"""What a point on each axis adds to the score. Fear adds nothing: one may love or hate whom one
fears."""
TREND_CHANGES = 3
SOFT_FROM = 50.0
"""Where the ends of the scale are soft, steps outward count less from here."""


class Label(StrEnum):
    HOSTILE = "hostile"
    UNFRIENDLY = "unfriendly"
    WARY = "wary"
    NEUTRAL = "neutral"
    WARM = "warm"
    FRIENDLY = "friendly"
    DEVOTED = "devoted"


class Feelings(StrEnum):
    """What is behind a score near zero: nothing at all, or strong feelings that cancel out."""

    NONE = "none"
    MIXED = "mixed"
    CLEAR = "clear"


MIXED_FROM = 15.0
"""Points on two axes in opposite directions from which feelings are mixed."""

BANDS = (
    (-60.0, Label.HOSTILE),
    (-25.0, Label.UNFRIENDLY),
    (-8.0, Label.WARY),
    (8.0, Label.NEUTRAL),
    (25.0, Label.WARM),
    (60.0, Label.FRIENDLY),
)
"""Upper bounds of the labels, ascending; above the last one is devoted. A bound itself belongs to
the label that is nearer to zero."""


class HasBase(Protocol):
    """What of an NPC its score depends on: what it thinks of strangers, from -100 to 100, and the
    half-life of its dispositions in in-world days; without one the site's counts."""

    @property
    def base(self) -> float: ...

    @property
    def half_life(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A change that counts. `entry` is the id of its ledger entry. `in_full`: also where the ends
    of the scale are soft."""

    delta: float
    axis: str = "affection"
    in_world_at: float | None = None
    entry: int = 0
    in_full: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """The score after a change."""

    entry: int
    score: float


@dataclass(frozen=True)
class FoldedScore:
    """`in_world_at` is the latest day of any change, from which the score decays further."""

    score: float
    axes: dict[str, float] = field(default_factory=dict)
    trend: float = 0.0
    in_world_at: float | None = None
    points: tuple[Point, ...] = ()


def clamp(score: float) -> float:
    return min(HIGHEST, max(LOWEST, score))


def label_of(score: float) -> Label:
    # The comparison differs by the sign, so that the scale is symmetric: 8 and -8 are both neutral.
    if score >= 0:
        return next((label for bound, label in BANDS[3:] if score <= bound), Label.DEVOTED)
    return next((label for bound, label in BANDS[:4] if score < bound), Label.NEUTRAL)


def feelings_of(axes: Mapping[str, float], *, changes: int) -> Feelings:
    """Return whether `changes` that count have left any feelings, and whether those on the axes
    that make up the score pull in opposite directions."""
    if not changes:
        return Feelings.NONE
    points = [value for axis, value in axes.items() if WEIGHTS[axis]]
    is_mixed = points and max(points) >= MIXED_FROM and min(points) <= -MIXED_FROM
    return Feelings.MIXED if is_mixed else Feelings.CLEAR


def decay(score: float, *, base: float, days: float, half_life: float | None) -> float:
    """Return `base + (score − base) · 2^(−days / half_life)`; without a half-life, `score`."""
    if not half_life or days <= 0:
        return score
    return float(base + (score - base) * 2.0 ** (-days / half_life))


def decay_axes(
    axes: Mapping[str, float], *, days: float, half_life: float | None
) -> dict[str, float]:
    """Return each axis after so many days: 0 is its base, because the base of the score says
    nothing about the axes."""
    return {
        axis: decay(value, base=0.0, days=days, half_life=half_life) for axis, value in axes.items()
    }


def step(score: float, by: float, *, soft_ends: bool) -> float:
    """Return the score after a change by so many points.

    With soft ends the part of a step that leads outward beyond ±`SOFT_FROM` counts less: with
    `r` points left to the end, `x` points bring it to `r · 2.718^(−x / (100 − SOFT_FROM))` from
    the end. Two steps of 10 are one of 20, and the end is never reached.
    """
    if not soft_ends or by * (score + by) <= 0 or abs(score + by) <= SOFT_FROM:
        return clamp(score + by)
    side = 1.0 if by > 0 else -1.0
    begin = max(SOFT_FROM, side * score)
    beyond = side * (score + by) - begin
    left = (HIGHEST - begin) * exp(-beyond / (HIGHEST - SOFT_FROM))
    return clamp(side * (HIGHEST - left))


def fold(
    changes: Sequence[ScoreChange],
    *,
    base: float = 0.0,
    half_life: float | None = None,
    soft_ends: bool = False,
) -> FoldedScore:
    """Add up `changes` in their order, from `base`, with decay towards `base` between them.

    The score is clamped after each change, so that a betrayal at the top of the scale shows.
    """
    score, day, axes = clamp(base), None, dict.fromkeys(WEIGHTS, 0.0)
    points = []
    for change in changes:
        days = 0.0
        if change.in_world_at is not None:
            # Changes are ordered by real time, so in-world days may run backwards: no decay then.
            days = 0.0 if day is None else max(0.0, change.in_world_at - day)
            day = change.in_world_at if day is None else max(day, change.in_world_at)
        score = decay(score, base=base, days=days, half_life=half_life)
        points_of_change = change.delta * WEIGHTS[change.axis]
        score = step(score, points_of_change, soft_ends=soft_ends and not change.in_full)
        axes = decay_axes(axes, days=days, half_life=half_life)
        axes[change.axis] = clamp(axes[change.axis] + change.delta)
        points.append(Point(change.entry, round(score, 4)))
    # Differences of scores, not of deltas: the trend is what the changes did after decay and clamp.
    scores = [clamp(base), *(point.score for point in points)]
    steps = [after - before for before, after in pairwise(scores)]
    return FoldedScore(
        score=round(score, 4),
        axes={axis: round(value, 4) for axis, value in axes.items() if value},
        trend=round(sum(steps[-TREND_CHANGES:]), 4),
        in_world_at=day,
        points=tuple(points),
    )
