"""Readable differences of two texts, and a three-way merge."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from retrieval.text import common_parts

WORDS = re.compile(r"\s+|\w+|[^\w\s]")
LINES = re.compile(r"[^\n]*\n|[^\n]+")


class DiffPiece(NamedTuple):
    kind: str
    """`same`, `removed` or `added`."""
    text: str


def as_text(value: Any) -> str:
    """Return a field's value as text: a list as one line per value, other data as JSON."""
    if value is None:
        return ""
    if isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        return "\n".join(value)
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return str(value)


def word_diff(old: str, new: str) -> list[DiffPiece]:
    """Return the pieces from `old` to `new`. Lines are compared first, and words only within
    changed lines."""
    pieces = []
    for before, after, unchanged in _changes(LINES.findall(old), LINES.findall(new)):
        words = [WORDS.findall("".join(lines)) for lines in (before, after)]
        changes = _changes(*words) if before and after else [(before, after, [])]
        for removed, added, same in changes:
            pieces += _pieces(removed, added, same)
        pieces += _pieces([], [], unchanged)
    return pieces


def _changes(old: list[str], new: list[str]) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Yield (what was removed, what was added, what follows unchanged), in order."""
    i = k = 0
    for part in common_parts(old, new):
        yield old[i : part.a], new[k : part.b], old[part.a : part.a + part.size]
        i, k = part.a + part.size, part.b + part.size


def _pieces(removed: list[str], added: list[str], same: list[str]) -> list[DiffPiece]:
    kinds = {"removed": removed, "added": added, "same": same}
    return [DiffPiece(kind, "".join(texts)) for kind, texts in kinds.items() if texts]


class Merge(NamedTuple):
    text: str
    overlaps: int
    """Places that both have changed; the text holds both variants between marker lines."""


def merge_texts(base: str, yours: str, stored: str, *, names: tuple[str, str]) -> Merge:
    """Merge two texts that were made from `base`: by lines, and by words within the lines that both
    have changed. `names` are those of `yours` and `stored` in the marker lines."""
    parts, overlaps = [], 0
    lines = [LINES.findall(text) for text in (base, yours, stored)]
    for variants in _regions(*lines):
        merged = _one_sided(*variants)
        if merged is None:
            merged = _merge_words(*("".join(each) for each in variants))
        if merged is None:
            merged = _mark(["".join(each) for each in variants[1:]], names)
            overlaps += 1
        parts += merged
    return Merge("".join(parts), overlaps)


def _merge_words(base: str, yours: str, stored: str) -> list[str] | None:
    """Return the merged text, None if both have changed the same words."""
    parts: list[str] = []
    for variants in _regions(*(WORDS.findall(text) for text in (base, yours, stored))):
        merged = _one_sided(*variants)
        if merged is None:
            return None
        parts += merged
    return parts


def _one_sided(base: list[str], yours: list[str], stored: list[str]) -> list[str] | None:
    if yours in (base, stored):
        return stored
    return yours if stored == base else None


def _mark(variants: list[str], names: tuple[str, str]) -> list[str]:
    ended = [text if text.endswith("\n") or not text else f"{text}\n" for text in variants]
    return [f"<<<<<<< {names[0]}\n", ended[0], "=======\n", ended[1], f">>>>>>> {names[1]}\n"]


MARKER = re.compile(r"(<{7}|>{7}|={7})(?:[ \t].*)?")


def lines_of_markers(text: str) -> list[int]:
    """Return the numbers (from 1) of the marker lines that an unfinished merge has left. A line of
    `=======` alone underlines a heading in Markdown; beside the other markers it is one of them."""
    kinds = {
        number: match[1][0]
        for number, line in enumerate(text.splitlines(), 1)
        if (match := MARKER.fullmatch(line.rstrip()))
    }
    return list(kinds) if {"<", ">"} & set(kinds.values()) else []


def _regions(
    base: list[str], yours: list[str], stored: list[str]
) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Cut three sequences at what all of them share; yield the shared parts as well."""
    i = j = k = 0
    for at, at_yours, at_stored, size in _common_parts(base, yours, stored):
        yield base[i:at], yours[j:at_yours], stored[k:at_stored]
        i, j, k = at + size, at_yours + size, at_stored + size
        yield base[at:i], yours[at_yours:j], stored[at_stored:k]


def _common_parts(
    base: list[str], yours: list[str], stored: list[str]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield (position in each, length) of what all three share, and an empty part at the end."""
    first, second = common_parts(base, yours), common_parts(base, stored)
    n = m = 0
    while n < len(first) and m < len(second):
        one, two = first[n], second[m]
        start, end = max(one.a, two.a), min(one.a + one.size, two.a + two.size)
        if start < end:
            yield start, one.b + start - one.a, two.b + start - two.a, end - start
        if one.a + one.size < two.a + two.size:
            n += 1
        else:
            m += 1
    yield len(base), len(yours), len(stored), 0
