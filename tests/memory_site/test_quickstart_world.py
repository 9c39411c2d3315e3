"""The first key of an installation is for a game, also where a script ran first."""

import pytest

from memories import folders
from memory_site.quickstart import create_quickstart_key
from worlds.keys import verify
from worlds.models import World

pytestmark = pytest.mark.django_db


def test_the_first_key_is_not_for_the_world_of_memories_in_folders() -> None:
    World.objects.create(slug=folders.WORLD, name="Agents")
    World.objects.create(slug="ferrymark", name="Ferrymark")
    assert verify(create_quickstart_key()).world.slug == "ferrymark"


def test_an_installation_without_a_game_gets_a_world() -> None:
    World.objects.all().delete()
    World.objects.create(slug=folders.WORLD, name="Agents")
    assert verify(create_quickstart_key()).world.slug == "home"
