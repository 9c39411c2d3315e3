"""Where a namespace's vectors come from: the site's embedder, or a client of the caller's own
with its own width."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.embedders import get_embedder
from retrieval.errors import EmbedderDown

logger = logging.getLogger(__name__)

Vectors = NDArray[np.float32]


class VectorClient(Protocol):
    """HAEMA's `EmbeddingClient`, by shape."""

    def embed_query(self, texts: Sequence[str], output_dimensionality: int) -> Any: ...

    def embed_document(self, texts: Sequence[str], output_dimensionality: int) -> Any: ...


class VectorSource(Protocol):
    """Vectors of a batch, or None when the site's embedder is down: words must do until it is
    back."""

    def of_queries(self, texts: list[str]) -> Vectors | None: ...

    def of_documents(self, texts: list[str]) -> Vectors | None: ...

    def of_both(self, texts: list[str]) -> "tuple[Vectors | None, Vectors | None]": ...


@dataclass(frozen=True)
class ClientSource:
    """One call of the client for one batch, its answer checked before anything is done with it."""

    client: VectorClient
    dims: int

    def of_queries(self, texts: list[str]) -> Vectors:
        return require_shape(
            self.client.embed_query(texts, self.dims), count=len(texts), dims=self.dims
        )

    def of_documents(self, texts: list[str]) -> Vectors:
        return require_shape(
            self.client.embed_document(texts, self.dims), count=len(texts), dims=self.dims
        )

    def of_both(self, texts: list[str]) -> tuple[Vectors, Vectors]:
        return self.of_queries(texts), self.of_documents(texts)


class SiteSource:
    """The embedder of the settings.

    What is near a new memory is asked with the vector it will be stored with: so that nothing is
    embedded twice, and the same text lies at distance nought.
    """

    def of_queries(self, texts: list[str]) -> Vectors | None:
        return self.of_documents(texts)

    def of_documents(self, texts: list[str]) -> Vectors | None:
        return embed_unless_down(get_embedder("memory").embed_document, texts)

    def of_both(self, texts: list[str]) -> tuple[Vectors | None, Vectors | None]:
        made = self.of_documents(texts)
        return made, made


def embed_unless_down(embed: Callable[[list[str]], Vectors], texts: list[str]) -> Vectors | None:
    try:
        return embed(texts)
    except EmbedderDown as problem:
        logger.warning("remembering without vectors: %s", problem)
        return None


def require_shape(batch: Any, *, count: int, dims: int) -> Vectors:
    """Return the batch as float32 `(count, dims)`, or raise ValueError saying what is wrong with
    it."""
    vectors = np.asarray(batch, dtype=np.float32)
    if vectors.ndim != 2:
        raise ValueError(
            f"Embedding batch must be 2D with shape ({count}, {dims}), got ndim={vectors.ndim}"
        )
    if vectors.shape[0] != count:
        raise ValueError(
            f"Embedding batch size mismatch: expected {count} rows, got {vectors.shape[0]}"
        )
    if vectors.shape[1] != dims:
        raise ValueError(
            f"Embedding dimensionality mismatch: expected {dims}, got {vectors.shape[1]}"
        )
    if not np.isfinite(vectors).all():
        raise ValueError("Embedding batch holds NaN or infinity")
    return vectors
