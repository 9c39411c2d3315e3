"""Loose ends: what episodes leave open, until a game master closes it."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from episodes.models import Episode
from episodes.report_models import LooseEnd
from episodes.schemas import EpisodeIn, IngestReport
from worlds.lookup import find_by_id
from worlds.models import Campaign, Party, World


class LooseEnds:
    """The effect of an episode. A loose end that a new version keeps stays closed if it was."""

    def plan(self, _party: Party, summary: EpisodeIn) -> list[str]:
        return list(dict.fromkeys(summary.loose_ends))

    def write(self, episode: Episode, plan: list[str], _report: IngestReport) -> None:
        episode.loose_ends.exclude(text__in=plan).delete()
        rows = [
            LooseEnd(world=episode.world, party=episode.party, episode=episode, text=text)
            for text in plan
        ]
        LooseEnd.objects.bulk_create(rows, ignore_conflicts=True)

    def withdraw(self, episode: Episode) -> None:
        """Nothing to do: those of a retracted episode do not count (`in_force`)."""


def loose_ends_in_force(
    world: World, *, party: Party | None = None, campaign: Campaign | None = None
) -> "QuerySet[LooseEnd]":
    """Those of episodes that are not retracted, open and closed ones."""
    rows = LooseEnd.objects.filter(world=world, episode__retracted_at=None)
    rows = rows.filter(party__campaign=campaign) if campaign else rows
    rows = rows.filter(party=party) if party else rows
    return rows.select_related("party", "episode__scene")


def find_loose_end(world: World, pk: UUID, campaign: Campaign | None = None) -> LooseEnd:
    """Raises `NotFound`."""
    return find_by_id(loose_ends_in_force(world, campaign=campaign), pk, what="loose end")


@transaction.atomic
def close_loose_end(row: LooseEnd, *, by: str) -> LooseEnd:
    """Closing again keeps the first time."""
    return _change(row, closed_at=row.closed_at or timezone.now(), closed_by=row.closed_by or by)


@transaction.atomic
def reopen_loose_end(row: LooseEnd) -> LooseEnd:
    return _change(row, closed_at=None, closed_by="")


def _change(row: LooseEnd, **values: Any) -> LooseEnd:
    for name, value in values.items():
        setattr(row, name, value)
    row.save(update_fields=[*values, "updated_at"])
    return row
