"""Reads over memories, named after questions."""

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
        """What is no longer used, and still kept."""
        return self.exclude(state__in=[State.ACTIVE, State.PENDING])

    def latest_first(self) -> Self:
        return self.order_by("-timestamp_ms", "-id")

    def as_of(self, moment: datetime) -> Self:
        """What was active at `moment`, by the log of state changes."""
        changes = apps.get_model("memories", "StateChange").objects
        then = (
            changes.filter(memory=OuterRef("pk"), at__lte=moment)
            .order_by("-at", "-id")
            .values("state")[:1]
        )
        return self.annotate(state_then=Subquery(then)).filter(state_then=State.ACTIVE)
