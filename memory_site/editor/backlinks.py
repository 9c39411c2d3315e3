"""What mentions a thing: the texts and the episodes, as far as the viewer may know of them."""

from dataclasses import dataclass
from uuid import UUID

from knowledge.links import Backlink, backlinks, rows_of_thing
from knowledge.models import Lore
from npcs.models import NPC
from worlds.pages import Viewer

TEXTS = ("lore", "npc", "rule")
MOST_EPISODES = 30


@dataclass(frozen=True)
class Mentions:
    texts: list[Backlink]
    episodes: list[Backlink]


def mentions_of(viewer: Viewer, ids: set[UUID]) -> Mentions:
    """Return where the rows of one thing are mentioned: a fixed number of queries."""
    world, audience = viewer.world, viewer.audience
    texts = backlinks(world, ids, audience, kinds=TEXTS)
    episodes = backlinks(world, ids, audience, kinds=("episode",), limit=MOST_EPISODES)
    return Mentions(texts, episodes)


def mentions_of_entry(viewer: Viewer, entry: Lore) -> Mentions:
    """`entry` with its entity and the NPCs whose biography it is."""
    npcs = NPC.objects.filter(biography=entry).visible_to(viewer.audience)
    return mentions_of(viewer, rows_of_thing(entry) | set(npcs.values_list("pk", flat=True)))


def mentions_of_npc(viewer: Viewer, npc: NPC) -> Mentions:
    ids = {npc.pk}
    # A biography that the viewer may not know is not named by what mentions it.
    rows = Lore.objects.filter(pk__in=[npc.biography_id]).visible_to(viewer.audience)
    for entry in rows if viewer.is_gm else rows.only_published():
        ids |= rows_of_thing(entry)
    return mentions_of(viewer, ids)
