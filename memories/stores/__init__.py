"""Four stores behind one protocol (`records.MemoryStore`): in memory, a JSON file, PostgreSQL, Qdrant."""

from memories.stores.file import FileStore
from memories.stores.inmemory import InMemoryStore
from memories.stores.postgres import PostgresMemoryStore
from memories.stores.qdrant import EmbeddingMemoryStore
from memories.stores.records import Found, MemoryRecord, MemoryStore

__all__ = [
    "EmbeddingMemoryStore",
    "FileStore",
    "Found",
    "InMemoryStore",
    "MemoryRecord",
    "MemoryStore",
    "PostgresMemoryStore",
]
