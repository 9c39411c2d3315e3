"""The named cast of the tests: one world, its places, parties and people.

Constants are what engines send; `create_…` functions make the rows. Fixtures in `conftest.py` build
on them.
"""

from typing import Any

from npcs.models import NPC
from worlds.models import Campaign, GameSystem, Party, World

FERRYMARK = {"slug": "ferrymark", "name": "Ferrymark"}
LOW_WATER = {"slug": "low-water", "name": "Low Water"}
LANTERNBEARERS = {"slug": "lanternbearers", "name": "Lanternbearers"}
GILDED_OATH = {"slug": "gilded-oath", "name": "Gilded Oath"}

MIRA_VOSS: dict[str, Any] = {
    "slug": "mira-voss",
    "name": "Mira Voss",
    "aliases": ["Мира Восс", "미라 보스"],
    "visibility": "public",
}
JORY_FENN: dict[str, Any] = {"slug": "jory-fenn", "name": "Jory Fenn", "visibility": "public"}
NINTH_OARSMAN: dict[str, Any] = {
    "slug": "ninth-oarsman",
    "name": "The Ninth Oarsman",
    "visibility": "gm",
}


def create_world(**fields: Any) -> World:
    """Create Ferrymark, or a world like it with other `fields`."""
    system, _new = GameSystem.objects.get_or_create(
        slug="dnd-5e", defaults={"name": "Fifth edition"}
    )
    return World.objects.create(**{**FERRYMARK, "system": system, **fields})


def create_campaign(world: World, **fields: Any) -> Campaign:
    return Campaign.objects.create(world=world, **{**LOW_WATER, **fields})


def create_party(campaign: Campaign, **fields: Any) -> Party:
    """Create the Lanternbearers, or the party with `fields` (such as `**GILDED_OATH`)."""
    return Party.objects.create(
        world=campaign.world, campaign=campaign, **{**LANTERNBEARERS, **fields}
    )


def create_npc(world: World, **fields: Any) -> NPC:
    return NPC.objects.create(world=world, **fields)
