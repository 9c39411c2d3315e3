"""What two sequences share, in order: the basis of differences and merges of texts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

MOST_CELLS = 200_000_000
"""Of the table of two sequences, a bit each: 25 MB and a tenth of a second."""


class CommonPart(NamedTuple):
    """`size` elements from `a` on in the one sequence are those from `b` on in the other."""

    a: int
    b: int
    size: int


def common_parts(one: Sequence[str], other: Sequence[str]) -> list[CommonPart]:
    """Return the parts of a longest common subsequence in order, and an empty part at the end.

    Where both sequences are so long that this would take seconds, they are cut at elements that
    each has once. What is still too long between two of those counts as different throughout.
    """
    numbers: dict[str, int] = {}
    first, second = ([numbers.setdefault(each, len(numbers)) for each in x] for x in (one, other))
    pairs = list(_join_neighbours(_parts(first, second)))
    return [*pairs, CommonPart(len(one), len(other), 0)]


def _parts(one: list[int], other: list[int]) -> Iterator[CommonPart]:
    start = _shared_start(one, other)
    rest, other_rest = one[start:], other[start:]
    end = _shared_start(rest[::-1], other_rest[::-1])
    yield CommonPart(0, 0, start)
    middle = rest[: len(rest) - end], other_rest[: len(other_rest) - end]
    for part in _parts_of_middle(*middle):
        yield CommonPart(part.a + start, part.b + start, part.size)
    yield CommonPart(len(one) - end, len(other) - end, end)


def _parts_of_middle(one: list[int], other: list[int]) -> Iterator[CommonPart]:
    if len(one) * len(other) <= MOST_CELLS:
        yield from _longest_common(one, other)
        return
    i = j = 0
    for anchor in [*_anchors(one, other), CommonPart(len(one), len(other), 0)]:
        between = one[i : anchor.a], other[j : anchor.b]
        if len(between[0]) * len(between[1]) <= MOST_CELLS:
            for part in _longest_common(*between):
                yield CommonPart(part.a + i, part.b + j, part.size)
        yield anchor
        i, j = anchor.a + anchor.size, anchor.b + anchor.size


def _longest_common(one: list[int], other: list[int]) -> Iterator[CommonPart]:
    for code in LCSseq.opcodes(one, other):
        if code.tag == "equal":
            yield CommonPart(code.src_start, code.dest_start, code.src_end - code.src_start)


def _anchors(one: list[int], other: list[int]) -> Iterator[CommonPart]:
    """Yield elements that both have once, those in the same order in both."""
    once = {each for each, times in Counter(one).items() if times == 1}
    once &= {each for each, times in Counter(other).items() if times == 1}
    places = {each: place for place, each in enumerate(other) if each in once}
    shared = [(place, places[each]) for place, each in enumerate(one) if each in once]
    order = {place: number for number, (_own, place) in enumerate(shared)}
    positions = [place for _own, place in shared]
    if len(positions) ** 2 > MOST_CELLS:
        return
    for part in _longest_common(positions, sorted(positions)):
        for place in positions[part.a : part.a + part.size]:
            yield CommonPart(shared[order[place]][0], place, 1)


def _shared_start(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many elements at the start are the same in both."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _join_neighbours(parts: Iterator[CommonPart]) -> Iterator[CommonPart]:
    """Join parts that follow each other, and leave out empty ones."""
    last = CommonPart(0, 0, 0)
    for part in parts:
        if (part.a, part.b) == (last.a + last.size, last.b + last.size):
            last = last._replace(size=last.size + part.size)
            continue
        if last.size:
            yield last
        last = part
    if last.size:
        yield last
