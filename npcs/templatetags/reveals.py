"""What an episode revealed."""

from django import template

from episodes.models import Episode
from npcs.profiles import present_reveals
from npcs.schemas import KnownSubject
from worlds.models import Reveal

register = template.Library()


@register.simple_tag
def revealed_by(episode: Episode) -> list[KnownSubject]:
    """`{% revealed_by episode as learned %}`, for game masters."""
    return present_reveals(
        Reveal.objects.filter(world=episode.world_id, episode_ref=episode.external_id)
    )
