"""Names by their sound: `сайленс` finds Silence."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from retrieval.text import pronunciations, sound_similarity

LEAST_SIMILARITY = 0.84
LEAST_SHARED = 70.0
"""Share (0–100) of the sounds of a pronunciation that a candidate has in the same order."""
CANDIDATES = 15
SHORTEST, SHORT = 3, 4
"""Sounds of a name; one of no more than `SHORT` must sound the same to be told from others."""


@dataclass(frozen=True)
class SoundMatch:
    """`name` is the number of a name of the index; `similarity` is 1 for the same sound."""

    name: int
    similarity: float


class SoundIndex:
    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        spoken = [(each, n) for n, name in enumerate(self.names) for each in pronunciations(name)]
        self._spoken = [each for each, _number in spoken]
        self._owners = [number for _each, number in spoken]

    def find(self, text: str) -> list[SoundMatch]:
        """Return the names that sound like `text`, most alike first."""
        found = {}
        for number in set(self._candidates(text)):
            alike = sound_similarity(text, self.names[number])
            if alike >= LEAST_SIMILARITY:
                found[number] = alike
        return [SoundMatch(*each) for each in sorted(found.items(), key=lambda each: -each[1])]

    def _candidates(self, text: str) -> Iterator[int]:
        for spoken in pronunciations(text):
            if len(spoken) < SHORTEST:
                continue
            least = 100.0 if len(spoken) <= SHORT else LEAST_SHARED
            near = process.extract(
                spoken, self._spoken, scorer=fuzz.ratio, limit=CANDIDATES, score_cutoff=least
            )
            yield from (self._owners[place] for _spoken, _score, place in near)
