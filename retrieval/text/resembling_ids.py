"""Which of the known ids a new one may be a slip for."""

import re
from collections.abc import Iterable

from rapidfuzz.distance import OSA

WORD = re.compile(r"[^\W_]+")
COUNTED = re.compile(r"\d+|\b[ivxlc]+\b")
"""What ids count with: `s1-fog-2`, `act-iii`."""
SHORTEST = 3
"""Characters of a word in which a slip is told from a count: `inn-a` and `inn-b` are two."""


def resembling_ids(reference: str, ids: Iterable[str]) -> list[str]:
    """Return those of `ids` from which `reference` differs by one letter, two letters that changed
    places, or case and separators alone. Ids with other numbers are ids of other things."""
    return [each for each in ids if is_slip_of_id(reference, each)]


def is_slip_of_id(reference: str, known: str) -> bool:
    words, others = WORD.findall(reference.casefold()), WORD.findall(known.casefold())
    written, other = " ".join(words), " ".join(others)
    if OSA.distance(written, other, score_cutoff=1) > 1:
        return False
    if COUNTED.findall(written) != COUNTED.findall(other):
        return False
    pairs = zip(words, others, strict=False) if len(words) == len(others) else ()
    differing = [word for pair in pairs if pair[0] != pair[1] for word in pair]
    return reference != known and all(len(word) >= SHORTEST for word in differing)
