"""Give the witnesses of episodes their memories that were recorded before there were any, or came
in by another way than an ingest (an archive)."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from episodes.models import Episode
from memories.witnesses.upkeep import remember_episode
from worlds.models import World


def episodes_to_remember(world: World | None = None) -> "QuerySet[Episode]":
    """Those that hold and are not remembered yet, oldest first."""
    rows = Episode.objects.filter(remembered=None, retracted_at=None)
    return (rows.filter(world=world) if world else rows).order_by("happened_at", "pk")


def remember_missing(*, limit: int, world: World | None = None) -> int:
    """Remember up to `limit` episodes, each in its own transaction; return how many there were."""
    ids = list(episodes_to_remember(world).values_list("pk", flat=True)[:limit])
    return len(list(_remember_each(ids)))


def _remember_each(ids: Sequence[UUID]) -> Iterator[Episode]:
    for pk in ids:
        with transaction.atomic():
            rows = Episode.objects.select_for_update(no_key=True, of=("self",))
            rows = rows.select_related("world")
            episode = rows.filter(pk=pk, remembered=None).first()
            if episode is not None:
                remember_episode(episode)
                yield episode
