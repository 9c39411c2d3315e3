"""What follows an episode beside its effects: copies of it that apps above `episodes` keep.

`settings.EPISODE_FOLLOWERS` lists the classes (docs/decisions/0071).
"""

from functools import cache
from typing import TYPE_CHECKING, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from episodes.models import Episode


class Follower(Protocol):
    """All methods run in the transaction of the change, with the episode locked."""

    def follow_audience(self, episode: "Episode", /) -> None:
        """Called after the episode was revealed to somebody, or a reveal was undone."""

    def follow_ruling(self, episode: "Episode", /) -> None:
        """Called after a game master decided whether a change that the episode made counts."""

    def follow_deletion(self, episode: "Episode", /) -> None:
        """Called before the episode is deleted for good: delete every copy."""


@cache
def followers() -> tuple[Follower, ...]:
    return tuple(import_string(path)() for path in settings.EPISODE_FOLLOWERS)
