"""The model of pairs, in this process."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings

from retrieval.embedders.e5 import e5_files, load_transformer
from retrieval.embedders.load_once import LoadOnce
from retrieval.embedders.sentence_encoder import open_tokenizer
from retrieval.statement_pairs.adapter import ADAPTER_FILE, AdaptedWeightFile, Adapter
from retrieval.text import encodable

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
        weight_path, tokenizer_path = e5_files()
        adapter = Adapter()
        weights = AdaptedWeightFile(weight_path, adapter)
        self._transformer = load_transformer(weights, encoder_path())
        self._tokenizer = open_tokenizer(tokenizer_path)
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._head, self._bias = adapter.head, adapter.head_bias

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
    try:
        e5_files()
    except FileNotFoundError:
        return False
    return True


def encoder_path() -> Path:
    """Return where the converted model lies. Its name changes with the adapter, so that an upgrade
    never runs an old one."""
    digest = hashlib.sha256(ADAPTER_FILE.read_bytes()).hexdigest()[:12]
    return Path(settings.MODEL_CACHE, f"statement-pairs-{digest}-int8.onnx")
