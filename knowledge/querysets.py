"""Querysets of rules and lore. Who may know what is decided inside the database."""

from typing import Any, Self

from django.db import models
from django.db.models import Exists, OuterRef, Q
from typing_extensions import TypeVar

from worlds.audiences import Audience, GuardedQuerySet, Visibility
from worlds.models import Campaign, World

Row = TypeVar("Row", bound=models.Model, default=Any)


def shared_or_of(campaign: Campaign | None) -> Q:
    """Return the condition that a row is shared by all campaigns or belongs to `campaign`, to which
    the caller's key is bound. A key that is bound to none reaches every row."""
    return Q(campaign=None) | Q(campaign=campaign) if campaign else Q()


class WorldRulesQuerySet(GuardedQuerySet[Row]):
    """Shared by rules and their passages."""

    path_to_system = "system"
    path_to_rule = "rule"

    def in_world(self, world: World) -> Self:
        """The world's own rules and those shared by all worlds of its game system. A book that was
        imported for another system waits until the world plays that one."""
        if not world.system_id:
            return self.filter(world=world)
        of_system = Q(**{self.path_to_system: world.system_id})
        of_any = Q(world=world, **{f"{self.path_to_system}__isnull": True})
        return self.filter(of_any | of_system & (Q(world=world) | Q(world=None)))

    def in_campaign(self, campaign: Campaign | None) -> Self:
        """The rules that hold in every campaign, and those of `campaign` alone."""
        return self.filter(
            Q(campaign=None) | Q(campaign=campaign) if campaign else Q(campaign=None)
        )

    def in_force(self, world: World, campaign: Campaign | None, audience: Audience) -> Self:
        """The rules of a campaign, without those that a house rule replaces for this audience."""
        house_rules = RuleQuerySet(self._rule()).filter(world=world).in_campaign(campaign)
        # A house rule that the audience may not know replaces nothing: the gap would hint at it.
        overrides = house_rules.visible_to(audience).filter(overrides=OuterRef(self.path_to_rule))
        return self.in_world(world).in_campaign(campaign).exclude(Exists(overrides))

    def _rule(self) -> Any:
        return self.model._meta.get_field("rule").related_model


class RuleQuerySet(WorldRulesQuerySet[Any]):
    path_to_system = "document__system"
    path_to_rule = "pk"

    def _rule(self) -> Any:
        return self.model

    def not_shared(self) -> Self:
        """Without the rules that every caller of every world of the system may know."""
        return self.exclude(world=None, visibility=Visibility.PUBLIC)


class RulePassageQuerySet(WorldRulesQuerySet[Any]):
    pass


class OverlayQuerySet(GuardedQuerySet[Row]):
    """Canon of a world, and the overlays of its campaigns."""

    path_to_lore = "pk"

    def known_in(self, campaign: Campaign | None, audience: Audience) -> Self:
        """Canon and the campaign's overlay, without the canon replaced for this audience."""
        if campaign is None:
            return self.filter(campaign=None)
        # An override that the audience may not know hides nothing: missing canon would hint at it.
        overlay = self._lore().objects.only_published().visible_to(audience)
        overrides = overlay.filter(campaign=campaign, overrides=OuterRef(self.path_to_lore))
        return self.filter(Q(campaign=None) | Q(campaign=campaign)).exclude(Exists(overrides))

    def _lore(self) -> Any:
        return self.model


class LoreQuerySet(OverlayQuerySet[Any]):
    def only_published(self) -> Self:
        return self.filter(status="published")


class LorePassageQuerySet(OverlayQuerySet[Any]):
    path_to_lore = "lore"

    def only_published(self) -> Self:
        return self.filter(published=True)

    def _lore(self) -> Any:
        return self.model._meta.get_field("lore").related_model
