"""The trash: rows that are hidden for a while before they are deleted for good.

The default manager of a `Trashable` model hides what is in the trash, so that every list, page,
search and tool does; `with_trash` shows all. What else shows the row (passages, entities) is taken
away by the service that moves it there, which keeps in `trash_data` what it needs to restore it.
"""

import logging
from datetime import timedelta
from typing import Any, Generic, TypeVar

from django.apps import apps
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from worlds.erasure import permanent_deletion

logger = logging.getLogger(__name__)

DAYS_IN_TRASH = 30
"""After so many days a row in the trash is deleted for good."""

LIVE = models.Q(deleted_at=None)
"""Not in the trash: the condition of constraints that rows in the trash do not violate."""

Row = TypeVar("Row", bound=models.Model, covariant=True)


class LiveManager(models.Manager[Row], Generic[Row]):
    """Hides what is in the trash."""

    in_trash_at = "deleted_at"
    """Lookup of the time at which the row, or what it belongs to, was moved to the trash."""

    def get_queryset(self) -> Any:
        return super().get_queryset().filter(**{self.in_trash_at: None})


class Trashable(models.Model):
    deleted_at = models.DateTimeField(_("in the trash since"), null=True, editable=False)
    deleted_by = models.CharField(
        _("moved to the trash by"), max_length=150, blank=True, default="", editable=False
    )
    trash_data = models.JSONField(default=dict, editable=False)

    class Meta:
        abstract = True

    def delete_for_good(self) -> None:
        """Delete the row and everything that belongs to it alone."""
        with permanent_deletion():
            self.delete()


TRASH_FIELDS = ("deleted_at", "deleted_by", "trash_data")
"""Fields that no version of a row's history holds."""


def empty_trash() -> int:
    """Delete for good what has been in the trash for `DAYS_IN_TRASH`. Returns the number of
    rows. A row that cannot be deleted is logged, and tried again the next time."""
    long_ago = timezone.now() - timedelta(days=DAYS_IN_TRASH)
    count = 0
    for model in apps.get_models():
        if issubclass(model, Trashable):
            # The base manager hides nothing.
            for row in model._base_manager.filter(deleted_at__lt=long_ago).iterator():
                count += is_deleted_for_good(row)
    return count


def is_deleted_for_good(row: Trashable) -> bool:
    """Delete the row, and return whether that was possible."""
    try:
        with transaction.atomic():
            row.delete_for_good()
    except Exception:
        logger.exception("%s %s in the trash cannot be deleted", row._meta.label, row.pk)
        return False
    return True
