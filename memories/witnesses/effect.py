"""The witnesses of an episode, as one of its effects (`settings.EPISODE_EFFECTS`) and one of its
followers (`settings.EPISODE_FOLLOWERS`)."""

from episodes.models import Episode
from episodes.schemas import EpisodeIn, IngestReport
from memories.curation.withdrawal import withdraw_memories
from memories.witnesses.deletion import erase_memories
from memories.witnesses.upkeep import memories_of, remember_episode
from worlds.models import Party


class Witnesses:
    """Runs after the effects on NPCs: it reads who was there, and what it did to them."""

    def plan(self, _party: Party, _summary: EpisodeIn) -> None:
        return None

    def write(self, episode: Episode, _plan: None, _report: IngestReport) -> None:
        remember_episode(episode)

    def withdraw(self, episode: Episode) -> None:
        """Withdraw the memories of a retracted episode; `write` replaces those of a new version."""
        if episode.retracted_at:
            withdraw_memories(memories_of(episode))

    def follow_audience(self, episode: Episode) -> None:
        remember_episode(episode)

    def follow_ruling(self, episode: Episode) -> None:
        remember_episode(episode)

    def follow_deletion(self, episode: Episode) -> None:
        erase_memories(episode)
