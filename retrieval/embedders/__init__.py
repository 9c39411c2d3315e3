"""Embedders behind one protocol: text in, float32 rows out."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Both methods return shape `(len(texts), dims)`, float32, unit rows. Blocking: never call with a lock held."""

    name: str
    """Stored with every vector; vectors of different names are never compared."""
    dims: int

    def embed_query(self, texts: list[str]) -> Vectors: ...

    def embed_document(self, texts: list[str]) -> Vectors: ...
