"""Queries over memories."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from django.apps import apps
from django.db import models
from django.db.models import OuterRef, Subquery

from memories.states import State

if TYPE_CHECKING:
    from memories.models import Namespace


class MemoryQuerySet(models.QuerySet[Any]):
    def of(self, namespace: "Namespace") -> Self:
        return self.filter(namespace=namespace)

    def active(self) -> Self:
        return self.filter(state=State.ACTIVE)

    def pending(self) -> Self:
        return self.filter(state=State.PENDING)

    def history(self) -> Self:
        """Memories that are no longer in use: superseded, archived, expired or rejected."""
        return self.exclude(state__in=[State.ACTIVE, State.PENDING])

    def without_index_columns(self) -> Self:
        """Vector and tsvector are large, and only the search statement reads them."""
        return self.defer("embedding", "search_vector")

    def latest_first(self) -> Self:
        return self.order_by("-timestamp_ms", "-id")

    def as_of(self, moment: datetime) -> Self:
        """Memories that were active at `moment`, by the log of state changes."""
        rows = apps.get_model("memories", "StateChange").objects.order_by("-at", "-id")
        then = rows.filter(memory=OuterRef("pk"), at__lte=moment).values("state")[:1]
        return self.annotate(state_then=Subquery(then)).filter(state_then=State.ACTIVE)
