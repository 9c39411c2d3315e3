"""What the page of a thing shows beside its text, each a fixed number of statements."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from episodes.models import Episode, Mention
from knowledge.link_models import Link
from knowledge.models import Lore, LorePassage
from memory_site.editor.things import Thing
from npcs.models import NPC, Appearance
from retrieval.text import shown_names
from worlds.audience_names import names_of_audiences
from worlds.audiences import Visibility
from worlds.models import Reveal
from worlds.name_order import by_name
from worlds.pages import Viewer

MOST_EPISODES = 30
MOST_PEOPLE = 60
MOST_PASSAGES = 60


def text_for(viewer: Viewer, entry: Lore | None) -> str:
    """The text of the entry as a game master wrote it; for others, the passages that they may
    know of."""
    if entry is None:
        return ""
    if viewer.is_gm:
        return entry.body
    passages = entry.passages.visible_to(viewer.audience).order_by("position")
    return "\n\n".join(passages.values_list("text", flat=True))


# --- episodes, members, inhabitants


def episodes_of(viewer: Viewer, thing: Thing) -> list[Episode]:
    """The latest episodes in which the thing appears or is mentioned. Players get those whose open
    text names it: neither what stands in secrets nor who else was there is theirs to know."""
    rows = Episode.objects.in_world(viewer.world).visible_to(viewer.audience).not_retracted()
    rows = rows.filter(pk__in=ids_of_episodes(viewer, thing))
    return list(rows.with_source().latest_first()[:MOST_EPISODES])


def ids_of_episodes(viewer: Viewer, thing: Thing) -> Any:
    """A union, because with one condition for both the database reads every episode of the
    world."""
    mentions = Mention.objects.filter(lore=thing.entry) if thing.entry else Mention.objects.none()
    if viewer.is_gm:
        rows = Appearance.objects
        present = rows.filter(npc=thing.npc) if thing.npc else rows.none()
        return mentions.values("episode_id").union(present.values("episode_id"))
    links = Link.objects.none()
    if thing.npc:
        links = Link.objects.filter(world=viewer.world, source_kind="episode", secret=False)
        links = links.filter(targets__contains=[thing.npc.pk])
    return mentions.filter(secret=False).values("episode_id").union(links.values("source_id"))


@dataclass(frozen=True)
class People:
    """NPCs who belong to a faction, and those who live at a place."""

    members: list[NPC]
    inhabitants: list[NPC]


def people_of(viewer: Viewer, entry: Lore) -> People:
    npcs = NPC.objects.in_world(viewer.world).visible_to(viewer.audience).order_by(by_name("name"))
    members = npcs.filter(faction_lore=entry)
    if not viewer.is_gm:
        members = members.filter(faction_visibility=Visibility.PUBLIC)
    inhabitants = npcs.filter(home_lore=entry)
    return People(list(members[:MOST_PEOPLE]), list(inhabitants[:MOST_PEOPLE]))


# --- who knows what of it


@dataclass
class KnownPart:
    """A part of a thing that can be revealed by itself: the whole entry, the person, one secret."""

    kind: str
    row: Any
    text: str = ""
    knowers: list[str] = field(default_factory=list)
    log: list[Reveal] = field(default_factory=list)

    @property
    def is_public(self) -> bool:
        return bool(self.row.visibility == Visibility.PUBLIC)


@dataclass(frozen=True)
class Knowledge:
    """Who knows what of a thing; `names` are those of the audiences in it."""

    parts: list[KnownPart]
    names: dict[str, str]


def knowledge_of(thing: Thing) -> Knowledge:
    """Each part of the thing with who knows it and the entries of the reveal log. For the game
    master alone."""
    parts = list(_parts_of(thing))
    by_subject = log_of([part.row.pk for part in parts])
    for part in parts:
        part.log = by_subject[part.row.pk]
    audiences = {name for part in parts for name in shown_names(part.row.known_to)}
    audiences |= {entry.audience for part in parts for entry in part.log}
    names = names_of_audiences(thing.world, audiences)
    for part in parts:
        if part.row.visibility == Visibility.REVEALED:
            part.knowers = [names.get(each, each) for each in shown_names(part.row.known_to)]
    return Knowledge(parts, names)


def _parts_of(thing: Thing) -> Iterator[KnownPart]:
    if thing.npc:
        yield KnownPart("npc", thing.npc)
    if thing.entry:
        yield KnownPart("lore", thing.entry)
        blocks = thing.entry.passages.filter(secret=True).order_by("position")
        for row in blocks.defer("embedding", "search_vector"):
            yield KnownPart("lorepassage", row, row.text)
    if thing.npc:
        for row in thing.npc.secrets.all():
            yield KnownPart("secret", row, row.text)


def log_of(subjects: list[UUID]) -> dict[UUID, list[Reveal]]:
    """The reveals of these rows that stand, by row."""
    by_subject: dict[UUID, list[Reveal]] = defaultdict(list)
    rows = Reveal.objects.filter(subject_id__in=subjects, undone_at=None)
    for entry in rows.order_by("created_at", "pk"):
        by_subject[entry.subject_id].append(entry)
    return by_subject


# --- how it is found


def passages_of(entry: Lore | None) -> list[LorePassage]:
    if entry is None:
        return []
    rows = entry.passages.order_by("position").defer("embedding", "search_vector")
    return list(rows[:MOST_PASSAGES])
