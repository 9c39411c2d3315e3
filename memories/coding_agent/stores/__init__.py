"""Four stores with one protocol (`MemoryStore`): in memory, a JSON file, PostgreSQL, Qdrant."""

from typing import TYPE_CHECKING, Any

from memories.coding_agent.stores.file import FileStore
from memories.coding_agent.stores.in_memory import InMemoryStore
from memories.coding_agent.stores.postgres import PostgresMemoryStore
from memories.coding_agent.stores.protocol import MemoryStore, StoreHit
from memories.coding_agent.stores.records import MemoryRecord

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    """Import Qdrant's client for who asks for its store: that takes a fifth of the time in which a
    process of the site starts, and few use it."""
    if name == "EmbeddingMemoryStore":
        from memories.coding_agent.stores.qdrant import EmbeddingMemoryStore

        return EmbeddingMemoryStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
