"""HAEMA's API: `from memories.haema import EmbeddingClient, LLMClient, Memory`."""

from memories.haema.memory import (
    CoreUpdateResponse,
    EmbeddingClient,
    LLMClient,
    Memory,
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
