"""For whom `manage.py mcp` answers."""

from typing import Any

import pytest
from django.core.management.base import CommandError

from memory_site.management.commands.mcp import Command
from worlds import keys
from worlds.models import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def installation_key(settings: Any) -> str:
    text = keys.create_key(None, name="all", scopes=["admin"], audience="gm")[1]
    settings.MEMORY37_API_KEY = text
    return text


def world_of_command(**options: Any) -> str:
    return Command()._caller({"world": None, "audience": "public", **options}).world.slug


def test_a_key_of_the_installation_works_in_the_named_world(
    world: World, installation_key: str, settings: Any
) -> None:
    settings.MEMORY37_WORLD = ""
    with pytest.raises(CommandError, match="name the world with --world or in MEMORY37_WORLD"):
        world_of_command()
    assert world_of_command(world=world.slug) == world.slug
    settings.MEMORY37_WORLD = world.slug
    assert world_of_command() == world.slug


def test_a_key_of_one_world_needs_no_name(world: World, settings: Any) -> None:
    settings.MEMORY37_API_KEY = keys.create_key(world, name="one", scopes=["tools:read"])[1]
    assert world_of_command() == world.slug
