"""Deleting a world as the API does."""

from django.db import transaction

from worlds.models import World
from worlds.versions import lock_row


@transaction.atomic
def delete_locked(world: World) -> None:
    """Delete `world` under its lock: the audit of a call, written by a thread, then waits instead
    of coming between the deletion of the rows and that of the world."""
    lock_row(world)
    world.delete()
