"""Querysets of rules and lore. Who may know what is decided inside the database."""

from typing import Any, Self

from django.db import models
from django.db.models import Exists, OuterRef, Q
from typing_extensions import TypeVar

from worlds.audiences import Audience, GuardedQuerySet
from worlds.models import Campaign, World

Row = TypeVar("Row", bound=models.Model, default=Any)


class WorldRulesQuerySet(GuardedQuerySet[Row]):
    """Shared by rules and their passages."""

    path_to_system = "system"

    def in_world(self, world: World) -> Self:
        """The world's own rules and those that all worlds of its game system share."""
        shared = Q(world=None, **{self.path_to_system: world.system_id})
        return self.filter(Q(world=world) | shared if world.system_id else Q(world=world))


class RuleQuerySet(WorldRulesQuerySet[Any]):
    path_to_system = "document__system"


class RulePassageQuerySet(WorldRulesQuerySet[Any]):
    pass


class OverlayQuerySet(GuardedQuerySet[Row]):
    """Canon of a world, and the overlays of its campaigns."""

    path_to_lore = "pk"

    def known_in(self, campaign: Campaign | None, audience: Audience) -> Self:
        """Canon and the campaign's overlay, without the canon that the overlay replaces for this
        audience.
        """
        if campaign is None:
            return self.filter(campaign=None)
        # An override that the audience may not know hides nothing: the missing canon would hint at
        # it.
        overlay = LoreQuerySet(self._lore()).published().visible_to(audience)
        overrides = overlay.filter(campaign=campaign, overrides=OuterRef(self.path_to_lore))
        return self.filter(Q(campaign=None) | Q(campaign=campaign)).exclude(Exists(overrides))

    def _lore(self) -> Any:
        return self.model


class LoreQuerySet(OverlayQuerySet[Any]):
    def published(self) -> Self:
        return self.filter(status="published")


class LorePassageQuerySet(OverlayQuerySet[Any]):
    path_to_lore = "lore"

    def published(self) -> Self:
        return self.filter(published=True)

    def _lore(self) -> Any:
        return self.model._meta.get_field("lore").related_model
