"""The in-world day of today, by which NPCs remember and forget."""

from uuid import UUID

from memories.models import Namespace
from npcs.dispositions import days_reached
from worlds.models import Party


def days_of_campaigns(namespace: Namespace) -> dict[UUID, float | None]:
    """Return the latest day that a party of each campaign of the namespace's world has reached, by
    the campaign's id."""
    parties = list(Party.objects.filter(world=namespace.world_id).only("pk", "campaign_id"))
    reached = days_reached(parties) if parties else {}
    latest: dict[UUID, float | None] = {}
    for party in parties:
        days = [latest.get(party.campaign_id), reached[party.pk]]
        latest[party.campaign_id] = max((day for day in days if day is not None), default=None)
    return latest


def latest_day(namespace: Namespace) -> float | None:
    """Return the latest day that any party of the world has reached; None without days."""
    days = days_of_campaigns(namespace).values()
    return max((day for day in days if day is not None), default=None)
