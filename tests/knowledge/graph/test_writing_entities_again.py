"""An entity that a program sends again changes by the fields that it sends."""

from typing import Any

import pytest

from knowledge.entry_store import save_entry
from knowledge.graph.models import GraphNode
from knowledge.graph.schemas import GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore
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
