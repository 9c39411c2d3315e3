"""What all embedders share: their protocol, the checks of their rows, and counters and a span for
every call of a model (requirement 1.10)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from opentelemetry import metrics, trace

from retrieval.errors import EmbedderDown

Vectors = NDArray[np.float32]

# These do nothing until an SDK is configured.
_tracer = trace.get_tracer("memory37.embed")
_meter = metrics.get_meter("memory37.embed")
_calls = _meter.create_counter("memory37.embed.calls", description="Calls of the embedding model")
_tokens = _meter.create_counter("memory37.embed.tokens", description="Tokens embedded")


class Embedder(Protocol):
    """Both methods return shape `(len(texts), dims)`, float32, rows of length 1. They block: never
    call them with a lock held.

    They raise `EmbedderDown` when the model cannot be reached or its answer is invalid.

    An embedder may have `texts_per_call`: how many texts the worker gives it at once, and
    `compare_across_scripts(query_vector)`, which returns a `ScriptComparison`.
    """

    @property
    def name(self) -> str:
        """Stored with every vector; vectors of different names are never compared."""

    @property
    def dims(self) -> int: ...

    def embed_query(self, texts: list[str]) -> Vectors: ...

    def embed_document(self, texts: list[str]) -> Vectors: ...

    def probe(self) -> None:
        """Raise `EmbedderDown` when it cannot work now. Embeds nothing: used by the health page."""


@dataclass(frozen=True)
class ScriptComparison:
    """How a question is compared with passages in another script, for an embedder whose vectors of
    one script have parts that those of the others lack: `scale` times the cosine with `vector`
    (dims,) is the cosine over the parts that both have."""

    vector: Vectors
    scale: float
    is_question_latin: bool


@dataclass
class Usage:
    tokens: int = 0


@contextmanager
def record_embedding(name: str, *, op: str, texts: int) -> Iterator[Usage]:
    """Time one call; the caller sets the tokens. Attributes are counts and names, never text."""
    attributes = {"model": name, "op": op}
    usage = Usage()
    with _tracer.start_as_current_span("memory37.embed", attributes=attributes) as span:
        span.set_attribute("texts", texts)
        try:
            yield usage
        finally:
            span.set_attribute("tokens", usage.tokens)
            _calls.add(1, attributes)
            _tokens.add(usage.tokens, attributes)


def unit_rows(rows: NDArray[np.floating]) -> Vectors:
    """Scale each row to length 1; a zero row stays zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def check_rows(rows: object, *, count: int, dims: int, name: str) -> Vectors:
    """Return the rows that a provider sent as unit rows; raise `EmbedderDown` for invalid ones, so
    that they never reach the index."""
    try:
        vectors = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        detail = f"{name} answered with something that is not rows of numbers."
        raise EmbedderDown(detail) from error
    if vectors.shape != (count, dims):
        raise EmbedderDown(f"{name} answered with shape {vectors.shape}, expected {(count, dims)}.")
    if not np.isfinite(vectors).all():
        raise EmbedderDown(f"{name} answered with NaN or infinite numbers.")
    if count and (np.linalg.norm(vectors, axis=1) < 1e-6).any():
        raise EmbedderDown(f"{name} answered with a zero vector.")
    return unit_rows(vectors)
