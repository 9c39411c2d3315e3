"""People in front of the lists of Ferrymark, and entries for them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from knowledge.entry_store import save_all
from knowledge.models import Lore
from worlds.models import Membership, Party, World

Write = Callable[..., Lore]


@pytest.fixture
def write(world: World) -> Write:
    """Write a published, public entry; keyword arguments override."""

    def write_entry(title: str, body: str = "Fog.", **fields: Any) -> Lore:
        given = {
            "world": world,
            "slug": title.lower().replace(" ", "-"),
            "title": title,
            "body": body,
            "status": "published",
            "visibility": "public",
        }
        entry = Lore(**{**given, **fields})
        save_all([entry])
        return entry

    return write_entry


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def master(world: World) -> Client:
    user = User.objects.create_user("anna")
    Membership.objects.create(user=user, world=world, role="gm")
    return client_of(user)


@pytest.fixture
def player(world: World, lanternbearers: Party) -> Client:
    user = User.objects.create_user("pat")
    Membership.objects.create(user=user, world=world, role="player", party=lanternbearers)
    return client_of(user)


@pytest.fixture
def stranger(db: None) -> Client:
    return client_of(User.objects.create_user("eve"))
