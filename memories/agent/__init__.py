"""What an agent learns from its own work: working memory, episodes, patterns, preferences."""

from memories.agent.episodes import Episode, Patch, Pivot
from memories.agent.episodic import EpisodicMemoryManager
from memories.agent.semantic import SemanticMemoryManager
from memories.agent.working import WorkingMemoryManager

__all__ = ["Episode", "EpisodicMemoryManager", "Patch", "Pivot", "SemanticMemoryManager", "WorkingMemoryManager"]
