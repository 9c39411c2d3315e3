"""Querysets of what has happened. A party knows its own scenes and episodes without a reveal."""

from collections.abc import Iterable
from typing import Any, Self

from django.db import models
from django.db.models import Q

from worlds.audiences import Audience, GuardedQuerySet
from worlds.models import Campaign, Party


class PartyOwned(GuardedQuerySet):
    """Rows with a `party`, which may know them as soon as they are `revealed` to anybody."""

    def visible_to(self, audience: Audience) -> Self:
        if audience.kind != "party":
            return super().visible_to(audience)
        return self.filter(
            Q(visibility="public")
            | Q(visibility="revealed", party__slug=audience.slug)
            | Q(visibility="revealed", known_to__contains=[str(audience)])
        )

    def of_party(self, party: Party) -> Self:
        return self.filter(party=party)

    def in_campaign(self, campaign: Campaign | None) -> Self:
        return self if campaign is None else self.filter(campaign=campaign)


class EpisodeQuerySet(PartyOwned):
    def not_retracted(self) -> Self:
        """Exclude retracted episodes."""
        return self.filter(retracted_at=None)

    def latest_first(self) -> Self:
        return self.order_by("-happened_at", "-id")

    def in_order(self) -> Self:
        return self.order_by("happened_at", "id")

    def with_source(self) -> Self:
        return self.select_related("campaign", "party", "scene", "session").defer(
            "embedding", "search_vector"
        )


class SessionQuerySet(PartyOwned):
    def latest_first(self) -> Self:
        return self.order_by("-number", "-created_at")


class ThreadQuerySet(models.QuerySet[Any]):
    def open(self) -> Self:
        return self.filter(state="open")

    def of_parties(self, parties: Iterable[Party]) -> Self:
        return self.filter(party__in=list(parties))
