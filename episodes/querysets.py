"""Querysets of what has happened. A party knows its own scenes and episodes without a reveal."""

from collections.abc import Iterable
from typing import Any, Self

from django.db import models
from django.db.models import Q, Subquery

from worlds.audiences import (
    Audience,
    GuardedQuerySet,
    revealed_to,
    revealed_to_own_party,
)
from worlds.models import Campaign, Party, World


class PartyOwned(GuardedQuerySet):
    """Rows with a `party`, which knows them when they are `revealed`, unless they are revealed to
    some of its characters alone."""

    def visible_to(self, audience: Audience) -> Self:
        if not audience.party_slug:
            return super().visible_to(audience)
        return self.filter(
            Q(visibility="public") | revealed_to_own_party(audience) | revealed_to(audience)
        )

    def of_party(self, party: Party) -> Self:
        return self.filter(party=party)

    def in_campaign(self, campaign: Campaign | None) -> Self:
        return self if campaign is None else self.filter(campaign=campaign)


OPEN_TO_OTHERS = Q(visibility="public") | ~Q(known_to=[])
"""The condition without which only a row's own party may know it. An index has it."""


class EpisodeQuerySet(PartyOwned):
    def not_retracted(self) -> Self:
        """Exclude retracted episodes."""
        return self.filter(retracted_at=None)

    def latest_first(self) -> Self:
        return self.order_by("-happened_at", "-id")

    def in_order(self) -> Self:
        return self.order_by("happened_at", "id")

    def parts_visible_to(self, audience: Audience, *, world: World) -> list[Self]:
        """Return the rows of `world` that `visible_to` gives, as querysets that have no row in
        common and an index each: the episodes of the audience's own party, and those few others
        that are public or revealed to it by name. One condition for both is compared with every
        episode of the world."""
        rows = self.in_world(world).visible_to(audience)
        if not audience.party_slug:
            return [rows]
        parties = Party.objects.filter(world=world, slug=audience.party_slug)
        own = Q(party=Subquery(parties.values("pk")[:1]))
        return [rows.filter(own), rows.filter(OPEN_TO_OTHERS).exclude(own)]

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

    def in_campaign(self, campaign: Campaign | None) -> Self:
        """Without those that name no party yet: they belong to no campaign."""
        return self if campaign is None else self.filter(campaign=campaign)
