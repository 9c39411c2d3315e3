"""An entry whose text states facts, and who signs in."""

import pytest
from django.test import Client

from knowledge.entry_store import save_entry
from knowledge.graph.models import GraphNode
from knowledge.models import Lore
from tests.people import member
from worlds.models import Party, World

TEXT = """Marta Quill leads the Saltmen. Her brother is the ferryman Joss Arden, also known as Reed.

:::secret
Marta Quill hates Ivo Brandt.
:::
"""


@pytest.fixture
def saltmen(world: World) -> Lore:
    make_entity(world, "Marta Quill", "Character")
    make_entity(world, "Ivo Brandt", "Character")
    entry = Lore(
        world=world,
        slug="saltmen",
        title="The Saltmen",
        kind="faction",
        status="published",
        visibility="public",
        body=TEXT,
    )
    save_entry(entry)
    make_entity(world, "The Saltmen", "Faction")
    return entry


def make_entity(world: World, name: str, kind: str) -> GraphNode:
    node, _new = GraphNode.objects.get_or_create(
        world=world, name=name, defaults={"kind": kind, "slug": name.lower().replace(" ", "-")}
    )
    return node


@pytest.fixture
def master(world: World) -> Client:
    return member(world, "anna", role="gm")


@pytest.fixture
def player(world: World, lanternbearers: Party) -> Client:
    return member(world, "pat", role="player", party=lanternbearers)
