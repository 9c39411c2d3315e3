"""What an embedder is: text in, float32 rows out."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Both methods return shape `(len(texts), dims)`, float32, rows of length 1. Blocking; never
    call with a lock held.

    Raise `EmbedderDown` when the model cannot be reached or its answer cannot be trusted.
    """

    @property
    def name(self) -> str:
        """Stored with every vector; vectors of different names are never compared."""

    @property
    def dims(self) -> int: ...

    def embed_query(self, texts: list[str]) -> Vectors: ...

    def embed_document(self, texts: list[str]) -> Vectors: ...

    def probe(self) -> None:
        """Raise `EmbedderDown` when it cannot work now. Cheap, embeds nothing: for the health
        page."""
