"""What an agent learns from its own work: working memory, episodes, patterns, preferences."""

from memories.coding_agent.episodes import Patch, Pivot, TaskEpisode
from memories.coding_agent.episodic import EpisodicMemoryManager
from memories.coding_agent.semantic import SemanticMemoryManager
from memories.coding_agent.working import WorkingMemoryManager

# The design's name. Inside the code, `Episode` is the Django model of `episodes`.
Episode = TaskEpisode

__all__ = [
    "Episode",
    "EpisodicMemoryManager",
    "Patch",
    "Pivot",
    "SemanticMemoryManager",
    "TaskEpisode",
    "WorkingMemoryManager",
]
