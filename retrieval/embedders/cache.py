"""The table of document vectors, keyed by model and the text's SHA-256. It holds no text.

Rows that nobody used for `VECTOR_CACHE_DAYS` are pruned; `forget_texts` takes single texts out at once, for deletion
for good.
"""

from collections.abc import Iterable
from datetime import timedelta
from hashlib import sha256

import numpy as np
from django.conf import settings
from django.utils import timezone

from retrieval.embedders.base import Vectors
from retrieval.models import CachedVector

STORED = np.dtype("<f2")  # what the index keeps (halfvec); half the size of float32
LOOKUP = 1000
TOUCH_AFTER = timedelta(days=1)


def text_hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def recall(model: str, texts: Iterable[str]) -> dict[str, Vectors]:
    """Return the vectors of those `texts` that are known."""
    by_hash = {text_hash(text): text for text in texts}
    hashes = list(by_hash)
    found: dict[str, Vectors] = {}
    for start in range(0, len(hashes), LOOKUP):
        rows = CachedVector.objects.filter(model=model, text_hash__in=hashes[start : start + LOOKUP])
        found |= {by_hash[row.text_hash]: _unpacked(row.vector) for row in rows}
        rows.filter(used_at__lt=timezone.now() - TOUCH_AFTER).update(used_at=timezone.now())
    return found


def remember(model: str, vectors: dict[str, Vectors]) -> dict[str, Vectors]:
    """Store `vectors` by text and return them as they will be recalled (rounded to half precision)."""
    rows = [CachedVector(model=model, text_hash=text_hash(text), vector=_packed(row)) for text, row in vectors.items()]
    CachedVector.objects.bulk_create(rows, ignore_conflicts=True, batch_size=LOOKUP)
    return {text: _unpacked(row.vector) for text, row in zip(vectors, rows, strict=True)}


def forget_texts(texts: Iterable[str]) -> int:
    """Delete the vectors of `texts` under every model. Returns how many rows went."""
    return CachedVector.objects.filter(text_hash__in=[text_hash(text) for text in texts]).delete()[0]


def prune() -> int:
    """Delete what nobody used for `VECTOR_CACHE_DAYS`. Returns how many rows went."""
    horizon = timezone.now() - timedelta(days=settings.VECTOR_CACHE_DAYS)
    return CachedVector.objects.filter(used_at__lt=horizon).delete()[0]


def _packed(row: Vectors) -> bytes:
    return row.astype(STORED).tobytes()


def _unpacked(stored: bytes | memoryview) -> Vectors:
    return np.frombuffer(stored, dtype=STORED).astype(np.float32)
