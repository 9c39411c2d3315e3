"""What an agent learns from its own work: working memory, episodes, patterns, preferences."""

from memories.coding_agent.episodes import Episode, Patch, Pivot
from memories.coding_agent.episodic import EpisodicMemoryManager
from memories.coding_agent.semantic import SemanticMemoryManager
from memories.coding_agent.working import WorkingMemoryManager

__all__ = [
    "Episode",
    "EpisodicMemoryManager",
    "Patch",
    "Pivot",
    "SemanticMemoryManager",
    "WorkingMemoryManager",
]
