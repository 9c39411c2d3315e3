"""What an audience may know of the scene and the session of an episode, and so its title."""

from collections.abc import Iterable
from textwrap import shorten
from typing import Any

from django.db.models import OuterRef, Subquery, Value
from django.db.models.functions import Coalesce, NullIf
from django.utils.translation import gettext

from episodes.models import Episode, Scene, Session
from knowledge.models import Lore
from worlds.audiences import Audience, Visibility, is_known_to_party
from worlds.markdown import plain_text
from worlds.models import World

LONGEST_TITLE = 60
LONGEST_READ = 600


def title_of(episode: Episode, audience: Audience) -> str:
    """The title of its scene, which may be hidden from players who know the episode; else where it
    happened, else the first words of its open text. Its id tells people nothing."""
    scene = episode.scene if is_visible(episode.scene, episode, audience) else None
    title = (scene.title if scene else "") or episode.place
    return title or first_words(episode.text) or gettext("Episode")


def first_words(text: str) -> str:
    return shorten(plain_text(text[:LONGEST_READ]), LONGEST_TITLE, placeholder="…")


def annotate_title(episodes: Any, audience: Audience) -> Any:
    """Add `shown_title` to a queryset of episodes: what `title_of` returns, but empty where
    that is words of the text."""
    scenes: Any = Scene.objects.visible_to(audience).filter(pk=OuterRef("scene"))
    title = NullIf(Subquery(scenes.values("title")[:1]), Value(""))
    place = NullIf("place", Value(""))
    return episodes.annotate(shown_title=Coalesce(title, place, Value("")))


def names_of_places(
    world: World, episodes: Iterable[Episode], audience: Audience
) -> dict[str, str]:
    """Return the titles of entries by the slugs that engines name places by; what is not in it are
    words of the engine's own. One statement."""
    slugs = {episode.place for episode in episodes}
    entries = Lore.objects.in_world(world).visible_to(audience).filter(slug__in=slugs)
    return dict(entries.values_list("slug", "title"))


def is_visible(row: Scene | Session | None, episode: Episode, audience: Audience) -> bool:
    """The rule of `visible_to` for a row that was read together with an episode."""
    if row is None or audience.is_gm or row.visibility == Visibility.PUBLIC:
        return True
    own = row.party_id == episode.party_id and audience.party_slug == episode.party.slug
    is_own = own and is_known_to_party(row.known_to)
    return row.visibility == Visibility.REVEALED and (is_own or audience.knows(row.known_to))
