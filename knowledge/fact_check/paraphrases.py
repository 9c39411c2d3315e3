"""Which relation a statement gives to two names, by the meaning of its words: *anna calls the shots
in guild* is *leads*.

For words that no lexicon has. Both names are replaced by a word for their kind, so that the vector
of the rest can be compared with what people say of such a pair. The weights, a ridge regression on
the vectors of our own phrases in three languages, are of one embedder (`data/paraphrases.npz`);
`bench.relation_phrases` fits and measures them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge.graph.models import NodeKind
from retrieval.embedders import Vectors, unit_parts

FILE = Path(__file__).parent / "data" / "paraphrases.npz"
SHARES = (0.7, 1.0, 0.7)
"""How much the parts of a vector (bge, USE, e5) count."""
NONE = "none"
"""What is no relation of the lexicon."""
LETTERS: dict[str, str] = {
    NodeKind.CHARACTER: "P",
    NodeKind.FACTION: "F",
    NodeKind.LOCATION: "L",
    NodeKind.ITEM: "I",
    NodeKind.EVENT: "E",
    NodeKind.QUEST: "E",
}
PLACEHOLDERS = {
    "en": {
        "P": ("anna", "boris"),
        "F": ("guild", "order"),
        "L": ("town", "castle"),
        "I": ("relic", "stone"),
        "E": ("war", "feast"),
    },
    "ru": {
        "P": ("анна", "борис"),
        "F": ("гильдия", "орден"),
        "L": ("город", "замок"),
        "I": ("реликвия", "камень"),
        "E": ("война", "пир"),
    },
    "ko": {
        "P": ("안나", "보리스"),
        "F": ("길드", "기사단"),
        "L": ("도시", "성"),
        "I": ("유물", "돌"),
        "E": ("전쟁", "잔치"),
    },
}
SLOT = re.compile(r"(?<!\S)M(\d)(?:_(\S*))?")


@dataclass(frozen=True)
class PhraseClass:
    """A claim of the lexicon about two kinds of entities. `is_first`: its `a` is named first."""

    claim: str
    is_first: bool

    @classmethod
    def of(cls, name: str) -> "PhraseClass":
        claim, _, order = name.partition(":")
        return cls(claim, order != "second")


@dataclass(frozen=True)
class PhraseModel:
    """By the kinds of the first and second name (`PF`): the names of the classes, their weights
    (dims, classes) and their shares among the phrases (classes,)."""

    embedder: str
    classes: dict[str, tuple[str, ...]]
    weights: dict[str, NDArray[np.float32]]
    shares: dict[str, NDArray[np.float32]]

    def scores(self, kinds: str, vector: Vectors) -> list[tuple[PhraseClass, float]]:
        """Return the classes of such a pair with their scores, about 0 to 1, best first; none for
        kinds without phrases."""
        if kinds not in self.classes:
            return []
        values = weigh_parts(vector) @ self.weights[kinds] + self.shares[kinds]
        order = np.argsort(-values)
        return [(PhraseClass.of(self.classes[kinds][n]), float(values[n])) for n in order]


def weigh_parts(vector: Vectors) -> NDArray[np.float32]:
    """Return a vector of the local embedder (dims,) with each part scaled to its share."""
    parts = unit_parts(vector)
    return np.concatenate([part * share for part, share in zip(parts, SHARES, strict=True)])


def mask_names(text: str, kinds: Sequence[str], language: str) -> str:
    """Return a text with two slots with a word for each: `anna runs guild`. `kinds` are the letters
    of the entities by the number of their slot."""
    words: dict[int, str] = {}

    def word(match: re.Match[str]) -> str:
        number, ending = int(match[1]), match[2] or ""
        first, second = PLACEHOLDERS[language][kinds[number]]
        words.setdefault(number, second if first in words.values() else first)
        if language == "ru":
            return words[number]
        return words[number] + ("'s" if language == "en" and ending == "s" else ending)

    return SLOT.sub(word, text)


@cache
def phrase_model() -> PhraseModel:
    with np.load(FILE) as data:
        kinds = [str(each) for each in data["kinds"]]
        return PhraseModel(
            embedder=str(data["embedder"]),
            classes={each: tuple(map(str, data[f"{each}_classes"])) for each in kinds},
            weights={each: data[f"{each}_weights"].astype(np.float32) for each in kinds},
            shares={each: data[f"{each}_shares"].astype(np.float32) for each in kinds},
        )
