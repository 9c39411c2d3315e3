"""The raw contents as they were received. A database trigger forbids to change them."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from memories.models.namespaces import Namespace
from retrieval.models import uuid7


class Observation(models.Model):
    """Append-only (a trigger forbids UPDATE, and DELETE outside an erasure). Memories are
    derived from observations."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="observations")
    batch = models.UUIDField(
        _("add call"), default=uuid7, help_text=_("Shared by all contents of one add call.")
    )
    text = models.TextField(_("text"))
    source = models.CharField(_("source"), max_length=200, blank=True, default="")
    subject = models.CharField(_("subject"), max_length=200, blank=True, default="")
    speaker = models.CharField(_("speaker"), max_length=120, blank=True, default="")
    event_at = models.DateTimeField(_("happened at"), null=True, blank=True)
    in_world_at = models.FloatField(_("in-world day"), null=True, blank=True)
    in_world_label = models.CharField(_("in-world date"), max_length=120, blank=True, default="")
    details: "models.JSONField[Any, Any]" = models.JSONField(_("details"), default=dict, blank=True)
    recorded_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    class Meta:
        verbose_name = _("observation")
        verbose_name_plural = _("observations")
        indexes = [
            models.Index(fields=["namespace", "recorded_at"], name="memory_observed_at"),
            models.Index(fields=["namespace", "source"], name="memory_observed_from"),
        ]

    def __str__(self) -> str:
        return self.text[:80]
