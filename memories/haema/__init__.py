"""HAEMA's API: `from memories.haema import EmbeddingClient, LLMClient, Memory`."""

# First: in a plain script this sets Django up, without which no model can be imported.
from memories.haema import standalone  # noqa: F401

# isort: split
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
