"""Where the marks of a disposition curve go. Pure: numbers in, coordinates out."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, MARGIN = 640, 180, 28
LOWEST, HIGHEST = -100, 100


@dataclass(frozen=True)
class Mark:
    """One change on the curve. `counts` is false for a change that waits or was taken back."""

    change: int
    x: float
    y: float
    score: float
    counts: bool


@dataclass(frozen=True)
class Curve:
    marks: tuple[Mark, ...]
    line: str
    zero: float
    width: int = WIDTH
    height: int = HEIGHT


def height_of(score: float) -> float:
    # In SVG y grows downwards, so the highest score has the smallest y.
    share = (HIGHEST - score) / (HIGHEST - LOWEST)
    return round(MARGIN / 2 + share * (HEIGHT - MARGIN), 1)


def curve(scores: Sequence[tuple[int, float, bool]], *, base: float) -> Curve:
    """Lay out `(change, score after it, counts)`, oldest first, evenly spaced from the `base` at
    the left.
    """
    # By number, not by time: sessions are weeks apart and changes within one would lie on each
    # other.
    step = (WIDTH - 2 * MARGIN) / max(len(scores), 1)
    marks = tuple(
        Mark(change, round(MARGIN + step * (place + 1), 1), height_of(score), score, counts)
        for place, (change, score, counts) in enumerate(scores)
    )
    points = [(MARGIN, height_of(base)), *((mark.x, mark.y) for mark in marks if mark.counts)]
    return Curve(marks, " ".join(f"{x},{y}" for x, y in points), height_of(0))


def bar(score: float, width: int = 200) -> tuple[float, float]:
    """Return `(x, width)` of the filled part of a bar that runs from the middle to `score`."""
    half = width / 2
    reach = round(abs(score) / HIGHEST * half, 1)
    return (half if score >= 0 else half - reach), reach
