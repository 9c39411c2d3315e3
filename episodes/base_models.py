"""Abstract models that `episodes` and the apps above share."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from retrieval.models import uuid7


class TimestampedModel(models.Model):
    """A row with a time-ordered id, its creation time and the time of its last change."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        abstract = True


class InWorldTime(models.Model):
    """A time in the world's own calendar: a day since its epoch, for sorting, and a label."""

    in_world_at = models.FloatField(_("in-world day"), null=True, blank=True)
    in_world_label = models.CharField(_("in-world date"), max_length=120, blank=True, default="")

    class Meta:
        abstract = True
