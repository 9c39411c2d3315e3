"""Agent memory and the game world, by the names of their designs: `from memories import Memory,
EpisodicMemoryManager, ingest_lore`.

In a plain script the first name that is used sets Django up. `memories.aio` has the same names for
programs with an event loop.
"""

from importlib import import_module
from typing import Any

PLACES = {
    "memories.haema": (
        *("Memory", "EmbeddingClient", "LLMClient", "PreMemorySplitResponse"),
        *("MemoryReconstructionResponse", "CoreUpdateResponse"),
    ),
    "memories.states": ("Bucket",),
    "memories.buckets.events": ("MemoryEvent",),
    "memories.buckets.classifiers": (
        *("RuleBasedClassifier", "LLMClassifier", "HybridClassifier"),
    ),
    "memories.buckets.write_pipeline": ("WritePipeline",),
    "memories.buckets.intents": ("QueryClassifier",),
    "memories.buckets.scoring": ("WeightedFusion", "RRF", "score"),
    "memories.buckets.read_pipeline": ("ReadPipeline", "MemoryQueryResult"),
    "memories.reflection": ("EpisodeClusterer", "ReflectionGenerator", "reflect"),
    "memories.coding_agent": (
        *("WorkingMemoryManager", "EpisodicMemoryManager", "SemanticMemoryManager"),
        *("Episode", "Patch", "Pivot"),
    ),
    "memories.code_rules": ("CodeRule", "detect_code_rules_from_patch"),
    "memories.coding_agent.stores": (
        *("InMemoryStore", "FileStore", "PostgresMemoryStore", "EmbeddingMemoryStore"),
    ),
    "memories.memgpt": (
        *("use_memory", "core_memory_append", "core_memory_replace", "archival_memory_insert"),
        *("archival_memory_search", "conversation_search"),
    ),
    "memories.domain_config": ("EmbeddingConfig", "KnowledgeDomainConfig", "knowledge_domains"),
    "memories.game_world": (
        *("use_world", "ingest_srd", "ingest_lore", "ingest_episode", "ingest_art"),
        *("normalize_srd", "normalize_lore", "normalize_episode", "normalize_art"),
        *("Chunk", "EpisodicSummary", "ArtCard", "GraphFact", "VectorStore", "GraphStore"),
    ),
}
"""The names of this package by the module that has them."""
MODULE_OF = {name: module for module, names in PLACES.items() for name in names}

__all__ = sorted(MODULE_OF)


def __getattr__(name: str) -> Any:
    # Later than the import of the package: Django imports that before its models are there.
    if name not in MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_module("memories.haema.standalone")
    return getattr(import_module(MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *MODULE_OF]
