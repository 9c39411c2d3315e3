"""Load the demo world through the services that the API uses: all of it or nothing."""

from collections.abc import Callable

from django.db import transaction

from art.upsert import ingest_art
from episodes.ingest import ingest_episode
from episodes.scenes import upsert_scene, upsert_session
from knowledge.graph.schemas import GraphFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore
from knowledge.srd.load import game_system
from knowledge.upsert import upsert_lore_batch
from memory_site.demo.world_files import DemoScene, DemoWorld, read_world
from npcs.disposition_rules import set_rules
from npcs.dispositions import approve
from npcs.models import DispositionChange
from npcs.upsert import upsert_npc
from worlds.characters import set_members
from worlds.models import Campaign, Party, World
from worlds.world_calendar import calendar_version, save_calendar

Counts = dict[str, int]


def load_demo(*, again: bool = False) -> Counts:
    """Load the demo world of the project. The result is empty when it exists already."""
    return load(read_world(), again=again)


@transaction.atomic
def load(demo: DemoWorld, *, again: bool = False) -> Counts:
    """Load `demo` and return how much of what was loaded. A world that exists is left as its
    designers made it (an empty result), unless `again` asks for the demo's own text."""
    if World.objects.filter(slug=demo.setting.slug).exists() and not again:
        return {}
    world = load_setting(demo)
    return {name: count for stage in STAGES for name, count in stage(demo, world).items()}


def load_setting(demo: DemoWorld) -> World:
    setting = demo.setting
    values = setting.model_dump(include={"name", "language", "description"})
    world, _new = World.objects.update_or_create(
        slug=setting.slug, defaults={**values, "system": game_system("5.1")}
    )
    campaign, _new = Campaign.objects.update_or_create(
        world=world, slug=setting.campaign["slug"], defaults={"name": setting.campaign["name"]}
    )
    for party in setting.parties:
        members = [member["name"] for member in party.members]
        values = {"campaign": campaign, "name": party.name}
        row, _new = Party.objects.update_or_create(world=world, slug=party.slug, defaults=values)
        set_members(row, members)
    if calendar_version(world) is None:
        save_calendar(world, setting.calendar.definition(setting.language), by="demo")
        set_rules(world, **setting.disposition_rules)
    return world


def load_lore(demo: DemoWorld, world: World) -> Counts:
    upsert_lore_batch(world, list(demo.lore.values()), reason="demo")
    return {"lore": len(demo.lore)}


def load_graph(demo: DemoWorld, world: World) -> Counts:
    """Write the entities and facts. Opens the contradiction that the demo contains on purpose."""
    lore = dict(Lore.objects.filter(world=world, campaign=None).values_list("slug", "pk"))
    nodes = [
        GraphFact(node=node.model_copy(update={"lore_id": lore.get(node.source_ref)}))
        for node in demo.all_nodes.values()
    ]
    result = upsert_facts(world, [*nodes, *(GraphFact(edge=fact) for fact in demo.facts)])
    return {"entities": len(result.nodes), "facts": len(result.edges)}


def load_history(demo: DemoWorld, world: World) -> Counts:
    """Load NPCs, sessions, scenes, episodes and art. Campaign, parties and lore must be there."""
    for npc in demo.npcs.values():
        upsert_npc(world, npc)
    for session in demo.sessions:
        upsert_session(world, session.session)
        for scene in session.scenes:
            upsert_scene(world, scene.scene)
            ingest_episode(world, scene.episode, came_from="demo")
            approve_changes(world, scene)
    for card in demo.art:
        ingest_art(world, card)
    return {
        "npcs": len(demo.npcs),
        "sessions": len(demo.sessions),
        "episodes": len(demo.scenes),
        "art": len(demo.art),
    }


def approve_changes(world: World, scene: DemoScene) -> None:
    held = DispositionChange.objects.in_world(world).pending()
    of_episode = held.filter(episode__external_id=scene.episode.summary_id)
    for change in of_episode.filter(npc__slug__in=scene.approved):
        approve(change, made_by="demo")


# In this order: each stage refers to rows of the one before.
STAGES: tuple[Callable[[DemoWorld, World], Counts], ...] = (load_lore, load_graph, load_history)
