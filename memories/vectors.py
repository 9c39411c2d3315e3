"""Where a namespace's vectors come from (the site's embedder, or a client of the caller's own with
its own width), and the memories nearest to them."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol
from uuid import UUID

import numpy as np
from django.db import DEFAULT_DB_ALIAS, connection
from numpy.typing import NDArray
from psycopg import sql

from memories.models import Namespace
from retrieval.embedders import get_embedder
from retrieval.errors import EmbedderDown
from retrieval.search import execute_together

logger = logging.getLogger(__name__)

Vectors = NDArray[np.float32]

BY_CLIENT_VECTOR = """
SELECT wanted.position - 1, near.id, near.text, near.distance
FROM unnest(%(vectors)s::text[]) WITH ORDINALITY AS wanted(vector, position)
CROSS JOIN LATERAL (
    SELECT memory.id, memory.text, memory.timestamp_ms,
           COALESCE(NULLIF(stored.vector <=> wanted.vector::vector, 'NaN'), 1) AS distance
    FROM memories_clientvector stored
    JOIN memories_memoryitem memory ON memory.id = stored.memory_id
    WHERE stored.namespace_id = %(namespace)s AND memory.state = 'active'
    ORDER BY distance, memory.timestamp_ms
    LIMIT %(k)s
) near
ORDER BY wanted.position, near.distance, near.timestamp_ms
"""

# The vector index holds all namespaces: an empty one must not scan it in vain, once per content.
BY_SITE_VECTOR = """
SELECT wanted.position - 1, near.id, near.text, near.distance
FROM unnest(%(vectors)s::text[]) WITH ORDINALITY AS wanted(vector, position)
CROSS JOIN LATERAL (
    SELECT memory.id, memory.text,
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
"""Five are looked at: 40 candidates find what says the same as often as 100 do, in half the
time. Where rows out of use or of another namespace stand in front, the index is asked for more."""


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


@dataclass(frozen=True)
class NearMemory:
    """Memory `id` lies `distance` (1 − cosine) from the vector at `position` of the question."""

    position: int
    id: UUID
    text: str
    distance: float


def nearest_memories(
    namespace: Namespace, vectors: Vectors | None, *, k: int, within: float | None = None
) -> list[NearMemory]:
    """Up to `k` active memories per vector, nearest first, by one statement; those further than
    `within` left out."""
    if vectors is None:
        return []
    values: dict[str, Any] = {"namespace": namespace.pk, "k": k}
    if namespace.has_own_vectors:
        values["vectors"] = [f"[{','.join(map(repr, row.tolist()))}]" for row in vectors]
        with connection.cursor() as cursor:
            cursor.execute(BY_CLIENT_VECTOR, values)
            rows = cursor.fetchall()
    else:
        values["vectors"] = [halfvec_text(row) for row in vectors]
        embedder = get_embedder("memory")
        # Model and width are written into the statement, so that the site's partial vector index
        # can be used.
        statement = sql.SQL(BY_SITE_VECTOR).format(
            dims=sql.Literal(embedder.dims), model=sql.Literal(embedder.name)
        )
        rows = execute_together(DEFAULT_DB_ALIAS, (LIMITS, {}), (statement, values)).fetchall()
    memories = [NearMemory(int(row[0]), row[1], row[2], float(row[3])) for row in rows]
    return memories if within is None else [near for near in memories if near.distance <= within]


def texts_by_id(memories: list[NearMemory]) -> dict[UUID, str]:
    """The texts by id, each once, in the order they were found."""
    texts: dict[UUID, str] = {}
    for near in memories:
        texts.setdefault(near.id, near.text)
    return texts


def halfvec_text(vector: Vectors) -> str:
    """Write a vector as PostgreSQL reads halfvec: five digits are exactly what half precision
    holds."""
    halves = vector.astype(np.float16).view(np.uint16).tolist()
    return f"[{','.join(map(half_precision_texts().__getitem__, halves))}]"


@cache
def half_precision_texts() -> list[str]:
    """Every half-precision number there is, written out: three times as fast as writing a vector's
    thousand anew."""
    return [
        f"{number:.5g}" for number in np.arange(1 << 16, dtype=np.uint16).view(np.float16).tolist()
    ]
