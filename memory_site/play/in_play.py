"""What is in play for a party, and how near it is to what happens next: the places, people and
factions of the open scene and the last episodes, what open threads name, and their neighbours in
the relation graph."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from episodes.models import Episode, Mention, Scene, Step, Thread
from episodes.titles import title_of
from knowledge.graph.adjacency import direct_neighbors
from knowledge.graph.labels import fact_sentence
from knowledge.graph.models import GraphNode, NodeKind
from knowledge.graph.protocol import View
from knowledge.link_models import Link
from knowledge.mentions.names import read_names
from knowledge.models import Lore
from memory_site.play.secrets import Part, parts_of
from npcs.models import NPC, Appearance
from worlds.audiences import GM
from worlds.models import Party

EPISODES = 3
"""The last episodes that count as near."""
IN_SCENE, IN_THREAD, NEIGHBOUR = 10.0, 5.0, 1.0
IN_EPISODE = (8.0, 6.0, 4.0)
"""By how many episodes have come since."""
MOST_THINGS, MOST_PARTS = 50, 40
LONGEST_TEXT = 20_000
MOST_STEPS = 60


@dataclass
class Near:
    """How near a thing is, and why: the first reason is the strongest."""

    weight: float = 0.0
    reasons: list[str] = field(default_factory=list)


@dataclass
class InPlay:
    """Ids of entries and NPCs in play, with their nearness."""

    near: dict[UUID, Near] = field(default_factory=dict)

    def add(self, ids: Iterable[UUID | None], weight: float, reason: str) -> None:
        for each in ids:
            if each is None:
                continue
            found = self.near.setdefault(each, Near())
            found.weight += weight
            if reason not in found.reasons:
                found.reasons.append(reason)

    def nearest(self) -> list[UUID]:
        return sorted(self.near, key=lambda each: -self.near[each].weight)[:MOST_THINGS]


@dataclass(frozen=True)
class RankedPart:
    """Something that the party does not know, with why it may come up."""

    part: Part
    why: str
    weight: float


def unknown_parts(
    party: Party, scene: Scene | None, threads: Sequence[Thread], *, texts: Sequence[str] = ()
) -> list[RankedPart]:
    """Return what the party does not know of the things in play, the nearest first. `texts` are
    what is left open beside the steps of `threads`. A fixed number of statements."""
    things = find_in_play(party, scene, threads, texts)
    ids = things.nearest()
    npcs = list(NPC.objects.filter(world=party.world_id, pk__in=ids).select_related("biography"))
    entries = Lore.objects.in_world(party.world).filter(pk__in=ids).known_in(party.campaign, GM)
    by_owner = parts_of(party, npcs=npcs, entries=entries)
    ranked = [
        RankedPart(part, " · ".join(near.reasons[:2]), near.weight)
        for owner, parts in by_owner.items()
        for part in parts
        if not part.is_known and (near := things.near[owner])
    ]
    ranked.sort(key=lambda each: (-each.weight, each.part.owner_name, not each.part.is_whole))
    return ranked[:MOST_PARTS]


def find_in_play(
    party: Party, scene: Scene | None, threads: Sequence[Thread], texts: Sequence[str]
) -> InPlay:
    things = InPlay()
    if scene:
        cast = NPC.objects.filter(world=party.world_id, slug__in=scene.cast)
        here = [scene.place_lore_id, *cast.values_list("pk", flat=True)]
        things.add(here, IN_SCENE, _("in the open scene"))
    add_episodes(things, party)
    add_threads(things, party, threads, texts)
    add_biographies(things, party)
    add_neighbours(things, party)
    return things


def add_episodes(things: InPlay, party: Party) -> None:
    """Who was there, where it was, and what the texts name."""
    rows = Episode.objects.of_party(party).not_retracted().with_source().latest_first()
    latest = list(rows[:EPISODES])
    weights = {row.pk: IN_EPISODE[position] for position, row in enumerate(latest)}
    reasons = {row.pk: _("in “%(title)s”") % {"title": title_of(row, GM)} for row in latest}
    ids = list(weights)
    pairs = list(Mention.objects.filter(episode__in=ids).values_list("episode", "lore"))
    pairs += Appearance.objects.filter(episode__in=ids).values_list("episode", "npc")
    links = Link.objects.filter(source_kind="episode", source_id__in=ids)
    for source, targets in links.values_list("source_id", "targets"):
        pairs += [(source, target) for target in targets]
    for episode in latest:
        # Each thing once for each episode, however often it is named.
        own = {thing for source, thing in pairs if source == episode.pk}
        things.add(own, weights[episode.pk], reasons[episode.pk])


def add_threads(
    things: InPlay, party: Party, threads: Sequence[Thread], texts: Sequence[str]
) -> None:
    """What `texts` and the last steps of open threads name."""
    steps = Step.objects.filter(thread__in=threads).order_by("-pk")
    last = steps.values_list("text", flat=True)[:MOST_STEPS]
    # Each once: lines that come again name the same.
    text = "\n".join(dict.fromkeys([*texts, *last]))[:LONGEST_TEXT]
    if not text.strip():
        return
    # `NameTable.index` has whole names.
    table = read_names(party.world, (), text=text, misspelt=False, parts=False)
    mentions = table.index.mentions(text, typos=False)
    named = {match.key for mention in mentions for match in mention.matches}
    rows = [thing for thing in table.things if thing.id in named]
    ids = {each for thing in rows for each in (thing.id, thing.root)}
    things.add(ids, IN_THREAD, _("named in an open thread"))


def add_biographies(things: InPlay, party: Party) -> None:
    """The entry of a person is as near as the person."""
    rows = NPC.objects.filter(world=party.world_id, pk__in=things.near, biography__kind="biography")
    for npc, entry in rows.values_list("pk", "biography"):
        near = things.near[npc]
        things.near.setdefault(entry, Near(near.weight, near.reasons))


def add_neighbours(things: InPlay, party: Party) -> None:
    """What is one relation away from what is in play."""
    nodes = GraphNode.objects.believed_now().in_world(party.world)
    slugs = NPC.objects.filter(pk__in=things.near).values("slug")
    is_person = Q(kind=NodeKind.CHARACTER, slug__in=slugs)
    own = set(nodes.filter(Q(lore__in=things.near) | is_person).values_list("pk", flat=True))
    neighbours = direct_neighbors(own, View(party.world, GM)).nearest[:MOST_THINGS]
    reasons = {each.node.slug: fact_sentence(each.facts[0]) for each in neighbours}
    npcs = NPC.objects.filter(world=party.world_id, slug__in=reasons)
    by_slug = {slug: pk for pk, slug in npcs.values_list("pk", "slug")}
    for each in neighbours:
        npc = by_slug.get(each.node.slug) if each.node.kind == NodeKind.CHARACTER else None
        for pk in (npc, each.node.lore_id):
            if pk is not None and pk not in things.near:
                things.add([pk], NEIGHBOUR, reasons[each.node.slug])
