"""What the Play page shows of the open scene: heading, clock, cast, and who may come."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any

from django.db.models import Q
from django.utils import timezone

from episodes.models import Episode, Scene, Session
from episodes.running_scenes import hour_of, time_reached
from knowledge.models import Lore
from memory_site.play.party_knowledge import PartyKnowledge
from memory_site.play.people import PeopleAtTable, Person
from npcs.models import NPC
from retrieval.text import KnownName, NameIndex
from worlds.models import Party
from worlds.name_order import by_name
from worlds.pages import Viewer
from worlds.world_calendar import calendar_of, show_date

MOST_SUGGESTED = 12
MOST_PLACES = 300


@dataclass(frozen=True)
class TableScene:
    """The open scene, if any, with the people who are there and those who may come."""

    scene: Scene | None
    cast: list[Person]
    suggested: Sequence[NPC] = ()
    """Those whom the party knows."""
    hidden: Sequence[NPC] = ()
    """Others who may come."""
    heading: str = ""
    """Title or place of the scene, as far as the party knows them."""
    hidden_heading: str = ""
    """The rest of them, for the game master."""
    session_is_known: bool = False
    session: Session | None = None
    """That of the open scene, else the party's latest: to write down what happened."""
    date: str = ""
    """The in-world time of the open scene; without one, that which the party has reached."""
    places: Sequence[str] = ()
    """Names that are offered while a scene is being opened: of places that the party knows."""

    @property
    def minutes(self) -> int:
        """Minutes of play since the scene was opened."""
        if self.scene is None:
            return 0
        return int((timezone.now() - self.scene.created_at).total_seconds() // 60)


def read_scene(viewer: Viewer, people: PeopleAtTable) -> TableScene:
    party, scene, knowledge = people.party, people.scene, people.knowledge
    if scene is None:
        at, label = time_reached(party)
        last = Session.objects.filter(party=party).order_by("-number", "-created_at").first()
        date = date_of(party, at, label)
        known = places_of(knowledge.viewer).only_published()
        places = list(known.values_list("title", flat=True)[:MOST_PLACES])
        return TableScene(None, [], session=last, date=date, places=places)
    may_come = people_who_may_come(viewer, party, scene)
    heading, hidden_heading = headings_of(scene, knowledge)
    return TableScene(
        scene,
        people.of(people.cast),
        suggested=[npc for npc in may_come if knowledge.knows(npc)],
        hidden=[npc for npc in may_come if not knowledge.knows(npc)],
        heading=heading,
        hidden_heading=hidden_heading,
        session_is_known=scene.session is not None and knowledge.knows(scene.session),
        session=scene.session,
        date=date_of(party, scene.in_world_at, scene.in_world_label),
    )


def people_who_may_come(viewer: Viewer, party: Party, scene: Scene) -> list[NPC]:
    """Those who live there and those of the party's last episode."""
    npcs = NPC.objects.in_world(viewer.world).select_related("biography")
    likely = Q(home_lore=scene.place_lore_id) if scene.place_lore_id else Q(pk__in=[])
    at_home = npcs.filter(likely).exclude(slug__in=scene.cast).order_by(by_name("name"))
    found = {npc.pk: npc for npc in at_home[:MOST_SUGGESTED]}
    found |= {npc.pk: npc for npc in people_of_last_scene(party) if npc.slug not in scene.cast}
    return list(found.values())[:MOST_SUGGESTED]


def headings_of(scene: Scene, knowledge: PartyKnowledge) -> tuple[str, str]:
    """Return of title and place what the party knows, the first alone, and what it does not. A
    place without an entry is where the party is."""
    place = scene.place_entry
    names = [
        (scene.title, knowledge.knows(scene)),
        (place.title if place else scene.place, place is None or knowledge.knows(place)),
    ]
    known = [name for name, is_known in names if name and is_known]
    hidden = [name for name, is_known in names if name and not is_known]
    return next(iter(known), ""), " · ".join(hidden)


def places_of(viewer: Viewer) -> Any:
    rows = Lore.objects.in_world(viewer.world).known_in(viewer.campaign, viewer.audience)
    return rows.visible_to(viewer.audience).filter(kind=Lore.Kind.PLACE).order_by(by_name("title"))


def name_of_place(viewer: Viewer, text: str) -> str:
    """Return the title of the only place that `text` is a name of, or a part of its name; else the
    text."""
    names = starmap(KnownName, places_of(viewer).values_list("title", "title", "aliases"))
    index = NameIndex.for_text(names, text)
    spelled = index.find_spelled(text) or index.find(text)
    found = {match.key for match in spelled if match.how != "fuzzy"}
    return str(found.pop()) if len(found) == 1 else text


def date_of(party: Party, at: float | None, label: str) -> str:
    """Return an in-world time by the world's calendar, else by its label and the hour."""
    if at is None:
        return label
    calendar = calendar_of(party.world)
    if calendar or not label:
        return show_date(calendar, at)
    return label if hour_of(at) in label else f"{label}, {hour_of(at)}"


def people_of_last_scene(party: Party) -> list[NPC]:
    """The NPCs of the party's last recorded episode."""
    last = Episode.objects.of_party(party).not_retracted().latest_first().values("pk")[:1]
    rows = NPC.objects.filter(world=party.world_id, appearances__episode__in=last)
    return list(rows.order_by(by_name("name"))[:MOST_SUGGESTED])
