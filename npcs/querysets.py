"""Reads named after their questions."""

from typing import Any, Self

from django.db import models
from django.db.models import F, OuterRef, Prefetch, Q

from worlds.audiences import GuardedQuerySet
from worlds.models import Party, World


class NPCQuerySet(GuardedQuerySet):
    def with_dispositions(self) -> Self:
        """Each NPC with what it thinks of every party, in `npc.standing`."""
        model = self.model._meta.get_field("dispositions").related_model
        query = model.objects.select_related("party", "last_change").order_by("party__name")
        return self.prefetch_related(Prefetch("dispositions", queryset=query, to_attr="standing"))


class LedgerQuerySet(models.QuerySet[Any]):
    """The ledger. What counts is decided by the rows alone: see `docs/dispositions.md`."""

    def in_world(self, world: World) -> Self:
        return self.filter(npc__world=world)

    def changes(self) -> Self:
        """Entries that move a disposition, without the rulings about them."""
        return self.filter(about=None)

    def with_ruling(self) -> Self:
        """Annotate `ruling` (kind of the last ruling about it, or null) and `is_current` (its
        episode's version holds).
        """
        rulings = self.model.objects.filter(about=OuterRef("pk")).order_by("-id")
        return self.annotate(
            ruling=models.Subquery(rulings.values("kind")[:1]),
            is_current=models.Case(
                models.When(Q(episode=None), then=True),
                models.When(
                    Q(episode__retracted_at=None, episode__version=F("episode_version")), then=True
                ),
                default=False,
                output_field=models.BooleanField(),
            ),
        )

    def annotate_episode(self) -> Self:
        """Annotate `summary_id`, the engine's id of the episode behind it."""
        return self.annotate(summary_id=F("episode__external_id"))

    def in_force(self) -> Self:
        return self.changes().with_ruling().filter(ALLOWED, is_current=True)

    def pending(self) -> Self:
        """Large swings that nobody has decided about."""
        return self.changes().with_ruling().filter(held=True, ruling=None, is_current=True)

    def of(self, npc: Any, party: Party) -> Self:
        return self.filter(npc=npc, party=party)

    def in_order(self) -> Self:
        return self.order_by("happened_at", "id")


ALLOWED = Q(held=False, ruling=None) | Q(ruling__in=["approval", "restoration"])
