"""Queries over memories."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Now

from memories.states import State

if TYPE_CHECKING:
    from memories.models import Namespace


class MemoryQuerySet(models.QuerySet[Any]):
    def of(self, namespace: "Namespace") -> Self:
        return self.filter(namespace=namespace)

    def active(self) -> Self:
        return self.filter(state=State.ACTIVE)

    def with_valid_time(self) -> Self:
        """Those whose time has not passed, also before the periodic task takes them out of use."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=Now()))

    def pending(self) -> Self:
        return self.filter(state=State.PENDING)

    def history(self) -> Self:
        """Memories that are no longer in use: superseded, archived, expired or rejected."""
        return self.exclude(state__in=[State.ACTIVE, State.PENDING])

    def without_index_columns(self) -> Self:
        """Vector and tsvector are large, and only the search statement reads them."""
        return self.defer("embedding", "search_vector")

    def of_campaign(self, campaign: UUID) -> Self:
        """Memories of no episode, and of those of the campaign."""
        return self.filter(Q(episode=None) | Q(episode__campaign=campaign))

    def remembered_on(self, days: Mapping[UUID, float | None]) -> Self:
        """Leave out what was forgotten by the in-world day that each campaign, by its id, has
        reached. What is of no episode is forgotten by the latest of these days."""
        reached = [(campaign, day) for campaign, day in days.items() if day is not None]
        latest = max((day for _campaign, day in reached), default=None)
        forgotten = Q(episode=None, forgotten_from__lte=latest) if latest is not None else Q()
        for campaign, day in reached:
            forgotten |= Q(episode__campaign=campaign, forgotten_from__lte=day)
        return self.filter(Q(forgotten_from=None) | ~forgotten) if forgotten else self

    def latest_first(self) -> Self:
        return self.order_by("-timestamp_ms", "-id")

    def as_of(self, moment: datetime) -> Self:
        """Memories that were active at `moment`, by the log of state changes."""
        rows = apps.get_model("memories", "StateChange").objects.order_by("-at", "-id")
        then = rows.filter(memory=OuterRef("pk"), at__lte=moment).values("state")[:1]
        return self.annotate(state_then=Subquery(then)).filter(state_then=State.ACTIVE)
