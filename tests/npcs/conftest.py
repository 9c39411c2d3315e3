"""The people of Ferrymark that these tests need."""

import pytest

from npcs.models import NPC
from worlds.models import World


@pytest.fixture
def mira(world: World) -> NPC:
    return NPC.objects.create(
        world=world,
        slug="mira-voss",
        name="Mira Voss",
        aliases=["Мира Восс", "미라 보스"],
        visibility="public",
    )


@pytest.fixture
def jory(world: World) -> NPC:
    return NPC.objects.create(world=world, slug="jory-fenn", name="Jory Fenn", visibility="public")


@pytest.fixture
def ninth_oarsman(world: World) -> NPC:
    return NPC.objects.create(
        world=world, slug="ninth-oarsman", name="The Ninth Oarsman", visibility="gm"
    )
