"""The sources of a namespace's vectors (the site's embedder, or the caller's own client with its
own width), and the search for the memories nearest to a vector."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol
from uuid import UUID

import numpy as np
from django.db import DEFAULT_DB_ALIAS
from numpy.typing import NDArray
from psycopg import sql

from memories.found_memory import FoundMemory
from memories.models import ClientVector, MemoryItem, Namespace
from retrieval.embedders import get_embedder
from retrieval.errors import EmbedderDown
from retrieval.search import execute_together

logger = logging.getLogger(__name__)

Vectors = NDArray[np.float32]

# The casts to one width let PostgreSQL use the index of that width. The texts are parsed once, and
# not for every stored row.
BY_CLIENT_VECTOR = """
SELECT wanted.position - 1, near.id, near.text, near.speaker, near.subject, near.metadata,
       near.distance
FROM unnest(%(vectors)s::text[]::vector[]) WITH ORDINALITY AS wanted(vector, position)
CROSS JOIN LATERAL (
    SELECT memory.id, memory.text, memory.speaker, memory.subject, memory.metadata,
           memory.timestamp_ms,
           COALESCE(NULLIF(stored.vector <=> wanted.vector, 'NaN'), 1) AS distance
    FROM memories_clientvector stored
    JOIN memories_memoryitem memory ON memory.id = stored.memory_id
    WHERE stored.namespace_id = {namespace} AND memory.state = 'active'
      AND vector_dims(stored.vector) = {dims}
    ORDER BY stored.vector::{type}({dims}) <=> wanted.vector::{type}({dims}), memory.timestamp_ms
    LIMIT %(k)s
) near
ORDER BY wanted.position, near.distance, near.timestamp_ms
"""

# The vector index holds all namespaces: EXISTS keeps an empty one from scanning it per content.
BY_SITE_VECTOR = """
SELECT wanted.position - 1, near.id, near.text, near.speaker, near.subject, near.metadata,
       near.distance
FROM unnest(%(vectors)s::text[]) WITH ORDINALITY AS wanted(vector, position)
CROSS JOIN LATERAL (
    SELECT memory.id, memory.text, memory.speaker, memory.subject, memory.metadata,
           memory.embedding::halfvec({dims}) <=> wanted.vector::halfvec({dims}) AS distance
    FROM memories_memoryitem memory
    WHERE memory.namespace_id = %(namespace)s AND memory.state = 'active'
      AND memory.embedding_model = {model}
    ORDER BY memory.embedding::halfvec({dims}) <=> wanted.vector::halfvec({dims})
    LIMIT %(k)s
) near
WHERE EXISTS (
    SELECT FROM memories_memoryitem WHERE namespace_id = %(namespace)s AND state = 'active'
)
ORDER BY wanted.position, near.distance
"""

LIMITS = """
SELECT set_config('hnsw.ef_search', '40', true),
       set_config('hnsw.iterative_scan', 'strict_order', true)
"""
"""At most five neighbours are used: 40 candidates find them as often as 100 do, in half the time.
The iterative scan goes on where inactive rows or those of other namespaces come first."""


WIDEST_HALFVEC = 4_000
"""The dimensions that pgvector indexes, in half precision: half of the pages to read and write."""


class VectorClient(Protocol):
    """The interface of HAEMA's `EmbeddingClient`: arrays of shape (texts, dims)."""

    def embed_query(self, texts: Sequence[str], output_dimensionality: int) -> Any: ...

    def embed_document(self, texts: Sequence[str], output_dimensionality: int) -> Any: ...


class VectorSource(Protocol):
    """Vectors of a batch of texts, or None while the site's embedder is down."""

    def of_queries(self, texts: list[str]) -> Vectors | None: ...

    def of_documents(self, texts: list[str]) -> Vectors | None: ...

    def of_both(self, texts: list[str]) -> "tuple[Vectors | None, Vectors | None]": ...


@dataclass(frozen=True)
class ClientSource:
    """The caller's own client: one call per batch, and the shape of each answer is checked."""

    client: VectorClient
    dims: int

    def of_queries(self, texts: list[str]) -> Vectors:
        batch = self.client.embed_query(texts, self.dims)
        return require_shape(batch, count=len(texts), dims=self.dims)

    def of_documents(self, texts: list[str]) -> Vectors:
        batch = self.client.embed_document(texts, self.dims)
        return require_shape(batch, count=len(texts), dims=self.dims)

    def of_both(self, texts: list[str]) -> tuple[Vectors, Vectors]:
        return self.of_queries(texts), self.of_documents(texts)


class SiteSource:
    """The site's embedder.

    The search for similar memories uses the document vector too: so each text is embedded once, and
    two equal texts have distance 0.
    """

    def of_queries(self, texts: list[str]) -> Vectors | None:
        return self.of_documents(texts)

    def of_documents(self, texts: list[str]) -> Vectors | None:
        try:
            return get_embedder("memory").embed_document(texts)
        except EmbedderDown as problem:
            logger.warning("storing memories without vectors: %s", problem)
            return None

    def of_both(self, texts: list[str]) -> tuple[Vectors | None, Vectors | None]:
        vectors = self.of_documents(texts)
        return vectors, vectors


def site_embedder_of(namespace: Namespace) -> str:
    """Return the name of the site's embedder, or nothing where a client's vectors are used."""
    return "" if namespace.has_own_vectors else get_embedder("memory").name


def require_shape(batch: Any, *, count: int, dims: int) -> Vectors:
    """Return the batch as float32 (count, dims); raise ValueError for another shape."""
    vectors = np.asarray(batch, dtype=np.float32)
    if vectors.ndim != 2:
        raise ValueError(
            f"Embedding batch must be 2D with shape ({count}, {dims}), got ndim={vectors.ndim}"
        )
    rows, width = vectors.shape
    if rows != count:
        raise ValueError(f"Embedding batch size mismatch: expected {count} rows, got {rows}")
    if width != dims:
        raise ValueError(f"Embedding dimensionality mismatch: expected {dims}, got {width}")
    if not np.isfinite(vectors).all():
        raise ValueError("Embedding batch holds NaN or infinity")
    return vectors


def nearest_memories(
    namespace: Namespace, vectors: Vectors | None, *, k: int, within: float | None = None
) -> list[list[FoundMemory]]:
    """Return up to `k` active memories for each vector, nearest first, by one statement.

    Those at a distance (1 − cosine) above `within` are left out. Without vectors the list is empty.
    """
    if vectors is None:
        return []
    values: dict[str, Any] = {"namespace": namespace.pk, "k": k}
    if namespace.has_own_vectors:
        values["vectors"] = [f"[{','.join(map(repr, row.tolist()))}]" for row in vectors]
        statement = client_statement(namespace, dims=vectors.shape[1])
        rows = execute_together(DEFAULT_DB_ALIAS, (LIMITS, {}), (statement, values)).fetchall()
    else:
        values["vectors"] = [halfvec_text(row) for row in vectors]
        embedder = get_embedder("memory")
        # Model and width are literals, because only then PostgreSQL uses the partial vector index.
        statement = sql.SQL(BY_SITE_VECTOR).format(
            dims=sql.Literal(embedder.dims), model=sql.Literal(embedder.name)
        )
        rows = execute_together(DEFAULT_DB_ALIAS, (LIMITS, {}), (statement, values)).fetchall()
    nearest: list[list[FoundMemory]] = [[] for _ in vectors]
    for position, pk, text, speaker, subject, metadata, distance in rows:
        if within is None or distance <= within:
            near = FoundMemory(
                pk,
                text,
                score=1 - float(distance),
                speaker=speaker,
                subject=subject,
                # Django leaves JSON of plain statements as text.
                metadata=json.loads(metadata),
            )
            nearest[int(position)].append(near)
    return nearest


def vectors_by_id(namespace: Namespace, ids: Sequence[UUID]) -> dict[UUID, Vectors]:
    """The vectors of the memories that have one, in the order of `ids`."""
    if namespace.has_own_vectors:
        # Those of the site's embedder cannot be compared with a client's.
        own = ClientVector.objects.filter(namespace=namespace, memory__in=ids)
        rows = own.values_list("memory_id", "vector")
    else:
        # Nor can those of a former model with those of the present one.
        model = get_embedder("memory").name
        embedded = MemoryItem.objects.filter(pk__in=ids, embedding_model=model)
        rows = embedded.exclude(embedding=None).values_list("pk", "embedding")
    by_id = dict(rows)
    return {pk: np.asarray(by_id[pk], dtype=np.float32) for pk in ids if pk in by_id}


def client_statement(namespace: Namespace, *, dims: int) -> sql.Composed:
    """Return `BY_CLIENT_VECTOR` with literals: the planner knows how many rows a namespace has."""
    return sql.SQL(BY_CLIENT_VECTOR).format(
        namespace=sql.Literal(namespace.pk),
        dims=sql.Literal(dims),
        type=sql.SQL(indexed_type(dims)),
    )


def indexed_type(dims: int) -> str:
    """Return the type in which client vectors of that width are ordered: that of their index."""
    return "halfvec" if dims <= WIDEST_HALFVEC else "vector"


def halfvec_text(vector: Vectors) -> str:
    """Return the vector in PostgreSQL's notation of halfvec; five digits are exact for it."""
    halves = vector.astype(np.float16).view(np.uint16).tolist()
    return f"[{','.join(map(half_precision_texts().__getitem__, halves))}]"


@cache
def half_precision_texts() -> list[str]:
    """Return the text of every half-precision number, by its bits: a lookup is three times as fast
    as formatting."""
    numbers = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    return [f"{number:.5g}" for number in numbers.tolist()]
