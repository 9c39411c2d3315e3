"""Deleting a world as the API does."""

from django.db import transaction

from worlds.models import World


@transaction.atomic
def delete_locked(world: World) -> None:
    """Delete `world` under its lock: the audit of a call, written by a thread, then waits instead
    of coming between the deletion of the rows and that of the world."""
    World.objects.select_for_update(of=("self",)).get(pk=world.pk)
    world.delete()
