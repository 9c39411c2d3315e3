"""A game master at a table without an engine: places, people, and a session to write about."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from episodes.models import Session
from knowledge.entry_store import save_entry
from knowledge.models import Lore
from npcs.models import NPC, Secret
from tests.cast import create_npc
from tests.memory_site.api.webhook_receiver import Receiver, receiving
from worlds.models import Campaign, Membership, Party, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def table(world: World, campaign: Campaign, lanternbearers: Party, mira: NPC, jory: NPC) -> Session:
    """The third session of the Lanternbearers, in a world with two NPCs, a town and a secret."""
    lanternbearers.members = ["Tobin Marrow", "Nuri"]
    lanternbearers.save()
    jory.aliases = ["Джори", "조리"]
    jory.save()
    for slug, title, aliases in (
        ("toll-house", "Toll House", ["Мытный двор", "통행세관"]),
        ("lower-landing", "Lower Landing", ["Нижняя пристань", "아래 나루"]),
    ):
        save_entry(
            Lore(
                world=world,
                slug=slug,
                title=title,
                aliases=aliases,
                kind="place",
                status="published",
                visibility="public",
            )
        )
    Secret.objects.create(
        world=world, npc=mira, position=1, text="Her brother Corin took the ninth boat that night."
    )
    create_npc(world, slug="ida-voss", name="Ida Voss", visibility="gm")
    return Session.objects.create(
        world=world,
        campaign=campaign,
        party=lanternbearers,
        external_id="session-3",
        number=3,
        title="The Third Evening",
        visibility="revealed",
        in_world_at=412,
        in_world_label="12 Rainmonth 3",
    )


@pytest.fixture
def gm(world: World) -> Client:
    return sign_in(world, "anna", role="gm")


@pytest.fixture
def player(world: World, lanternbearers: Party) -> Client:
    return sign_in(world, "pat", role="player", party=lanternbearers)


def sign_in(world: World, name: str, **membership: object) -> Client:
    user = User.objects.create_user(name)
    Membership.objects.create(user=user, world=world, **membership)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """A channel on the loopback interface, to which webhooks may be sent."""
    settings.WEBHOOK_PRIVATE_ADDRESSES = ["127.0.0.1"]
    with receiving() as target:
        yield target
