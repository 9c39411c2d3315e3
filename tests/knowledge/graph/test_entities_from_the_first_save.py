"""A thing of the world is an entity of the relation graph from its first save, whoever saves it."""

import importlib
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from knowledge.entry_store import save_entry
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.schemas import EdgeFact, GraphFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore
from knowledge.schemas import LoreIn
from knowledge.trash import restore_lore, trash_lore
from knowledge.upsert import upsert_lore, upsert_lore_batch
from npcs.models import NPC
from npcs.schemas import NPCIn
from npcs.trash import restore_npcs, trash_npcs
from npcs.upsert import upsert_npc
from retrieval.errors import Conflict
from tests.cast import create_campaign
from worlds.audiences import PUBLIC, Audience
from worlds.models import World
from worlds.reveals import reveal, undo_reveal

pytestmark = pytest.mark.django_db
PARTY = Audience("party", "lanternbearers")


def save(world: World, title: str, kind: str = "place", **fields: Any) -> Lore:
    values = {"status": "published", "visibility": "public", **fields}
    entry = LoreIn.model_validate({"title": title, "kind": kind, **values})
    return upsert_lore(world, entry)[0]


def entities(world: World) -> set[tuple[str, str, str]]:
    rows = GraphNode.objects.believed_now().filter(world=world)
    return set(rows.values_list("kind", "slug", "visibility"))


def write_npc(world: World, **fields: Any) -> NPC:
    return upsert_npc(world, NPCIn.model_validate({"visibility": "public", **fields}))[0]


def test_every_kind_that_takes_part_in_relations_is_an_entity_at_once(world: World) -> None:
    kinds = ("place", "faction", "biography", "item", "event", "quest", "timeline", "custom")
    for kind in kinds:
        save(world, f"The {kind}", kind)
    made = dict(GraphNode.objects.filter(world=world).values_list("slug", "kind"))
    assert made == {
        "the-place": "Location",
        "the-faction": "Faction",
        "the-biography": "Character",
        "the-item": "Item",
        "the-event": "Event",
        "the-quest": "Quest",
        "the-timeline": "Event",
    }


def test_entries_saved_in_a_batch_are_entities(world: World) -> None:
    entries = [LoreIn(slug=f"p{n}", title=f"Place {n}", kind="place") for n in range(3)]
    upsert_lore_batch(world, entries)
    assert entities(world) == {("Location", f"p{n}", "gm") for n in range(3)}


def test_a_draft_and_a_hidden_entry_are_entities_for_game_masters_alone(world: World) -> None:
    save(world, "The Tower", status="draft")
    save(world, "The Well", visibility="gm")
    save(world, "The Mill", visibility="revealed", known_to=[str(PARTY)])
    shown = GraphNode.objects.visible_to(PARTY).values_list("name", flat=True)
    assert list(shown) == ["The Mill"]
    assert not GraphNode.objects.visible_to(PUBLIC).exists()


def test_an_entry_of_a_campaign_is_none(world: World) -> None:
    save(world, "The Tower", campaign=create_campaign(world).slug)
    assert entities(world) == set()


def test_an_entry_moved_to_a_campaign_hides_its_entity(world: World) -> None:
    tower = save(world, "The Tower")
    tower.campaign = create_campaign(world)
    save_entry(tower)
    assert entities(world) == {("Location", "the-tower", "gm")}


def test_the_entity_follows_the_name_the_audience_and_the_kind(world: World) -> None:
    tower = save(world, "The Tower", aliases=["Old Spire"])
    node = GraphNode.objects.get(lore=tower)
    GraphNode.objects.filter(pk=node.pk).update(aliases=["Old Spire", "Башня"])
    save(world, "The Spire", slug="the-tower", aliases=["The Needle"])
    node.refresh_from_db()
    assert (node.name, node.aliases) == ("The Spire", ["The Needle", "Башня"])
    save(world, "The Spire", slug="the-tower", visibility="gm")
    assert entities(world) == {("Location", "the-tower", "gm")}
    save(world, "The Spire", kind="faction", slug="the-tower")
    assert entities(world) == {("Faction", "the-tower", "public")}


def test_a_save_that_does_not_touch_the_audience_opens_no_hidden_entity(world: World) -> None:
    tower = save(world, "The Tower")
    GraphNode.objects.filter(lore=tower).update(visibility="gm")
    save(world, "The Tower", body="It leans.")
    assert entities(world) == {("Location", "the-tower", "gm")}


def test_a_kind_that_its_relations_do_not_fit_is_refused(world: World) -> None:
    save(world, "The Tower")
    save(world, "Osk", "biography")
    lives = EdgeFact(src="osk", relation="LOCATED_IN", dst="the-tower")
    upsert_facts(world, [GraphFact(edge=lives)])
    with pytest.raises(Conflict, match="The Tower"):
        save(world, "The Tower", "biography")
    assert Lore.objects.get(slug="the-tower").kind == "place"


def test_a_reveal_opens_the_entity_and_undoing_it_hides_it(world: World) -> None:
    tower = save(world, "The Tower", visibility="gm")
    entry = reveal(tower, PARTY)
    assert GraphNode.objects.visible_to(PARTY).filter(lore=tower).exists()
    undo_reveal(entry)
    assert not GraphNode.objects.visible_to(PARTY).exists()


def test_the_trash_hides_the_entity_and_restoring_shows_it(world: World) -> None:
    tower = save(world, "The Tower")
    trash_lore([tower], by="gm")
    assert entities(world) == set()
    restore_lore([tower], by="gm")
    assert entities(world) == {("Location", "the-tower", "public")}


def test_deleting_an_entry_for_good_deletes_its_entity(world: World) -> None:
    tower = save(world, "The Tower")
    trash_lore([tower], by="gm")
    Lore.with_trash.get(pk=tower.pk).delete_for_good()
    assert not GraphNode.objects.filter(world=world).exists()


# --- beside NPCs


def test_the_entity_of_a_biography_becomes_that_of_its_npc(world: World) -> None:
    save(world, "Mira of the Lanterns", "biography")
    node = GraphNode.objects.get(world=world)
    write_npc(world, npc_id="mira-voss", name="Mira Voss", biography="mira-of-the-lanterns")
    assert entities(world) == {("Character", "mira-voss", "public")}
    assert GraphNode.objects.get(world=world).pk == node.pk


def test_a_biography_written_after_its_npc_gets_no_second_entity(world: World) -> None:
    write_npc(world, npc_id="mira-voss", name="Mira Voss", visibility="gm")
    page = save(world, "Mira Voss", "biography", slug="mira")
    assert entities(world) == {("Character", "mira-voss", "gm")}, "nor does it open the NPC's"
    write_npc(world, npc_id="mira-voss", name="Mira Voss", biography="mira", visibility="gm")
    save(world, "Mira of Ferrymark", "biography", slug="mira")
    assert list(GraphNode.objects.filter(lore=page).values_list("name", "visibility")) == [
        ("Mira Voss", "gm")
    ]


def test_a_place_of_the_same_slug_keeps_its_entity_beside_the_npc(world: World) -> None:
    save(world, "Quill")
    write_npc(world, npc_id="quill", name="Quill")
    assert entities(world) == {("Location", "quill-2", "public"), ("Character", "quill", "public")}


def test_an_npc_comes_back_from_the_trash_under_its_own_slug(world: World) -> None:
    npc = write_npc(world, npc_id="mira-voss", name="Mira Voss")
    trash_npcs([npc], by="gm")
    save(world, "Mira Voss", "biography")
    restore_npcs([npc], by="gm")
    assert entities(world) == {("Character", "mira-voss", "public")}


# --- worlds from before


def test_the_migration_makes_the_entities_that_are_missing(world: World) -> None:
    migration = importlib.import_module("knowledge.migrations.0027_entities_of_entries")
    save(world, "Vess Marlow", "biography", slug="vess-page")
    save(world, "The Tower", aliases=["Old Spire"])
    save(world, "Low Water", "event", status="draft")
    trash_lore([save(world, "The Well")], by="gm")
    before = entities(world)
    GraphNode.objects.filter(world=world, believed_until=None).delete()
    write_npc(world, npc_id="vess", name="Vess Marlow", biography="vess-page")
    with connection.schema_editor() as editor:
        migration.make_entities(apps, editor)
        migration.make_entities(apps, editor)
    assert entities(world) == before - {("Character", "vess-page", "public")} | {
        ("Character", "vess", "public")
    }
    tower = GraphNode.objects.get(slug="the-tower")
    assert (tower.aliases, tower.lore.title) == (["Old Spire"], "The Tower")  # type: ignore[union-attr]
    assert tower.keys
    assert not GraphEdge.objects.exists()
