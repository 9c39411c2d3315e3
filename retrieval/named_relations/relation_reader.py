"""The model of names and their relations, in this process."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.embedders.adapted_e5 import Adapter, has_adapted_models, load_adapted_transformer
from retrieval.embedders.e5 import Floats, e5_files
from retrieval.embedders.load_once import LoadOnce
from retrieval.embedders.sentence_encoder import open_tokenizer
from retrieval.named_relations.inventory import CLASSES, NAME_KINDS, RelationClass
from retrieval.named_relations.marked_text import MarkedText
from retrieval.named_relations.windows import ReadText
from retrieval.text import encodable

ADAPTER_FILE = Path(__file__).parent / "adapter.npz"
MOST_TOKENS = 160
"""Of a window; the rest is not read. Training had texts of up to 128."""


@dataclass(frozen=True)
class FoundName:
    """Characters [start, end) are a name of the kind, with a probability from 0 to 1."""

    start: int
    end: int
    kind: str
    probability: float


class RelationReader:
    def __init__(self) -> None:
        adapter = Adapter(ADAPTER_FILE)
        self._transformer = load_adapted_transformer("named-relations", ADAPTER_FILE, adapter)
        self._tokenizer = open_tokenizer(e5_files()[1])
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._tag_head = adapter.array("taghead"), adapter.array("taghead_bias")
        self._relation_head = adapter.array("relationhead"), adapter.array("relationhead_bias")

    def names(self, text: str) -> Iterator[FoundName]:
        read = ReadText(text)
        for start, end in read.parts():
            for name in self._names_of_window(read.plain[start:end]):
                yield FoundName(start + name.start, start + name.end, name.kind, name.probability)

    def _names_of_window(self, text: str) -> Iterator[FoundName]:
        encoding: Any = self._tokenizer.encode(encodable(text))
        states = self._transformer(np.array(encoding.ids, dtype=np.int64))
        shares = softmax(states @ self._tag_head[0] + self._tag_head[1])
        tags = shares.argmax(axis=1)
        begun: list[int] = []
        for place in [*range(1, len(tags) - 1), None]:
            tag = int(tags[place]) if place is not None else 0
            goes_on = bool(begun) and tag > 0 and tag % 2 == 0
            if begun and not goes_on:
                yield _name_of(text, encoding.offsets, shares, begun)
                begun = []
            if place is not None and tag > 0:
                begun.append(place)

    def relations(self, window: MarkedText) -> list[tuple[RelationClass, float]]:
        encoding: Any = self._tokenizer.encode(encodable(window.text))
        states = self._transformer(np.array(encoding.ids, dtype=np.int64))
        parts = [
            [at for at, (s, e) in enumerate(encoding.offsets) if any(s <= p < e for p in places)]
            for places in (window.firsts, window.seconds)
        ]
        if not all(parts):
            return []
        joined = np.concatenate([*(states[own].mean(axis=0) for own in parts), states[0]])
        shares = softmax(joined @ self._relation_head[0] + self._relation_head[1])
        order = np.argsort(-shares)
        return [(CLASSES[number], float(shares[number])) for number in order]


def _name_of(
    text: str, offsets: list[tuple[int, int]], shares: Floats, places: list[int]
) -> FoundName:
    kind = int(shares[places, 1:].sum(axis=0).reshape(-1, 2).sum(axis=1).argmax())
    probability = float((1 - shares[places, 0]).min())
    start, end = offsets[places[0]][0], offsets[places[-1]][1]
    own = text[start:end]
    start += len(own) - len(own.lstrip())
    return FoundName(start, end, NAME_KINDS[kind], probability)


def softmax(logits: Floats) -> Floats:
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return shares


_reader = LoadOnce(RelationReader)


def prepare_relation_model() -> None:
    """Load the model, which converts it at the first time (7 seconds, 22 MB). Does nothing without
    the weights of the package."""
    if has_adapted_models():
        _reader.get()


def has_relation_model() -> bool:
    """Whether the package with the weights is installed."""
    return has_adapted_models()


def find_names(text: str) -> list[FoundName]:
    """Return the names of people, places, groups, things and events in a text, in its order. Raises
    FileNotFoundError, which says what to install, without the weights of the package."""
    return list(_reader.get().names(text))


def relations_between(window: MarkedText) -> list[tuple[RelationClass, float]]:
    """Return what a text says of two marked names, the likeliest class first; nothing if a name is
    beyond what is read. Errors as `find_names`."""
    return _reader.get().relations(window)
