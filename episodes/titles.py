"""What an audience may know of the scene and the session of an episode, and so its title."""

from episodes.models import Episode, Scene, Session
from worlds.audiences import Audience, Visibility


def title_of(episode: Episode, audience: Audience) -> str:
    """The title of its scene, which may be hidden from players who know the episode; else where it
    happened."""
    scene = episode.scene if is_visible(episode.scene, episode, audience) else None
    return (scene.title if scene else "") or episode.place or episode.external_id


def is_visible(row: Scene | Session | None, episode: Episode, audience: Audience) -> bool:
    """The rule of `visible_to` for a row that was read together with an episode."""
    if row is None or audience.is_gm or row.visibility == Visibility.PUBLIC:
        return True
    own = row.party_id == episode.party_id and audience == Audience("party", episode.party.slug)
    return row.visibility == Visibility.REVEALED and (own or str(audience) in row.known_to)
