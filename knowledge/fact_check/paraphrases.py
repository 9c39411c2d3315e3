"""Which relation a statement gives to two names, by the meaning of its words: *anna calls the shots
in guild* is *leads*.

For words that no lexicon has. Both names are replaced by a word for their kind, so that the rest
can be compared with what people say of such a pair: by the vector of the whole and by the pieces of
its words. The weights, a ridge regression on 5,000 phrases in three languages, are of one embedder
(`data/paraphrases.npz`); `bench.relation_phrases` fits and measures them.
"""

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge.graph.models import NodeKind
from retrieval.embedders import Vectors, unit_parts

FILE = Path(__file__).parent / "data" / "paraphrases.npz"
SHARES = (0.7, 1.0, 0.7)
"""How much the parts of a vector (bge, USE, e5) count."""
PIECES = 8192
"""Into how many columns the pieces of words are hashed."""
LENGTHS = (3, 4, 5)
"""Of the pieces of words, in letters."""
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
    """By the kinds of the first and second name (`PF`): the names of the classes. By the kinds in
    the order of letters: the weights of vectors (dims, classes) and of pieces (PIECES, classes),
    and the shares of the classes among the phrases (classes,). `rarity` of the pieces (PIECES,)."""

    embedder: str
    classes: dict[str, tuple[str, ...]]
    weights: dict[str, NDArray[np.float32]]
    pieces: dict[str, NDArray[np.float32]]
    shares: dict[str, NDArray[np.float32]]
    rarity: NDArray[np.float32]
    steepness: float

    def scores(self, kinds: str, phrase: str, vector: Vectors) -> list[tuple[PhraseClass, float]]:
        """Return the classes of such a pair with their probabilities, best first; none for kinds
        without phrases."""
        if kinds not in self.classes:
            return []
        group = "".join(sorted(kinds))
        values = weigh_parts(vector) @ self.weights[group] + self.shares[group]
        columns, counts = piece_counts(phrase)
        rare = counts * self.rarity[columns]
        values += rare @ self.pieces[group][columns] / max(float(np.linalg.norm(rare)), 1e-9)
        powers = np.exp(self.steepness * (values - values.max()))
        shares = powers / powers.sum()
        order = np.argsort(-shares)
        return [(PhraseClass.of(self.classes[kinds][n]), float(shares[n])) for n in order]


def piece_counts(phrase: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the columns of the words, pairs of words and pieces of words of a phrase, and the
    root of how often each is there."""
    found = Counter(zlib.crc32(piece.encode()) % PIECES for piece in _pieces(phrase))
    columns = np.fromiter(found.keys(), dtype=np.int64, count=len(found))
    counts = np.fromiter(found.values(), dtype=np.float32, count=len(found))
    return columns, np.sqrt(counts)


def _pieces(phrase: str) -> Iterator[str]:
    words = phrase.split()
    for word in words:
        yield f"w:{word}"
        marked = f"^{word}$"
        for length in LENGTHS:
            yield from (marked[n : n + length] for n in range(len(marked) - length + 1))
    yield from (f"b:{one} {other}" for one, other in pairwise(words))


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
        groups = sorted({"".join(sorted(each)) for each in kinds})
        return PhraseModel(
            embedder=str(data["embedder"]),
            classes={each: tuple(map(str, data[f"{each}_classes"])) for each in kinds},
            weights={each: data[f"{each}_weights"].astype(np.float32) for each in groups},
            pieces={
                each: data[f"{each}_pieces"].astype(np.float32) * data[f"{each}_scale"]
                for each in groups
            },
            shares={each: data[f"{each}_shares"].astype(np.float32) for each in groups},
            rarity=data["rarity"].astype(np.float32),
            steepness=float(data["steepness"]),
        )
