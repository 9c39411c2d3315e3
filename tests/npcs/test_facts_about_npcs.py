"""What texts of entries state about NPCs that have no biography is a fact, too."""

from typing import Any

import pytest

from knowledge.graph.models import GraphEdge
from knowledge.graph.protocol import View
from knowledge.models import Lore
from knowledge.schemas import LoreIn
from knowledge.upsert import upsert_lore
from npcs.models import NPC
from npcs.schemas import NPCIn
from npcs.trash import restore_npcs, trash_npcs
from npcs.upsert import upsert_npc
from worlds.audiences import GM, PUBLIC, Audience
from worlds.models import World
from worlds.reveals import reveal

pytestmark = pytest.mark.django_db
PARTY = Audience("party", "lanternbearers")
BODY = "## Members\n\n- [[Mira Voss]]\n\n**Head:** [[Mira Voss]]\n\nMentor:: [[Orrin]]"
FACTS = {
    ("Mira Voss", "PART_OF", "Ferrymen's Guild"),
    ("Mira Voss", "leads", "Ferrymen's Guild"),
    ("Orrin", "mentor of", "Ferrymen's Guild"),
}


def npc(world: World, name: str, **fields: Any) -> NPC:
    values = {"npc_id": name.lower().replace(" ", "-"), "name": name, "visibility": "public"}
    return upsert_npc(world, NPCIn.model_validate({**values, **fields}))[0]


def guild(world: World, body: str = BODY, **fields: Any) -> Lore:
    values = {"title": "Ferrymen's Guild", "kind": "faction", "status": "published"}
    entry = {**values, "visibility": "public", "body": body, **fields}
    return upsert_lore(world, LoreIn.model_validate(entry))[0]


def facts(world: World, audience: Audience = GM) -> set[tuple[str, str, str]]:
    rows = View(world, audience).facts()
    return {(each.src.name, each.label or each.relation_id, each.dst.name) for each in rows}


def test_lines_and_lists_that_name_npcs_become_facts(world: World) -> None:
    npc(world, "Mira Voss")
    npc(world, "Orrin")
    guild(world)
    assert facts(world) == facts(world, PUBLIC) == FACTS
    refs = set(GraphEdge.objects.values_list("source_kind", "source_ref"))
    assert refs == {("lore", "lore:ferrymens-guild")}


def test_an_npc_that_is_written_later_completes_the_lines(world: World) -> None:
    guild(world)
    assert facts(world) == set()
    npc(world, "Orrin")
    npc(world, "Mira V.", npc_id="mira-v")
    assert len(facts(world)) == 1
    npc(world, "Mira V.", npc_id="mira-v", aliases=["Mira Voss"])
    assert {(src.replace("V.", "Voss"), *rest) for src, *rest in facts(world)} == FACTS


def test_a_line_about_a_hidden_npc_is_for_those_who_know_the_npc(world: World) -> None:
    mira = npc(world, "Mira Voss", visibility="gm")
    npc(world, "Orrin")
    guild(world)
    assert facts(world) == FACTS
    assert facts(world, PARTY) == {fact for fact in FACTS if fact[0] == "Orrin"}
    reveal(mira, PARTY)
    assert facts(world, PARTY) == FACTS
    assert facts(world, PUBLIC) == {fact for fact in FACTS if fact[0] == "Orrin"}


def test_a_line_in_a_secret_is_for_game_masters(world: World) -> None:
    npc(world, "Mira Voss")
    guild(world, ":::secret\n**Head:** [[Mira Voss]]\n:::")
    assert facts(world) == {("Mira Voss", "leads", "Ferrymen's Guild")}
    assert facts(world, PARTY) == set()


def test_a_dropped_line_takes_its_fact_and_a_rename_keeps_it(world: World) -> None:
    npc(world, "Mira Voss")
    guild(world, "Head: [[Mira Voss]]")
    npc(world, "Mira Marlow", npc_id="mira-voss", aliases=["Mira Voss"])
    assert facts(world) == {("Mira Marlow", "leads", "Ferrymen's Guild")}
    assert GraphEdge.objects.count() == 1
    guild(world, "Nothing more.")
    assert facts(world) == set()


def test_a_biography_that_comes_later_changes_nothing(world: World) -> None:
    npc(world, "Mira Voss")
    guild(world, "Head: [[Mira Voss]]")
    life = {"title": "Mira Voss", "kind": "biography", "slug": "life-of-mira"}
    upsert_lore(world, LoreIn.model_validate(life))
    npc(world, "Mira Voss", biography="life-of-mira")
    guild(world, "More text.\n\nHead: [[Mira Voss]]")
    assert GraphEdge.objects.count() == 1
    assert facts(world) == {("Mira Voss", "leads", "Ferrymen's Guild")}


def test_facts_survive_the_trash_of_the_npc(world: World) -> None:
    mira = npc(world, "Mira Voss")
    guild(world, "Head: [[Mira Voss]]")
    trash_npcs([mira], by="gm")
    guild(world, "More text.\n\nHead: [[Mira Voss]]")
    assert facts(world) == set()
    restore_npcs([NPC.with_trash.get(pk=mira.pk)], by="gm")
    assert facts(world) == {("Mira Voss", "leads", "Ferrymen's Guild")}


def test_a_line_that_is_written_while_the_npc_is_in_the_trash_is_completed(world: World) -> None:
    mira = npc(world, "Mira Voss")
    trash_npcs([mira], by="gm")
    guild(world, "Head: [[Mira Voss]]")
    restore_npcs([NPC.with_trash.get(pk=mira.pk)], by="gm")
    assert facts(world) == {("Mira Voss", "leads", "Ferrymen's Guild")}
