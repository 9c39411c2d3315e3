"""Anna leads the Lanternbearers of Ferrymark; Pat plays with them."""

from typing import Any

import pytest
from django.test import Client

from knowledge.entry_store import save_entry
from knowledge.models import Lore
from npcs.models import NPC, Secret
from tests.people import member
from worlds.models import Party, World

PLAY = "/w/ferrymark/parties/lanternbearers/play/"
PREPARE = "/w/ferrymark/parties/lanternbearers/prepare/"


@pytest.fixture
def anna(world: World) -> Client:
    return member(world, "anna", role="gm")


@pytest.fixture
def pat(world: World, lanternbearers: Party) -> Client:
    return member(world, "pat", role="player", party=lanternbearers)


@pytest.fixture
def debt(world: World, mira: NPC) -> Secret:
    return Secret.objects.create(world=world, npc=mira, position=1, text="She owes the Tolls.")


@pytest.fixture
def landing(world: World) -> Lore:
    """A place that everyone knows, with a secret."""
    body = "Slips for forty boats.\n\n:::secret\nSlip nineteen is mined.\n:::"
    return make_entry(world, "Lower Landing", body=body, kind="place", visibility="public")


def make_entry(world: World, title: str, **fields: Any) -> Lore:
    slug = title.lower().replace(" ", "-")
    entry = Lore(world=world, slug=slug, title=title, status="published", **fields)
    save_entry(entry)
    return entry
