"""Links of the texts that were stored before links were: computed once, by the `migrate` that adds
their table."""

from typing import Any

from django.db import DEFAULT_DB_ALIAS

from knowledge.mentions.store import relink
from worlds.models import World

TABLE = ("knowledge", "0013_links")


def relink_after_migration(
    *, plan: Any = (), using: str = DEFAULT_DB_ALIAS, **_signal: Any
) -> None:
    applied = {
        (migration.app_label, migration.name) for migration, backwards in plan if not backwards
    }
    if TABLE in applied and using == DEFAULT_DB_ALIAS:
        for world in World.objects.all():
            relink(world)
