"""`manage.py fill_graph`: the entities and facts of a world that was written before they were made
on each save."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from episodes.models import Episode
from knowledge.entry_entities import make_missing_entities
from knowledge.entry_facts import complete_texts
from knowledge.graph.models import SCENE, GraphEdge
from knowledge.graph.upsert import lock_graph
from knowledge.models import Lore
from npcs.field_facts import all_fields, write_field_facts
from npcs.field_links import npcs_without_entry
from npcs.models import FACT_SOURCE, NPC, fact_source_ref
from npcs.scene_facts import read_scenes, write_scene_facts
from npcs.upsert import store_npcs
from retrieval.errors import Problem
from worlds.lookup import find_world
from worlds.models import World

BATCH = 500


class Command(BaseCommand):
    help = (
        "Make the entities of entries that have none, and write the facts that texts and pages of "
        "NPCs state and that the graph has never heard from them."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--world", help="Slug; default: all worlds.")

    def handle(self, *_args: Any, world: str | None, **_options: Any) -> None:
        try:
            worlds = [find_world(world)] if world else list(World.objects.order_by("slug"))
        except Problem as problem:
            raise CommandError(str(problem)) from problem
        for each in worlds:
            entities, facts = fill_graph(each)
            self.stdout.write(f"{each.slug}: {entities} entities, {facts} facts")


def write_missing_scenes(world: World) -> None:
    """Write what the episodes state of which the graph has never heard."""
    heard = GraphEdge.objects.filter(world=world, source_ref__endswith=SCENE)
    known = {ref.removesuffix(SCENE) for ref in heard.values_list("source_ref", flat=True)}
    dated = Episode.objects.in_world(world).not_retracted().exclude(in_world_at=None)
    refs = dated.order_by("in_world_at", "pk").values_list("pk", "external_id")
    missing = [pk for pk, ref in refs if ref not in known]
    for at in range(0, len(missing), BATCH):
        rows = Episode.objects.filter(pk__in=missing[at : at + BATCH])
        write_scene_facts(world, read_scenes(list(rows.select_related("party", "world"))))


@transaction.atomic
def fill_graph(world: World) -> tuple[int, int]:
    """Return how many entities and facts were written."""
    lock_graph(world)
    entities = make_missing_entities(world)
    before = GraphEdge.objects.filter(world=world).count()
    entries = list(Lore.objects.filter(world=world, campaign=None).order_by("pk"))
    for at in range(0, len(entries), BATCH):
        complete_texts(world, entries[at : at + BATCH])
    store_npcs(npcs_without_entry(world), reason="the entry of a name was written")
    rows = GraphEdge.objects.filter(world=world, source_kind=FACT_SOURCE)
    known = set(rows.values_list("source_ref", flat=True))
    people = [npc for npc in NPC.objects.filter(world=world) if fact_source_ref(npc) not in known]
    write_field_facts(world, all_fields(people))
    write_missing_scenes(world)
    return entities, GraphEdge.objects.filter(world=world).count() - before
