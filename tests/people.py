"""People who are signed in."""

from typing import Any

from django.contrib.auth import get_user_model
from django.test import Client

from worlds.models import Membership, World


def member(world: World, name: str, **membership: Any) -> Client:
    """Create a user with this membership of `world`; return their browser."""
    user = get_user_model().objects.create_user(name)
    Membership.objects.create(user=user, world=world, **membership)
    client = Client()
    client.force_login(user)
    return client
