"""What an episode does to the rest of the world, and how that is taken back.

The apps above `episodes` add their effects here without being imported from below: `settings.EPISODE_EFFECTS` names the
classes, in order (docs/decisions/0020).
"""

from functools import cache
from typing import Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from episodes.models import Episode
from episodes.schemas import EpisodeIn, IngestReport
from worlds.models import Party


class Effect(Protocol):
    """All three run in the transaction of the episode, with its party locked.

    The episode is saved before `write` and `withdraw`, so both see the version that stands. `withdraw` comes before
    `write` of a new version; doing either again changes nothing.
    """

    def plan(self, party: Party, summary: EpisodeIn) -> Any:
        """Understand the effect of `summary`: raises a `Problem` to refuse the whole episode. Writes nothing."""

    def write(self, episode: Episode, plan: Any, report: IngestReport, /) -> None:
        """Bring the effect about, and say so in `report`."""

    def withdraw(self, episode: Episode) -> None:
        """Take back what earlier versions of `episode` brought about."""


@cache
def effects() -> tuple[Effect, ...]:
    return tuple(import_string(path)() for path in settings.EPISODE_EFFECTS)
