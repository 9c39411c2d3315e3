"""When and from where an audience learned of something, as far as it may know: the reveal log's own
entries of that audience, without what the game master wrote into them."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from episodes.models import Episode
from episodes.titles import is_visible, title_of
from worlds.audiences import Audience
from worlds.models import Reveal, World


@dataclass(frozen=True)
class Learned:
    """`at` is real time. The other fields tell when in the world and from where, as far as that is
    known."""

    at: datetime
    in_world_label: str = ""
    in_world_at: float | None = None
    episode: str = ""
    episode_ref: str = ""
    session: str = ""


def reveals_of(world: World, audience: Audience) -> Any:
    """The entries in force of the log that are about this audience: those of a character and of its
    party; of a party also those of its members, by which it may know something."""
    names = {str(audience), *(f"character:{member}" for member in audience.members)}
    if audience.party_slug:
        names.add(f"party:{audience.party_slug}")
    return Reveal.objects.filter(world=world, audience__in=names, undone_at=None)


def learned_of(world: World, audience: Audience, subjects: Collection[UUID]) -> dict[UUID, Learned]:
    """Return when each of these rows became known, by its id; for rows that the audience may know.
    Two queries.

    For a character the first reveal counts. A party that nobody told knows something since the last
    of its members does.
    """
    own = f"party:{audience.party_slug}"
    rows = reveals_of(world, audience).filter(subject_id__in=subjects).order_by("created_at", "pk")
    chosen: dict[UUID, Reveal] = {}
    for entry in rows:
        before = chosen.get(entry.subject_id)
        if before is None or (audience.kind == "party" and before.audience != own):
            chosen[entry.subject_id] = entry
    episodes = episodes_by_ref(world, audience, (each.episode_ref for each in chosen.values()))
    return {
        subject: present(entry, episodes.get(entry.episode_ref), audience)
        for subject, entry in chosen.items()
    }


def episodes_by_ref(world: World, audience: Audience, refs: Iterable[str]) -> dict[str, Episode]:
    """The episodes that the audience may know, of those called so."""
    rows: Any = Episode.objects.in_world(world).visible_to(audience).not_retracted()
    rows = rows.filter(external_id__in={ref for ref in refs if ref}).with_source()
    return {row.external_id: row for row in rows}


def present(entry: Reveal, episode: Episode | None, audience: Audience) -> Learned:
    if episode is None:
        return Learned(entry.created_at, entry.in_world_label, entry.in_world_at)
    session = episode.session if is_visible(episode.session, episode, audience) else None
    dated = entry if entry.in_world_label or entry.in_world_at is not None else episode
    return Learned(
        entry.created_at,
        dated.in_world_label,
        dated.in_world_at,
        title_of(episode, audience),
        episode.external_id,
        str(session or ""),
    )
