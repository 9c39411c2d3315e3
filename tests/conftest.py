"""Shared fixtures. The database is the embedded one (or DATABASE_URL); nothing has to be started by hand."""

import pytest
from django.conf import settings

from tests.loopback.fixtures import hosted_embedder, openai_server, scripted_llm  # noqa: F401
from worlds.models import Campaign, GameSystem, Party, World


@pytest.fixture(autouse=True)
def _hashing_embedder() -> None:
    """Tests use the deterministic embedder through the real setting; a test that wants another overrides it."""
    settings.EMBEDDER = "hashing"


@pytest.fixture
def world(db: None) -> World:
    system = GameSystem.objects.create(slug="dnd-5e", name="Fifth edition")
    return World.objects.create(slug="ferrymark", name="Ferrymark", system=system)


@pytest.fixture
def campaign(world: World) -> Campaign:
    return Campaign.objects.create(world=world, slug="low-water", name="Low Water")


@pytest.fixture
def lanternbearers(campaign: Campaign) -> Party:
    return Party.objects.create(world=campaign.world, campaign=campaign, slug="lanternbearers", name="Lanternbearers")


@pytest.fixture
def gilded_oath(campaign: Campaign) -> Party:
    return Party.objects.create(world=campaign.world, campaign=campaign, slug="gilded-oath", name="Gilded Oath")
