"""The model of pairs, in this process."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.embedders.adapted_e5 import Adapter, has_adapted_models, load_adapted_transformer
from retrieval.embedders.e5 import e5_files
from retrieval.embedders.load_once import LoadOnce
from retrieval.embedders.sentence_encoder import open_tokenizer
from retrieval.text import encodable

ADAPTER_FILE = Path(__file__).parent / "adapter.npz"
MOST_TOKENS = 160
"""Of both texts; the rest of a longer pair is not read. Its training had pairs of up to 128."""


@dataclass(frozen=True)
class PairScores:
    """What the model makes of two texts, `one` and `other`, each from 0 to 1.

    `follows`: whoever holds `one` to be true has to hold `other` to be true; `excluded`: has to
    hold it to be false. `same`: both say the same. `answers`: `other` answers the question `one`.
    `outdated`: the later text `other` ends what `one` says."""

    follows: float
    excluded: float
    same: float
    answers: float
    outdated: float


class PairReader:
    def __init__(self) -> None:
        adapter = Adapter(ADAPTER_FILE)
        self._transformer = load_adapted_transformer("statement-pairs", ADAPTER_FILE, adapter)
        self._tokenizer = open_tokenizer(e5_files()[1])
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._head, self._bias = adapter.array("head"), adapter.array("head_bias")

    def read(self, one: str, other: str) -> PairScores:
        ids: Any = self._tokenizer.encode(encodable(one), encodable(other)).ids
        states = self._transformer(np.array(ids, dtype=np.int64))
        pooled = np.concatenate([states[0], states.mean(axis=0)])
        logits = (pooled @ self._head + self._bias).astype(np.float64)
        relation = np.exp(logits[:3] - logits[:3].max())
        follows, _neither, excluded = map(float, relation / relation.sum())
        same, answers, outdated = map(float, 1 / (1 + np.exp(-logits[3:])))
        return PairScores(follows, excluded, same, answers, outdated)


_reader = LoadOnce(PairReader)


def prepare_pair_model() -> None:
    """Load the model, which converts it at the first time (7 seconds, 22 MB), so that no question
    has to wait for that. Does nothing without the weights of the package."""
    if has_pair_model():
        _reader.get()


def read_pair(one: str, other: str) -> PairScores:
    """Read two texts together, in some 6 ms. Raises FileNotFoundError, which says what to install,
    where the weights of the package are missing (`has_pair_model`)."""
    return _reader.get().read(one, other)


def has_pair_model() -> bool:
    """Whether the package with the weights is installed."""
    return has_adapted_models()
