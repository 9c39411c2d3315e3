"""Load the demo world through the apps' own rooms. All of it or nothing; what is there already is left as it is."""

from collections.abc import Callable

from django.db import transaction

from knowledge.entry_store import save_all
from knowledge.models import Lore
from knowledge.srd.load import game_system
from memory_site.demo.load_graph import load_graph
from memory_site.demo.load_history import load_living
from memory_site.demo.world_files import DemoWorld, read_world
from worlds.models import Campaign, Party, World

Counts = dict[str, int]


@transaction.atomic
def load(demo: DemoWorld, *, again: bool = False) -> Counts:
    """Load `demo` and return how much of what was loaded. A world that is there is left to its designers (an empty
    result), unless `again` asks for the demo's own text back."""
    if World.objects.filter(slug=demo.setting.slug).exists() and not again:
        return {}
    world = load_setting(demo)
    return {name: count for stage in STAGES for name, count in stage(demo, world).items()}


def load_setting(demo: DemoWorld) -> World:
    setting = demo.setting
    values = {
        "name": setting.name,
        "language": setting.language,
        "description": setting.description,
    }
    world, _new = World.objects.update_or_create(
        slug=setting.slug, defaults={**values, "system": game_system("5.1")}
    )
    campaign, _new = Campaign.objects.update_or_create(
        world=world, slug=setting.campaign.slug, defaults={"name": setting.campaign.name}
    )
    for party in setting.parties:
        members = [member.name for member in party.members]
        Party.objects.update_or_create(
            world=world,
            slug=party.slug,
            defaults={"campaign": campaign, "name": party.name, "members": members},
        )
    return world


def load_lore(demo: DemoWorld, world: World) -> Counts:
    stored = {entry.slug: entry for entry in Lore.objects.filter(world=world, campaign=None)}
    entries = []
    for slug, entry in demo.lore.items():
        row = stored.get(slug) or Lore(world=world, slug=slug)
        for name, value in entry.model_dump(exclude={"slug"}).items():
            setattr(row, name, value)
        row.status, row.author, row.origin = Lore.Status.PUBLISHED, "Memory37", "demo"
        entries.append(row)
    save_all(entries, reason="demo")
    return {"lore": len(entries)}


STAGES: tuple[Callable[[DemoWorld, World], Counts], ...] = (load_lore, load_graph, load_living)
"""In the order in which one needs the other."""


def load_demo(*, again: bool = False) -> Counts:
    """Load the demo world of the project; an empty result says that it was there."""
    return load(read_world(), again=again)
