"""The calendar of a world: every version that it ever had."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from retrieval.models import uuid7


class CalendarVersion(models.Model):
    """A calendar as it was saved. The one with the highest number holds; an older one is restored
    by saving it again. Without a definition days are counted, and have no dates."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    world = models.ForeignKey("worlds.World", models.CASCADE, related_name="calendar_versions")
    version = models.PositiveIntegerField(_("version"))
    definition = models.JSONField(_("calendar"), null=True, blank=True)
    made_by = models.CharField(_("saved by"), max_length=160, blank=True, default="")
    created_at = models.DateTimeField(_("saved at"), auto_now_add=True)

    class Meta:
        verbose_name = _("version of a calendar")
        verbose_name_plural = _("versions of calendars")
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["world", "version"], name="calendar_version_in_world")
        ]

    def __str__(self) -> str:
        return str(self.version)
