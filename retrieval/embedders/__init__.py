"""Embedders behind one protocol: text in, float32 rows out.

`get_embedder(domain)` is the door. What it returns remembers: the same document text is never
embedded twice (a table), the same query not within some minutes (this process).
"""

import os
from functools import lru_cache

from django.conf import settings
from django.utils.module_loading import import_string

from retrieval.embedders.base import Embedder, Vectors, unit_rows
from retrieval.embedders.hashing import HashingEmbedder
from retrieval.embedders.vector_cache import (
    CachedEmbedder,
    clear_query_caches,
    delete_vectors,
    text_hash,
)
from retrieval.presets import PRESETS, get_preset

__all__ = [
    "CachedEmbedder",
    "Embedder",
    "HashingEmbedder",
    "Vectors",
    "clear_query_caches",
    "delete_vectors",
    "embedder_path",
    "get_embedder",
    "text_hash",
    "unit_rows",
]

BUILT_IN = {
    "local": "retrieval.embedders.local.LocalEmbedder",
    "openai": "retrieval.embedders.hosted.HostedEmbedder",
    "hashing": "retrieval.embedders.hashing.HashingEmbedder",
}
DEFAULT_DIMS = 1024


def get_embedder(domain: str | None = None) -> CachedEmbedder:
    """Return the embedder of `domain`, one per process and model.

    Only a hosted model has a width per domain (`text-embedding-3-large@1024`); a local one brings
    its own and is the same for all. Costs nothing until the first text: models load on use.
    """
    dims = get_preset(domain).dims if domain in PRESETS else DEFAULT_DIMS
    return _embedder(embedder_path(), dims, _fingerprint(), os.getpid())


def embedder_path() -> str:
    """Return the dotted path that the setting EMBEDDER stands for."""
    setting: str = settings.EMBEDDER
    return BUILT_IN.get(setting, setting)


def _fingerprint() -> tuple[str, ...]:
    """Whatever else makes another embedder of the same class; a changed setting (tests) then needs
    no reset."""
    return (
        settings.EMBEDDING_MODEL,
        str(settings.EMBEDDING_DIMS),
        settings.OPENAI_BASE_URL,
        settings.OPENAI_API_KEY,
    )


@lru_cache(maxsize=16)
def _embedder(path: str, dims: int, _settings: tuple[str, ...], _pid: int) -> CachedEmbedder:
    return CachedEmbedder(import_string(path)(dims=dims))
