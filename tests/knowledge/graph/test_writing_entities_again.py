"""An entity that a program sends again changes by the fields that it sends."""

from typing import Any

import pytest

from knowledge.entry_entities import ensure_entity
from knowledge.entry_store import save_entry
from knowledge.graph.models import GraphNode
from knowledge.graph.protocol import View
from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore
from npcs.schemas import NPCIn
from npcs.upsert import upsert_npc
from worlds.audiences import Audience
from worlds.models import World
from worlds.reveals import reveal, undo_reveal

pytestmark = pytest.mark.django_db
PARTY = Audience("party", "lanternbearers")


def send(world: World, **fields: Any) -> GraphNode:
    fact = NodeFact(kind="Character", slug="mira-voss", name="Mira Voss", **fields)
    result = upsert_facts(world, [GraphFact(node=fact)])
    return GraphNode.objects.get(pk=result.nodes[0].id)


def test_what_is_not_sent_stays(world: World) -> None:
    page = Lore(world=world, slug="mira-voss", title="Mira Voss")
    save_entry(page)
    send(world, aliases=["Grey"], lore_id=page.pk, visibility="public", since=3)
    node = send(world, until=411)
    assert (node.aliases, node.lore_id, node.visibility) == (["Grey"], page.pk, "public")
    assert (node.since, node.until) == (3, 411)


def test_a_day_that_is_sent_as_empty_is_removed(world: World) -> None:
    send(world, until=411)
    assert send(world, until=None).until is None


def test_an_audience_that_is_no_longer_sent_no_longer_knows(world: World) -> None:
    send(world, visibility="revealed", known_to=[str(PARTY)])
    node = send(world, visibility="gm", known_to=[])
    assert (node.visibility, node.known_to) == ("gm", [])


def test_an_audience_of_the_reveal_log_keeps_knowing(world: World) -> None:
    reveal(send(world, visibility="gm"), PARTY)
    node = send(world, visibility="gm", known_to=[])
    assert (node.visibility, node.known_to) == ("revealed", [str(PARTY)])


def test_undoing_the_reveal_of_an_entry_hides_its_entity(world: World) -> None:
    page = Lore(world=world, slug="mira-voss", title="Mira Voss")
    save_entry(page)
    knowers = ["npc:jory-fenn", str(PARTY)]
    entry = reveal(page, PARTY)
    node = send(world, lore_id=page.pk, visibility="revealed", known_to=knowers)
    undo_reveal(entry)
    node.refresh_from_db()
    assert (node.visibility, node.known_to) == ("revealed", ["npc:jory-fenn"])


def test_an_entity_that_was_revealed_itself_stays_known(world: World) -> None:
    page = Lore(world=world, slug="mira-voss", title="Mira Voss")
    save_entry(page)
    entry = reveal(page, PARTY)
    node = send(world, lore_id=page.pk, visibility="revealed", known_to=[str(PARTY)])
    reveal(node, PARTY)
    undo_reveal(entry)
    node.refresh_from_db()
    assert (node.visibility, node.known_to) == ("revealed", [str(PARTY)])


def test_whoever_learns_an_entry_sees_its_entity_and_its_name_in_relations(world: World) -> None:
    tower = Lore(world=world, slug="tower", title="The Tower", kind="place", status="published")
    save_entry(tower)
    ensure_entity(tower)
    osk = NodeFact(kind="Character", slug="osk", name="Osk", visibility="public")
    lives = EdgeFact(src="osk", relation="LOCATED_IN", dst="tower", visibility="public")
    upsert_facts(world, [GraphFact(node=osk), GraphFact(edge=lives)])
    oath = Audience("party", "gilded-oath")
    assert relations_known_to(world, PARTY) == []
    entry = reveal(tower, PARTY)
    assert relations_known_to(world, PARTY) == [("Osk", "The Tower")]
    assert relations_known_to(world, oath) == []
    undo_reveal(entry)
    assert relations_known_to(world, PARTY) == []


def test_revealing_a_draft_does_not_tell_its_name(world: World) -> None:
    tower = Lore(world=world, slug="tower", title="The Tower", kind="place", status="draft")
    save_entry(tower)
    ensure_entity(tower)
    reveal(tower, PARTY)
    assert not GraphNode.objects.visible_to(PARTY).exists()


def test_a_biography_does_not_tell_the_other_names_of_its_npc(world: World) -> None:
    page = Lore(
        world=world, slug="the-clerk", title="The clerk", kind="biography", status="published"
    )
    save_entry(page)
    fields = {"npc_id": "mira", "name": "Mira Voss", "visibility": "gm", "biography": "the-clerk"}
    npc, _outcome = upsert_npc(world, NPCIn.model_validate(fields))
    reveal(page, PARTY)
    assert not GraphNode.objects.visible_to(PARTY).exists()
    reveal(npc, PARTY)
    assert [node.name for node in GraphNode.objects.visible_to(PARTY)] == ["Mira Voss"]


def relations_known_to(world: World, audience: Audience) -> list[tuple[str, str]]:
    facts = View(world, audience).facts()
    return [(fact.src.name, fact.dst.name) for fact in facts]
