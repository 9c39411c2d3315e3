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
