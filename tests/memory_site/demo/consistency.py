"""What must hold in the demo world: every reference resolves, dates agree with the calendar, public
text names nothing hidden. Each check yields sentences about what is wrong."""

from collections.abc import Iterator
from itertools import combinations

import yaml

from episodes.schemas import EpisodeReveal
from knowledge.graph.relations import SEED
from knowledge.graph.schemas import EdgeFact
from knowledge.schemas import LoreIn
from memory_site.demo.world_files import DemoWorld
from retrieval.text import link_targets, parse_secret, split_secrets, without_secrets

RELATIONS = yaml.safe_load(SEED.read_text())["relations"]
SINGLE_VALUED = {"LOCATED_IN", "OWNED_BY"}
MUTUAL = {code for code, relation in RELATIONS.items() if relation.get("symmetric")} - {
    "RELATES_TO"
}


def secrets(entry: LoreIn) -> list[tuple[str, list[str]]]:
    """Return text and audiences of each secret block, in order."""
    blocks = [parse_secret(raw) for raw, is_secret in split_secrets(entry.body) if is_secret]
    return [(block.body.strip(), list(block.audiences)) for block in blocks]


def names(slug: str, entry: LoreIn) -> set[str]:
    return {name.lower() for name in (slug, entry.title, *entry.aliases)}


def problems(world: DemoWorld) -> list[str]:
    checks = (check_names, check_links, check_dates, check_people, check_scenes, check_reveals)
    return [sentence for check in (*checks, check_art, check_facts) for sentence in check(world)]


def check_names(world: DemoWorld) -> Iterator[str]:
    """A name belongs to one entry only, so that no link is ambiguous."""
    owners: dict[str, str] = {}
    for slug, entry in world.lore.items():
        for name in names(slug, entry):
            if owners.setdefault(name, slug) != slug:
                yield f"{name!r} names both {owners[name]} and {slug}"


def check_links(world: DemoWorld) -> Iterator[str]:
    by_name = {name: slug for slug, entry in world.lore.items() for name in names(slug, entry)}
    for slug, entry in world.lore.items():
        for name in map(str.lower, link_targets(entry.body)):
            if name not in by_name:
                yield f"{slug} links to {name!r}, which is no entry"
        for name in map(str.lower, link_targets(without_secrets(entry.body))):
            target = by_name.get(name, slug)
            if entry.visibility == "public" and world.lore[target].visibility != "public":
                yield f"{slug} is public and names the hidden {target} in the open"


def check_dates(world: DemoWorld) -> Iterator[str]:
    dated = [(slug, entry.in_world_at, entry.in_world_label) for slug, entry in world.lore.items()]
    dated += [
        (played.scene.scene_id, played.scene.in_world_at, played.scene.in_world_label)
        for played in world.scenes
    ]
    dated += [
        (slug, each.at, each.label) for slug, npc in world.npcs.items() for each in npc.milestones
    ]
    for slug, at, label in dated:
        if (at is None) != (label == "") or (at is not None and int(at) != day(world, label)):
            yield f"{slug}: day {at} is not {label!r}"


def day(world: DemoWorld, label: str) -> int:
    """The world day of a label such as `12 Lantern 212` or `12 Lantern 212, evening`."""
    calendar = world.setting.calendar
    number, month, year = label.split(",")[0].split()
    months = [each["en"] for each in calendar.months]
    return (
        (int(year) * len(months) + months.index(month)) * calendar.days_per_month + int(number) - 1
    )


def check_people(world: DemoWorld) -> Iterator[str]:
    for slug, npc in world.npcs.items():
        for ref in filter(None, (npc.faction, npc.home, npc.biography)):
            if ref not in world.lore:
                yield f"{slug} points to {ref}, which is no entry"
        faction = world.lore.get(npc.faction)
        if npc.visibility == "public" and faction and faction.visibility != "public":
            yield f"{slug} is public and belongs to the hidden {npc.faction}"


def check_scenes(world: DemoWorld) -> Iterator[str]:
    members = {
        party.slug: {each["name"] for each in party.members} for party in world.setting.parties
    }
    for played in world.scenes:
        scene, episode = played.scene, played.episode
        same = (episode.scene_id, episode.party_id, episode.where, episode.when.in_world_at)
        if same != (scene.scene_id, scene.party_id, scene.place, scene.in_world_at):
            yield f"{scene.scene_id} and its summary disagree"
        if not set(episode.who.players) <= members[episode.party_id]:
            yield f"{scene.scene_id}: a player is not of {scene.party_id}"
        moved = {delta.npc for delta in episode.relations_delta}
        if not moved <= set(episode.who.npcs) <= set(world.npcs):
            yield f"{scene.scene_id}: an NPC is unknown, or changed without being there"
        if scene.place not in world.lore or episode.campaign_id != world.setting.campaign["slug"]:
            yield f"{scene.scene_id}: unknown place or campaign"


def check_reveals(world: DemoWorld) -> Iterator[str]:
    """What a scene reveals is known to those it names: the files hold the state after the last
    session.
    """
    for played in world.scenes:
        for reveal in played.episode.reveals:
            if not set(reveal.to) <= set(_known_to(world, reveal)):
                name = reveal.lore or reveal.npc
                yield f"{played.scene.scene_id}: {name} does not say that {reveal.to} know it"


def _known_to(world: DemoWorld, reveal: EpisodeReveal) -> list[str]:
    if reveal.npc:
        npc = world.npcs[reveal.npc]
        return npc.secrets[reveal.secret - 1].known_to if reveal.secret else npc.known_to
    entry = world.lore[reveal.lore or ""]
    return secrets(entry)[reveal.secret - 1][1] if reveal.secret else entry.known_to


def check_art(world: DemoWorld) -> Iterator[str]:
    scene_ids = {played.scene.scene_id for played in world.scenes} | {None}
    for card in world.art:
        if card.scene_id not in scene_ids or not set(card.entities) <= set(world.all_nodes):
            yield f"{card.image_id}: unknown scene or entity"


def check_facts(world: DemoWorld) -> Iterator[str]:
    nodes = world.all_nodes
    sources = {("lore", slug) for slug in world.lore}
    sources |= {("editor", f"npc:{slug}") for slug in world.npcs}
    sources |= {("episode", played.episode.summary_id) for played in world.scenes}
    for fact in world.facts:
        src, dst = nodes.get(str(fact.src)), nodes.get(str(fact.dst))
        label = f"{fact.src} {fact.relation} {fact.dst}"
        if src is None or dst is None or (fact.source_kind, fact.source_ref) not in sources:
            yield f"{label}: unknown node or source"
        elif dst.kind not in RELATIONS[fact.relation]["joins"].get(src.kind, ()):
            yield f"{label}: these kinds may not be joined"
        elif fact.visibility == "public" and {src.visibility, dst.visibility} != {"public"}:
            yield f"{label} is public and one of its ends is not"


def contradictions(world: DemoWorld) -> list[tuple[EdgeFact, EdgeFact]]:
    """Pairs of facts that cannot both hold at the same time, or say the same thing twice."""
    return [pair for pair in combinations(world.facts, 2) if _overlap(*pair) and _clash(*pair)]


def _overlap(one: EdgeFact, other: EdgeFact) -> bool:
    pairs = ((one.since, other.until), (other.since, one.until))
    return all(since is None or until is None or since < until for since, until in pairs)


def _clash(one: EdgeFact, other: EdgeFact) -> bool:
    if one.relation in SINGLE_VALUED and (one.relation, one.src) == (other.relation, other.src):
        return True
    same_pair = {one.src, one.dst} == {other.src, other.dst}
    if {one.relation, other.relation} == {"ALLY_WITH", "ENEMY_OF"}:
        return same_pair
    return one.relation == other.relation and one.relation in MUTUAL and same_pair
