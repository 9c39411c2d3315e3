"""`manage.py fill_graph` fills the graph of a world that was written before."""

import io

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from knowledge.graph.fact_store import retract_facts
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.schemas import LoreIn
from knowledge.upsert import upsert_lore
from npcs.models import NPC
from npcs.schemas import NPCIn
from npcs.upsert import upsert_npc
from worlds.models import World

pytestmark = pytest.mark.django_db


def fill(**options: str) -> str:
    out = io.StringIO()
    call_command("fill_graph", stdout=out, **options)
    return out.getvalue()


def test_it_makes_what_is_missing_and_repeats_nothing(world: World) -> None:
    upsert_lore(world, LoreIn(title="The Stumps", kind="place"))
    upsert_lore(world, LoreIn(title="Ferry", kind="item", body="Location: [[The Stumps]]"))
    upsert_npc(world, NPCIn(npc_id="mira", name="Mira", home="The Stumps"))
    GraphNode.objects.filter(source_ref__startswith="lore:").delete()
    assert not GraphEdge.objects.exists()
    assert fill(world=world.slug) == "ferrymark: 2 entities, 2 facts\n"
    facts = GraphEdge.objects.values_list("src__name", "label", "dst__name")
    assert sorted(facts) == [("Ferry", "", "The Stumps"), ("Mira", "lives in", "The Stumps")]
    retract_facts(list(GraphEdge.objects.all()), because="a game master said so")
    assert fill() == "ferrymark: 0 entities, 0 facts\n"


def test_it_links_fields_that_were_written_before_their_entries(world: World) -> None:
    mira, _outcome = upsert_npc(world, NPCIn(npc_id="mira", name="Mira", home="The Stumps"))
    stumps, _outcome = upsert_lore(world, LoreIn(title="The Stumps", kind="place"))
    GraphEdge.objects.all().delete()
    NPC.objects.filter(pk=mira.pk).update(home_lore=None)
    assert fill() == "ferrymark: 0 entities, 1 facts\n"
    assert NPC.objects.get(pk=mira.pk).home_lore == stumps


def test_a_world_that_does_not_exist_is_named() -> None:
    with pytest.raises(CommandError, match="nowhere"):
        fill(world="nowhere")
