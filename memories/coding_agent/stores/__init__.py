"""Four stores with one protocol (`MemoryStore`): in memory, a JSON file, PostgreSQL, Qdrant."""

from memories.coding_agent.stores.file import FileStore
from memories.coding_agent.stores.in_memory import InMemoryStore
from memories.coding_agent.stores.postgres import PostgresMemoryStore
from memories.coding_agent.stores.protocol import MemoryRecord, MemoryStore, StoreHit
from memories.coding_agent.stores.qdrant import EmbeddingMemoryStore

__all__ = [
    "EmbeddingMemoryStore",
    "FileStore",
    "InMemoryStore",
    "MemoryRecord",
    "MemoryStore",
    "PostgresMemoryStore",
    "StoreHit",
]
