"""The table of document vectors, keyed by model and the text's SHA-256. It holds no text.

Rows that nobody used for `VECTOR_CACHE_DAYS` are pruned; `delete_vectors` takes single texts out at
once, for deletion for good.
"""

from collections.abc import Iterable
from datetime import timedelta
from hashlib import sha256
from typing import Any

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from retrieval.embedders.base import Vectors
from retrieval.models import CachedVector

STORED_TYPE = np.dtype("<f2")  # what the index keeps (halfvec); half the size of float32
LOOKUP = 1000
TOUCH_AFTER = timedelta(days=1)

STORE_VECTORS = """
INSERT INTO retrieval_cachedvector (model, text_hash, vector, used_at)
SELECT %(model)s, fresh.text_hash, fresh.vector, %(now)s
FROM unnest(%(hashes)s::text[], %(vectors)s::bytea[]) AS fresh(text_hash, vector)
ORDER BY fresh.text_hash
ON CONFLICT DO NOTHING
"""


def text_hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def load_vectors(model: str, texts: Iterable[str]) -> dict[str, Vectors]:
    """Return the vectors of those `texts` that are known."""
    by_hash = {text_hash(text): text for text in texts}
    hashes = list(by_hash)
    vectors: dict[str, Vectors] = {}
    for start in range(0, len(hashes), LOOKUP):
        rows = CachedVector.objects.filter(
            model=model, text_hash__in=hashes[start : start + LOOKUP]
        )
        row_values, horizon = (
            rows.values_list("text_hash", "vector", "used_at"),
            timezone.now() - TOUCH_AFTER,
        )
        vectors |= {by_hash[text]: unpack_vector(vector) for text, vector, _used in row_values}
        if any(used < horizon for _text, _vector, used in row_values):
            rows.filter(used_at__lt=horizon).update(used_at=timezone.now())
    return vectors


def store_vectors(model: str, vectors: dict[str, Vectors]) -> dict[str, Vectors]:
    """Store `vectors` by text and return them as they will be recalled (rounded to half precision).

    The disk is not waited for: a vector lost with the power is embedded again.
    """
    halves = [pack_vector(row) for row in vectors.values()]
    hashes = [text_hash(text) for text in vectors]
    values: dict[str, Any] = {
        "model": model,
        "hashes": hashes,
        "vectors": halves,
        "now": timezone.now(),
    }
    is_outermost = (
        not connection.in_atomic_block
    )  # a caller's own transaction is to be as durable as it asked
    with transaction.atomic(), connection.cursor() as cursor:
        if is_outermost:
            cursor.execute("SET LOCAL synchronous_commit = off")
        cursor.execute(STORE_VECTORS, values)
    return {text: unpack_vector(row) for text, row in zip(vectors, halves, strict=True)}


def delete_vectors(texts: Iterable[str]) -> int:
    """Delete the vectors of `texts` under every model. Returns how many rows went."""
    return CachedVector.objects.filter(text_hash__in=[text_hash(text) for text in texts]).delete()[
        0
    ]


def prune_vectors() -> int:
    """Delete what nobody used for `VECTOR_CACHE_DAYS`. Returns how many rows went."""
    horizon = timezone.now() - timedelta(days=settings.VECTOR_CACHE_DAYS)
    return CachedVector.objects.filter(used_at__lt=horizon).delete()[0]


def pack_vector(row: Vectors) -> bytes:
    return row.astype(STORED_TYPE).tobytes()


def unpack_vector(data: bytes | memoryview) -> Vectors:
    return np.frombuffer(data, dtype=STORED_TYPE).astype(np.float32)
