"""The effects of an episode on the rest of the world, and how they are withdrawn.

Apps above `episodes` add effects without being imported from here: `settings.EPISODE_EFFECTS` lists
the classes in the order in which they run (docs/decisions/0020).
"""

from functools import cache
from typing import Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from episodes.models import Episode
from episodes.schemas import EpisodeIn, IngestReport
from worlds.models import Party


class Effect(Protocol):
    """One kind of effect. All methods run in the transaction of the episode, with its party locked.

    The episode is saved before `write` and `withdraw`, so both see its current version. `withdraw`
    runs before `write` of a new version. Repeating either changes nothing.
    """

    def plan(self, party: Party, summary: EpisodeIn) -> Any:
        """Resolve what `summary` names; raises a `Problem` to refuse the whole episode. Writes
        nothing.
        """

    def write(self, episode: Episode, plan: Any, report: IngestReport, /) -> None:
        """Write the planned effect and add its outcome to `report`."""

    def withdraw(self, episode: Episode) -> None:
        """Undo the effects of all other versions of `episode`, or of all versions when it is
        retracted.
        """


@cache
def effects() -> tuple[Effect, ...]:
    return tuple(import_string(path)() for path in settings.EPISODE_EFFECTS)
