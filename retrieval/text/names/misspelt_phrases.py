"""Which of many phrases differ from a given one by one or two typos.

The phrases are compared by a compiled function, those of a possible length alone: a long text is
compared with all names of a game or a world at each of its words.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from rapidfuzz import process
from rapidfuzz.distance import OSA

from retrieval.text.names.normalize import jamo

Value = TypeVar("Value")
MOST_TYPOS = 2


class PhrasesByLength(Generic[Value]):
    """Folded phrases, each with a value; Korean ones are compared by letters, not syllables."""

    def __init__(self) -> None:
        self._letters: dict[int, list[str]] = defaultdict(list)
        self._values: dict[int, list[tuple[int, Value]]] = defaultdict(list)
        self._count = 0

    def add(self, phrase: str, value: Value) -> None:
        """Add a phrase, unless it is too short to bear a typo."""
        letters = jamo(phrase)
        if max_typos(len(letters)):
            self._letters[len(letters)].append(letters)
            self._values[len(letters)].append((self._count, value))
            self._count += 1

    def find(self, phrases: Iterable[str]) -> Iterator[tuple[Value, float]]:
        """Yield the values of what one of `phrases` is with a typo, in the order in which they were
        added, and the share of its letters that differ. What equals one of `phrases` is left out:
        it has no typo."""
        distances: dict[tuple[int, int], int] = {}
        for phrase in map(jamo, phrases):
            for length in range(len(phrase) - MOST_TYPOS, len(phrase) + MOST_TYPOS + 1):
                near = self._near(phrase, length)
                for distance, place in near:
                    known = distances.get((length, place), distance)
                    distances[length, place] = min(distance, known)
        found = [
            (*self._values[length][place], distance / length)
            for (length, place), distance in distances.items()
            if distance
        ]
        for _number, value, share in sorted(found, key=lambda each: each[0]):
            yield value, share

    def _near(self, phrase: str, length: int) -> Iterator[tuple[int, int]]:
        """Yield (typos, place) of the phrases of so many letters that are near enough."""
        most = max_typos(length)
        if length not in self._letters or abs(len(phrase) - length) > most:
            return
        choices = self._letters[length]
        for _letters, distance, place in process.extract(
            phrase, choices, scorer=OSA.distance, score_cutoff=most, limit=None
        ):
            yield int(distance), place


def max_typos(length: int) -> int:
    """Return how many typos a name of so many letters tolerates before it could be another name."""
    return 0 if length < 5 else 1 if length < 9 else MOST_TYPOS
