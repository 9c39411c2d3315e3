"""The active memories nearest to some vectors, all in one statement."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection
from psycopg import sql

from memories.models import Namespace
from memories.vectors import Vectors
from retrieval.embedders import get_embedder
from retrieval.search import execute_together, halfvec_text

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
ORDER BY wanted.position, near.distance
"""

LIMITS = """
SELECT set_config('hnsw.ef_search', '40', true),
       set_config('hnsw.iterative_scan', 'strict_order', true)
"""
"""Five are looked at: 40 candidates find what says the same as often as 100 do, in half the
time. Where rows out of use or of another namespace stand in front, the index is asked for more."""


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
    """Up to `k` per vector, nearest first; those further than `within` left out."""
    if vectors is None:
        return []
    memories = [
        NearMemory(int(row[0]), row[1], row[2], float(row[3]))
        for row in _rows(namespace, vectors, k)
    ]
    return memories if within is None else [near for near in memories if near.distance <= within]


def _rows(namespace: Namespace, vectors: Vectors, k: int) -> list[Any]:
    values: dict[str, Any] = {"namespace": namespace.pk, "k": k}
    if namespace.has_own_vectors:
        with connection.cursor() as cursor:
            cursor.execute(
                BY_CLIENT_VECTOR,
                values | {"vectors": [vector_literal(vector) for vector in vectors]},
            )
            return list(cursor.fetchall())
    values["vectors"] = [halfvec_text(vector) for vector in vectors]
    return list(execute_together(DEFAULT_DB_ALIAS, (LIMITS, {}), (_by_site_vector(), values)))


def texts_by_id(memories: list[NearMemory]) -> dict[UUID, str]:
    """The texts by id, each once, in the order they were found."""
    texts: dict[UUID, str] = {}
    for near in memories:
        texts.setdefault(near.id, near.text)
    return texts


def vector_literal(vector: Vectors) -> str:
    return "[" + ",".join(map(repr, vector.tolist())) + "]"


def _by_site_vector() -> sql.Composed:
    """The site's model and width are written into the statement, so that its partial vector
    index can be used."""
    embedder = get_embedder("memory")
    return sql.SQL(BY_SITE_VECTOR).format(
        dims=sql.Literal(embedder.dims), model=sql.Literal(embedder.name)
    )
