"""Querysets of the disposition ledger."""

from typing import Any, Self

from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce

from worlds.models import Party, World

ALLOWED = Q(held=False, ruling=None) | Q(ruling__in=["approval", "restoration"])
"""A change counts unless it is held or the last ruling is against it."""
WAITS = Q(held=True) & (Q(ruling=None) | Q(ruling="reopening"))
"""A held change waits until it is ruled on, and again when that ruling was taken back."""

IS_OF_CURRENT_VERSION = Q(episode=None) | Q(
    episode__retracted_at=None, episode__version=F("episode_version")
)


def last_ruling(ledger: Any) -> models.Subquery:
    """The kind of the last ruling about a row of the model `ledger`, as an expression."""
    rulings = ledger.objects.filter(about=OuterRef("pk")).order_by("-id")
    return models.Subquery(rulings.values("kind")[:1])


class LedgerQuerySet(models.QuerySet[Any]):
    """The rules of what counts are in docs/dispositions.md."""

    def in_world(self, world: World) -> Self:
        """The ledger of the world, without that of NPCs in the trash."""
        return self.filter(npc__world=world, npc__deleted_at=None)

    def changes(self) -> Self:
        """Entries that move a disposition, without the rulings about them."""
        return self.filter(about=None)

    def with_ruling(self) -> Self:
        """Annotate `ruling` (kind of the last ruling about the change, or null) and `is_current`.

        A change is current while its episode is not retracted and still has the entry's version; a
        consequence while its cause counts.
        """
        causes = self.model.objects.filter(pk=OuterRef("cause"))
        is_current = models.Case(
            models.When(Q(cause=None) & IS_OF_CURRENT_VERSION, then=True),
            # In a case, so that the cause of rows without one is not looked for.
            models.When(Q(cause__isnull=False) & Exists(causes.direct_in_force()), then=True),
            default=False,
            output_field=models.BooleanField(),
        )
        return self.annotate(ruling=last_ruling(self.model), is_current=is_current)

    def direct_in_force(self) -> Self:
        """Changes that count, of those without a cause."""
        rows = self.annotate(ruling=last_ruling(self.model))
        return rows.filter(ALLOWED, IS_OF_CURRENT_VERSION, cause=None, about=None)

    def annotate_episode(self) -> Self:
        """Annotate `summary_id`, the engine's id of the episode that caused the change or, of a
        consequence, its cause."""
        return self.annotate(
            summary_id=Coalesce(F("episode__external_id"), F("cause__episode__external_id"))
        )

    def in_force(self) -> Self:
        """Changes that count."""
        return self.changes().with_ruling().filter(ALLOWED, is_current=True)

    def pending(self) -> Self:
        """Held changes that wait for a ruling."""
        return self.changes().with_ruling().filter(WAITS, is_current=True)

    def of(self, npc: Any, party: Party) -> Self:
        return self.filter(npc=npc, party=party)

    def in_order(self) -> Self:
        return self.order_by("happened_at", "id")


class OpinionQuerySet(models.QuerySet[Any]):
    """The ledger of standings and of opinions between NPCs, by the same rules."""

    def in_world(self, world: World) -> Self:
        """The ledger of the world, without what NPCs in the trash think, or others of them."""
        return self.filter(world=world, npc__deleted_at=None, other__deleted_at=None)

    def changes(self) -> Self:
        return self.filter(about=None)

    def with_ruling(self) -> Self:
        """Annotate `ruling` and `is_current`, as `LedgerQuerySet` does."""
        ledger: Any = self.model._meta.get_field("cause").related_model
        causes = ledger.objects.filter(pk=OuterRef("cause")).direct_in_force()
        is_current = models.Case(
            models.When(Q(cause=None) & IS_OF_CURRENT_VERSION, then=True),
            models.When(Q(cause__isnull=False) & Exists(causes), then=True),
            default=False,
            output_field=models.BooleanField(),
        )
        return self.annotate(ruling=last_ruling(self.model), is_current=is_current)

    def in_force(self) -> Self:
        """Changes that count."""
        return self.changes().with_ruling().filter(ALLOWED, is_current=True)

    def pending(self) -> Self:
        """Held changes that wait for a ruling."""
        return self.changes().with_ruling().filter(WAITS, is_current=True)

    def annotate_episode(self) -> Self:
        """Annotate `summary_id`, as `LedgerQuerySet` does."""
        return self.annotate(
            summary_id=Coalesce(F("episode__external_id"), F("cause__episode__external_id"))
        )

    def in_order(self) -> Self:
        return self.order_by("happened_at", "id")
