"""Never embed the same text twice: a table for documents, a small cache in this process for
queries."""

import threading
from typing import cast

import numpy as np
from cachetools import LRUCache, TTLCache
from django.conf import settings

from retrieval.embedders import vector_cache
from retrieval.embedders.base import Embedder, Vectors

CHUNK = 256
"""Texts embedded between two writes to the table: what a crash can cost."""

# by model and hash of the text: what was deleted for good must not live on in a cache
_queries: TTLCache[tuple[str, str], Vectors] = TTLCache(
    settings.QUERY_CACHE_SIZE, settings.QUERY_CACHE_SECONDS
)
_words: LRUCache[tuple[str, str], Vectors] = LRUCache(4000)
_lock = threading.Lock()


def clear_query_caches() -> None:
    """Empty this process's caches of queries and words."""
    with _lock:
        _queries.clear()
        _words.clear()


class CachedEmbedder:
    """The `inner` embedder, asked only for what is not known yet."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.name = inner.name
        self.dims = inner.dims

    def embed_query(self, texts: list[str]) -> Vectors:
        keys = {text: (self.name, vector_cache.text_hash(text)) for text in texts}
        with _lock:
            rows_by_text = {text: _queries[key] for text, key in keys.items() if key in _queries}
        missing = [text for text in keys if text not in rows_by_text]
        if missing:
            rows = dict(zip(missing, self.inner.embed_query(missing), strict=True))
            rows_by_text |= rows
            with _lock:
                _queries.update({keys[text]: row for text, row in rows.items()})
        return self.stack_rows([rows_by_text[text] for text in texts])

    def embed_document(self, texts: list[str]) -> Vectors:
        rows_by_text = vector_cache.load_vectors(self.name, texts)
        missing = [text for text in dict.fromkeys(texts) if text not in rows_by_text]
        for start in range(0, len(missing), CHUNK):
            chunk = missing[start : start + CHUNK]
            rows_by_text |= vector_cache.store_vectors(
                self.name, dict(zip(chunk, self.inner.embed_document(chunk), strict=True))
            )
        return self.stack_rows([rows_by_text[text] for text in texts])

    def embed_words(self, words: list[str]) -> Vectors:
        """Vectors of single words, kept in this process alone."""
        with _lock:
            rows_by_word = {
                word: _words[self.name, word] for word in words if (self.name, word) in _words
            }
        if missing := [word for word in dict.fromkeys(words) if word not in rows_by_word]:
            rows = dict(zip(missing, self.inner.embed_document(missing), strict=True))
            rows_by_word |= rows
            with _lock:
                _words.update({(self.name, word): row for word, row in rows.items()})
        return self.stack_rows([rows_by_word[word] for word in words])

    def probe(self) -> None:
        self.inner.probe()

    def stack_rows(self, rows: list[Vectors]) -> Vectors:
        return cast(Vectors, np.array(rows)) if rows else np.zeros((0, self.dims), dtype=np.float32)
