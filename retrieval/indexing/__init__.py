"""Chunks, vectors, word statistics and database indexes. Other apps import from this package."""

from retrieval.indexing.chunk_schema import Chunk, Domain
from retrieval.indexing.embed import embed_pending, parked_passages, pending_passages
from retrieval.indexing.inspection import PassageState, inspect_passages
from retrieval.indexing.install import install_passage_table
from retrieval.indexing.locks import exclusive
from retrieval.indexing.model_switch import mark_foreign_stale
from retrieval.indexing.normalize import (
    SourceEntry,
    chunk_entry,
    normalize_art,
    normalize_episode,
    normalize_lore,
    normalize_srd,
)
from retrieval.indexing.statistics import count_words, forget_scope
from retrieval.indexing.stop_request import request_stop
from retrieval.indexing.stored_words import count_renewed
from retrieval.indexing.upkeep import index_vectors
from retrieval.models import PARKED_AFTER

__all__ = [
    "PARKED_AFTER",
    "Chunk",
    "Domain",
    "PassageState",
    "SourceEntry",
    "chunk_entry",
    "count_renewed",
    "count_words",
    "embed_pending",
    "exclusive",
    "forget_scope",
    "index_vectors",
    "inspect_passages",
    "install_passage_table",
    "mark_foreign_stale",
    "normalize_art",
    "normalize_episode",
    "normalize_lore",
    "normalize_srd",
    "parked_passages",
    "pending_passages",
    "request_stop",
]
