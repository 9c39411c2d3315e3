"""HAEMA's API: `from memories.haema import EmbeddingClient, LLMClient, Memory`."""

# First: in a plain script this sets Django up, without which no model can be imported.
from memories.haema import standalone  # noqa: F401

# isort: split
from memories.haema.memory import EmbeddingClient, LLMClient, Memory
from memories.ingest.answers import (
    CoreUpdateResponse,
    MemoryReconstructionResponse,
    PreMemorySplitResponse,
)

__all__ = [
    "CoreUpdateResponse",
    "EmbeddingClient",
    "LLMClient",
    "Memory",
    "MemoryReconstructionResponse",
    "PreMemorySplitResponse",
]
