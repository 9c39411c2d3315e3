"""Embedders behind one protocol: text in, float32 rows out.

`get_embedder(domain)` returns one that caches: the same document text is never embedded twice (a
table), the same query not within some minutes (this process).
"""

from retrieval.embedders.base import Embedder, Vectors, unit_rows
from retrieval.embedders.hashing import HashingEmbedder
from retrieval.embedders.local import LocalEmbedder
from retrieval.embedders.parts import BGE_DIMS, unit_parts
from retrieval.embedders.universal_sentence import embed_universal
from retrieval.embedders.vector_cache import (
    BUILT_IN,
    CachedEmbedder,
    clear_query_caches,
    delete_vectors,
    embedder_path,
    get_configured_embedder,
    get_embedder,
    load_vectors,
    text_hash,
)
from retrieval.embedders.warm_up import load_models_soon

__all__ = [
    "BGE_DIMS",
    "BUILT_IN",
    "CachedEmbedder",
    "Embedder",
    "HashingEmbedder",
    "LocalEmbedder",
    "Vectors",
    "clear_query_caches",
    "delete_vectors",
    "embed_universal",
    "embedder_path",
    "get_configured_embedder",
    "get_embedder",
    "load_models_soon",
    "load_vectors",
    "text_hash",
    "unit_parts",
    "unit_rows",
]
