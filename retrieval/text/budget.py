"""Keep answers within their budget, and say so."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from retrieval.schemas import DEFAULT_CHARS, Hit

WORTH_SHOWING = 120
"""Less than this of a text tells nothing: the hit is left out instead."""


def within(hits: Sequence[Hit], max_chars: int | None) -> tuple[list[Hit], list[str]]:
    """Return the hits that fit, the last one cut if need be (`truncated`), and the ids of those left out."""
    left = max_chars or DEFAULT_CHARS
    kept: list[Hit] = []
    for hit in hits:
        if len(hit.text) <= left:
            kept.append(hit)
        elif left >= WORTH_SHOWING or not kept:
            kept.append(replace(hit, text=_cut(hit.text, left), truncated=True))
        else:
            break
        left = max(left - len(hit.text), 0)
    return kept, [hit.id for hit in hits[len(kept) :]]


def shortened(hits: Iterable[Hit]) -> bool:
    return any(hit.truncated for hit in hits)


def _cut(text: str, length: int) -> str:
    """Cut at the last white space before `length`."""
    cut = text[: max(length - 1, 0)]
    return (cut[: cut.rfind(" ")] if " " in cut[length // 2 :] else cut).rstrip() + "…"
