"""People as one plays them at the table."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from episodes.models import Scene
from knowledge.models import Lore
from memory_site.play.party_knowledge import PartyKnowledge
from memory_site.play.secrets import Part, parts_of
from npcs.models import NPC
from npcs.page_queries import AnyDisposition, disposition_table
from worlds.audiences import GM
from worlds.models import Party

LINES = 3


@dataclass(frozen=True)
class Person:
    """An NPC as one plays it: up to three lines, what it thinks of the party, what it hides; and
    whether the party knows it."""

    npc: NPC
    is_known: bool
    lines: list[str]
    standing: AnyDisposition
    parts: list[Part]

    @property
    def alone(self) -> list[NPC]:
        return [self.npc]


class PeopleAtTable:
    """People as one plays them, for one page. With the first that are asked for, those of the open
    scene are read as well, because the page shows them, too."""

    def __init__(self, knowledge: PartyKnowledge, scene: Scene | None = None) -> None:
        self.knowledge, self.scene = knowledge, scene
        self._found: dict[UUID, Person] = {}

    @property
    def party(self) -> Party:
        return self.knowledge.party

    @cached_property
    def cast(self) -> list[NPC]:
        """The NPCs of the open scene, in the order in which they came."""
        if self.scene is None:
            return []
        npcs = NPC.objects.in_world(self.party.world).select_related("biography")
        order = {slug: place for place, slug in enumerate(self.scene.cast)}
        return sorted(npcs.filter(slug__in=order), key=lambda npc: order[npc.slug])

    def of(self, npcs: Sequence[NPC]) -> list[Person]:
        missing = {npc.pk: npc for npc in npcs if npc.pk not in self._found}
        if missing:
            to_read = missing | {npc.pk: npc for npc in self.cast if npc.pk not in self._found}
            read = people_at_table(self.knowledge, list(to_read.values()))
            self._found |= {person.npc.pk: person for person in read}
        return [self._found[npc.pk] for npc in npcs]


def people_at_table(knowledge: PartyKnowledge, npcs: Sequence[NPC]) -> list[Person]:
    party = knowledge.party
    texts = {npc.pk: npc.biography for npc in npcs if npc.biography and is_about_one(npc.biography)}
    parts = parts_of(party, npcs=npcs, entries=texts.values(), audience=knowledge.audience)
    table = disposition_table(npcs, [party], GM)
    return [
        Person(
            npc,
            knowledge.knows(npc),
            lines_to_play(npc),
            each[0],
            parts[npc.pk] + (parts[texts[npc.pk].pk] if npc.pk in texts else []),
        )
        for npc, each in table
    ]


def is_about_one(entry: Lore) -> bool:
    """Whether it is the entry of a person: the biography of some NPCs is the page of a faction."""
    return not entry.deleted_at and entry.kind == Lore.Kind.BIOGRAPHY


def lines_to_play(npc: NPC) -> list[str]:
    """What the game master wrote to play the NPC, else voice, goals and role."""
    lines = [*npc.play_now, npc.voice, *npc.goals, npc.role]
    return [line for line in dict.fromkeys(lines) if line.strip()][:LINES]
