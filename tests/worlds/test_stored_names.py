"""Rows are found by the keys of their names, however many keys are asked for."""

import pytest

from npcs.models import NPC
from retrieval.text import name_keys
from tests.cast import create_npc
from worlds.models import World
from worlds.stored_names import KEYS_OF_ONE_LOOKUP, MOST_LOOKUPS, is_named

pytestmark = pytest.mark.django_db


@pytest.fixture
def jory(world: World) -> NPC:
    return create_npc(world, slug="jory-fenn", name="Jory Fenn")


@pytest.mark.parametrize("others", [0, KEYS_OF_ONE_LOOKUP, KEYS_OF_ONE_LOOKUP * MOST_LOOKUPS * 3])
def test_rows_are_found_by_a_key_among_any_number(
    world: World, mira: NPC, jory: NPC, others: int
) -> None:
    keys = [*(f"=no key {n}" for n in range(others)), *name_keys("Mira Voss")]
    assert list(NPC.objects.filter(is_named(NPC.objects.all(), world.pk, keys=keys))) == [mira]


def test_rows_are_found_by_keys_or_slugs(world: World, mira: NPC, jory: NPC) -> None:
    wanted = is_named(NPC.objects.all(), world.pk, keys=name_keys("Mira"), slugs=["jory-fenn"])
    assert set(NPC.objects.filter(wanted)) == {mira, jory}
    alone = is_named(NPC.objects.all(), world.pk, keys=[], slugs=["jory-fenn"])
    assert list(NPC.objects.filter(alone)) == [jory]


def test_nothing_is_found_without_keys_and_in_another_world(world: World, mira: NPC) -> None:
    assert not NPC.objects.filter(is_named(NPC.objects.all(), world.pk, keys=[]))
    other = World.objects.create(slug="other", name="Other", system=world.system)
    wanted = is_named(NPC.objects.all(), other.pk, keys=name_keys("Mira Voss"))
    assert not NPC.objects.filter(wanted)
