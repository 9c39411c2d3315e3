"""An embedder with caches: a table for documents, a small cache in this process for queries.

The table is keyed by model and the text's SHA-256. It holds no text. Rows unused for
`VECTOR_CACHE_DAYS` are pruned, those of a deleted passage are deleted with it by a trigger, and
`delete_vectors` removes those of other erased texts.
"""

import os
import threading
from collections.abc import Callable, Iterable, MutableMapping
from datetime import timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Any, cast

import numpy as np
from cachetools import LRUCache, TTLCache
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from retrieval.embedders import serving_models
from retrieval.embedders.base import Embedder, ScriptComparison, Vectors
from retrieval.models import CachedVector
from retrieval.presets import PRESETS, get_preset

BUILT_IN = {
    "local": "retrieval.embedders.local.LocalEmbedder",
    "minilm": "retrieval.embedders.minilm.MiniLMEmbedder",
    "onnx": "retrieval.embedders.onnx_folder.OnnxFolderEmbedder",
    "openai": "retrieval.embedders.hosted.HostedEmbedder",
    "hashing": "retrieval.embedders.hashing.HashingEmbedder",
}
SHIPPED = {
    "bge-small-en+use-multilingual-v3-sentences+e5-small@1280": BUILT_IN["local"],
    "bge-small-en+use-multilingual-v3+e5-small@1280": (
        "retrieval.embedders.local.WholeTextEmbedder"
    ),
    "minilm-l6-v2+use-multilingual-v3@896": BUILT_IN["minilm"],
}
"""The embedders that need no settings, by the names that are stored with their vectors."""
DEFAULT_DIMS = 1024

STORED_TYPE = np.dtype("<f2")  # the precision of the index (halfvec); half the size of float32
LOOKUP = 1000
TOUCH_AFTER = timedelta(days=1)

STORE_VECTORS = """
INSERT INTO retrieval_cachedvector (model, text_hash, vector, used_at)
SELECT %(model)s, fresh.text_hash, fresh.vector, %(now)s
FROM unnest(%(hashes)s::text[], %(vectors)s::bytea[]) AS fresh(text_hash, vector)
ORDER BY fresh.text_hash
ON CONFLICT DO NOTHING
"""

CHUNK = 256
"""Texts embedded between two writes to the table: what a crash can cost."""

# Keyed by model and hash of the text: an erased text must not stay in a cache.
VectorsByKey = MutableMapping[tuple[str, str], Vectors]
_queries: VectorsByKey = TTLCache(settings.QUERY_CACHE_SIZE, settings.QUERY_CACHE_SECONDS)
_words: VectorsByKey = LRUCache(4000)
_lock = threading.Lock()


def text_hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def load_vectors(model: str, texts: Iterable[str]) -> dict[str, Vectors]:
    """Return the vectors of those `texts` that are stored."""
    by_hash = {text_hash(text): text for text in texts}
    hashes = list(by_hash)
    vectors: dict[str, Vectors] = {}
    for start in range(0, len(hashes), LOOKUP):
        some = hashes[start : start + LOOKUP]
        rows = CachedVector.objects.filter(model=model, text_hash__in=some)
        row_values = rows.values_list("text_hash", "vector", "used_at")
        vectors |= {by_hash[text]: unpack_vector(vector) for text, vector, _at in row_values}
        # The time of use is written once a day, not with every read.
        horizon = timezone.now() - TOUCH_AFTER
        if any(used_at < horizon for _text, _vector, used_at in row_values):
            rows.filter(used_at__lt=horizon).update(used_at=timezone.now())
    return vectors


def store_vectors(model: str, vectors: dict[str, Vectors]) -> dict[str, Vectors]:
    """Store `vectors` by text and return them as they will be loaded: in half precision."""
    halves = [row.astype(STORED_TYPE).tobytes() for row in vectors.values()]
    hashes = [text_hash(text) for text in vectors]
    values: dict[str, Any] = {"model": model, "hashes": hashes, "vectors": halves}
    values["now"] = timezone.now()
    # Do not wait for the disk: a vector lost in a power cut is embedded again. A caller's own
    # transaction keeps the durability that the caller expects.
    is_outermost = not connection.in_atomic_block
    with transaction.atomic(), connection.cursor() as cursor:
        if is_outermost:
            cursor.execute("SET LOCAL synchronous_commit = off")
        cursor.execute(STORE_VECTORS, values)
    return {text: unpack_vector(row) for text, row in zip(vectors, halves, strict=True)}


def delete_vectors(texts: Iterable[str]) -> int:
    """Delete the vectors of `texts` of every model; return the number of deleted rows."""
    hashes = [text_hash(text) for text in texts]
    return CachedVector.objects.filter(text_hash__in=hashes).delete()[0]


def prune_vectors() -> int:
    """Delete vectors unused for `VECTOR_CACHE_DAYS`; return the number of deleted rows."""
    horizon = timezone.now() - timedelta(days=settings.VECTOR_CACHE_DAYS)
    return CachedVector.objects.filter(used_at__lt=horizon).delete()[0]


def unpack_vector(data: bytes | memoryview) -> Vectors:
    return np.frombuffer(data, dtype=STORED_TYPE).astype(np.float32)


def clear_query_caches() -> None:
    """Empty this process's caches of queries and words."""
    with _lock:
        _queries.clear()
        _words.clear()


class CachedEmbedder:
    """Calls the `inner` embedder only for texts that are not cached yet."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.name = inner.name
        self.dims = inner.dims
        self.texts_per_call: int = getattr(inner, "texts_per_call", 64)

    def embed_query(self, texts: list[str]) -> Vectors:
        return self._embed_cached(texts, _queries, self.inner.embed_query)

    def embed_words(self, words: list[str]) -> Vectors:
        """Return the vectors of words, or of sentences of texts, cached in this process alone."""
        return self._embed_cached(words, _words, self.inner.embed_document)

    def embed_document(self, texts: list[str]) -> Vectors:
        rows_by_text = load_vectors(self.name, texts)
        missing = [text for text in dict.fromkeys(texts) if text not in rows_by_text]
        for start in range(0, len(missing), CHUNK):
            chunk = missing[start : start + CHUNK]
            rows_by_text |= store_vectors(
                self.name, dict(zip(chunk, self.inner.embed_document(chunk), strict=True))
            )
        return self.stack_rows([rows_by_text[text] for text in texts])

    def compare_across_scripts(self, query_vector: Vectors) -> ScriptComparison | None:
        """How a question is compared with passages in other scripts; None: as with all."""
        compare = getattr(self.inner, "compare_across_scripts", None)
        return compare(query_vector) if compare else None

    def probe(self) -> None:
        self.inner.probe()

    def _embed_cached(
        self, texts: list[str], cache: VectorsByKey, embed: Callable[[list[str]], Vectors]
    ) -> Vectors:
        keys = {text: (self.name, text_hash(text)) for text in texts}
        with _lock:
            hits = ((text, cache.get(key)) for text, key in keys.items())
            rows = {text: row for text, row in hits if row is not None}
        if missing := [text for text in keys if text not in rows]:
            # Called without the lock: other threads need not wait for the model.
            rows |= dict(zip(missing, embed(missing), strict=True))
            with _lock:
                cache.update({keys[text]: rows[text] for text in missing})
        return self.stack_rows([rows[text] for text in texts])

    def stack_rows(self, rows: list[Vectors]) -> Vectors:
        return cast(Vectors, np.array(rows)) if rows else np.zeros((0, self.dims), dtype=np.float32)


def get_embedder(domain: str | None = None) -> CachedEmbedder:
    """Return the embedder whose vectors `domain` uses now, one per process and model.

    It is the one of the settings, except while the vectors of another one that comes with the
    product are being replaced (`retrieval.indexing.model_switch`).
    """
    configured = get_configured_embedder(domain)
    path = embedder_in_use(domain, configured.name) if domain else None
    return _embedder(path, configured.dims, (), os.getpid()) if path else configured


def embedder_in_use(domain: str, configured: str) -> str | None:
    """Return the dotted path of the embedder in use if it is another than the `configured` one and
    this process can run it."""
    name = serving_models.get_serving_model(domain)
    return None if name == configured else SHIPPED.get(name or "")


def get_configured_embedder(domain: str | None = None) -> CachedEmbedder:
    """Return the embedder of the settings.

    Only a hosted model has a width per domain (`text-embedding-3-large@1024`); a local one brings
    its own and is the same for all. Costs nothing until the first text: models load on use.
    """
    dims = get_preset(domain).dims if domain in PRESETS else DEFAULT_DIMS
    names = ("EMBEDDING_MODEL", "EMBEDDING_DIMS", "OPENAI_BASE_URL", "OPENAI_API_KEY")
    # A changed setting (in tests) then gives another embedder without a reset.
    values = tuple(str(getattr(settings, name)) for name in names)
    return _embedder(embedder_path(), dims, values, os.getpid())


def embedder_path() -> str:
    """Return the dotted path that the setting EMBEDDER stands for."""
    setting: str = settings.EMBEDDER
    return BUILT_IN.get(setting, setting)


@lru_cache(maxsize=16)
def _embedder(path: str, dims: int, _settings: tuple[str, ...], _pid: int) -> CachedEmbedder:
    return CachedEmbedder(import_string(path)(dims=dims))
