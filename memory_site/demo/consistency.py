"""What must hold in the demo world: every reference resolves, dates agree with the calendar, nothing hidden is named in
the open. Each check yields sentences about what is wrong; a sound world yields none."""

from collections.abc import Iterator
from itertools import combinations

from memory_site.demo.world_files import DemoWorld, Edge, Reveal

JOINS: dict[str, set[tuple[str, str]]] = {
    "KNOWS": {("Character", "Character")},
    "LOCATED_IN": {(kind, "Location") for kind in ("Character", "Item", "Faction", "Event")},
    "OWNS": {("Character", "Location"), ("Faction", "Location")},
    "OWNED_BY": {("Item", "Character"), ("Item", "Faction")},
    "ALLY_WITH": {("Character", "Character"), ("Character", "Faction"), ("Faction", "Faction")},
    "ENEMY_OF": {("Character", "Character"), ("Character", "Faction"), ("Faction", "Faction")},
    "PART_OF": {
        ("Location", "Location"),
        ("Character", "Faction"),
        ("Faction", "Faction"),
        ("Item", "Item"),
    },
    "INVOLVES": {
        (whole, part)
        for whole in ("Quest", "Event")
        for part in ("Character", "Location", "Item", "Faction")
    },
}
SINGLE_VALUED = {"LOCATED_IN", "OWNED_BY"}
MUTUAL = {"ALLY_WITH", "ENEMY_OF", "KNOWS"}


def problems(world: DemoWorld) -> list[str]:
    checks = (names, links, dates, people, scenes, reveals, art, facts)
    return [sentence for check in checks for sentence in check(world)]


def names(world: DemoWorld) -> Iterator[str]:
    """A name belongs to one entry only, so that a link never has to guess."""
    owners: dict[str, str] = {}
    for entry in world.lore.values():
        for name in {each.lower() for each in entry.names}:
            if owners.setdefault(name, entry.slug) != entry.slug:
                yield f"{name!r} names both {owners[name]} and {entry.slug}"


def links(world: DemoWorld) -> Iterator[str]:
    for entry in world.lore.values():
        try:
            world.links(entry.body)
        except KeyError as missing:
            yield f"{entry.slug} links to {missing}, which is no entry"
            continue
        for target in world.links(entry.open_text):
            if entry.visibility == "public" and target.visibility != "public":
                yield f"{entry.slug} is public and names the hidden {target.slug} in the open"


def dates(world: DemoWorld) -> Iterator[str]:
    day = world.setting.calendar.day
    dated = [(entry.slug, entry.in_world_at, entry.in_world_label) for entry in world.lore.values()]
    dated += [(scene.slug, scene.in_world_at, scene.in_world_label) for scene in world.scenes]
    dated += [
        (npc.slug, fact.at, fact.label) for npc in world.npcs.values() for fact in npc.in_world
    ]
    for slug, at, label in dated:
        if (at is None) != (label == "") or (at is not None and int(at) != day(label)):
            yield f"{slug}: day {at} is not {label!r}"


def people(world: DemoWorld) -> Iterator[str]:
    for npc in world.npcs.values():
        for slug in filter(None, (npc.faction, npc.home, npc.lore)):
            if slug not in world.lore:
                yield f"{npc.slug} points to {slug}, which is no entry"
        if (
            npc.visibility == "public"
            and npc.faction
            and world.lore[npc.faction].visibility != "public"
        ):
            yield f"{npc.slug} is public and belongs to the hidden {npc.faction}"


def scenes(world: DemoWorld) -> Iterator[str]:
    members = {
        party.slug: {member.name for member in party.members} for party in world.setting.parties
    }
    for scene in world.scenes:
        episode = scene.episode
        same = (episode.scene_id, episode.party_id, episode.where, episode.when.in_world_at)
        if same != (scene.slug, scene.party, scene.place, scene.in_world_at):
            yield f"{scene.slug} and its summary disagree"
        if not set(episode.who.players) <= members.get(scene.party, set()):
            yield f"{scene.slug}: a player is not of {scene.party}"
        if (
            not {delta.npc for delta in episode.relations_delta}
            <= set(episode.who.npcs)
            <= set(world.npcs)
        ):
            yield f"{scene.slug}: an NPC is unknown, or changed without being there"
        if scene.place not in world.lore or episode.campaign_id != world.setting.campaign.slug:
            yield f"{scene.slug}: unknown place or campaign"


def reveals(world: DemoWorld) -> Iterator[str]:
    """What a scene reveals is known to those it names: the files hold the state after the last session."""
    for scene in world.scenes:
        for reveal in scene.reveals:
            if not set(reveal.to) <= set(_known_to(world, reveal)):
                yield f"{scene.slug}: {reveal.lore or reveal.npc} does not say that {reveal.to} know it"


def _known_to(world: DemoWorld, reveal: Reveal) -> list[str]:
    page = world.npcs[reveal.npc] if reveal.npc else world.lore[reveal.lore]
    return page.known_to if reveal.secret is None else page.secrets[reveal.secret - 1].known_to


def art(world: DemoWorld) -> Iterator[str]:
    places = {scene.slug for scene in world.scenes} | {""}
    for card in world.art:
        if card.scene_id not in places or not set(card.entities) <= set(world.nodes):
            yield f"{card.image_id}: unknown scene or entity"


def facts(world: DemoWorld) -> Iterator[str]:
    sources = {f"lore:{slug}" for slug in world.lore} | {f"npc:{slug}" for slug in world.npcs}
    sources |= {f"episode:{scene.episode.summary_id}" for scene in world.scenes}
    for fact in world.graph.facts:
        label = f"{fact.src} {fact.edge} {fact.dst}"
        if not {fact.src, fact.dst} <= set(world.nodes) or fact.source not in sources:
            yield f"{label}: unknown node or source"
        elif (
            fact.edge != "RELATES_TO"
            and (_kind(world, fact.src), _kind(world, fact.dst)) not in JOINS[fact.edge]
        ):
            yield f"{label}: these kinds may not be joined"
        elif fact.visibility == "public" and not _is_public(world, fact):
            yield f"{label} is public and one of its ends is not"
        if fact.since is not None and fact.until is not None and fact.since >= fact.until:
            yield f"{label} ends before it begins"


def _kind(world: DemoWorld, node: str) -> str:
    return world.nodes[node].kind


def _is_public(world: DemoWorld, fact: Edge) -> bool:
    return all(world.nodes[end].visibility == "public" for end in (fact.src, fact.dst))


def contradictions(world: DemoWorld) -> list[tuple[Edge, Edge]]:
    """Pairs of facts that cannot both hold at the same time, or say the same thing twice."""
    return [
        pair
        for pair in combinations(world.graph.facts, 2)
        if pair[0].overlaps(pair[1]) and _clash(*pair)
    ]


def _clash(one: Edge, other: Edge) -> bool:
    if one.edge in SINGLE_VALUED and one.edge == other.edge and one.src == other.src:
        return True
    same_pair = {one.src, one.dst} == {other.src, other.dst}
    if {one.edge, other.edge} == {"ALLY_WITH", "ENEMY_OF"}:
        return same_pair
    return one.edge == other.edge and one.edge in MUTUAL and same_pair
