"""The title of an episode on pages."""

from django import template

from episodes.models import Episode
from episodes.titles import title_of
from worlds.audiences import Audience

register = template.Library()


@register.filter
def title_for(episode: Episode, audience: Audience) -> str:
    """`{{ episode|title_for:viewer.audience }}`; the episode was read `with_source()`."""
    return title_of(episode, audience)


@register.filter
def place_in(episode: Episode, names: dict[str, str]) -> str:
    """`{{ episode|place_in:places }}`: where it happened, by the name of the place's entry
    (`names_of_places`), else in the engine's words."""
    return names.get(episode.place, episode.place)
