"""Work on an archive that the worker does: making one of a world, or restoring one."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from retrieval.models import uuid7


class ArchiveRun(models.Model):
    """One archive to make, or to restore. `world` of a restoration is empty until it is there.

    `file` is the archive: what was made, to be downloaded; or what was uploaded, until the world is
    restored. Both are deleted after some days. `user` or `key` has asked for it.
    """

    class Kind(models.TextChoices):
        ARCHIVE = "archive", _("Archive")
        RESTORATION = "restoration", _("Restoration")

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting for the worker")
        WORKING = "working", _("At work")
        DONE = "done", _("Ready")
        FAILED = "failed", _("Failed")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(_("kind"), max_length=12, choices=Kind)
    world = models.ForeignKey(
        "worlds.World", models.CASCADE, null=True, blank=True, related_name="archive_runs"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    key = models.ForeignKey(
        "worlds.ApiKey", models.SET_NULL, null=True, blank=True, related_name="+"
    )
    file = models.FileField(_("file"), upload_to="archives/", max_length=200, blank=True)
    file_name = models.CharField(_("file name"), max_length=200)
    size = models.BigIntegerField(_("bytes"), default=0)
    slug = models.SlugField(_("address"), max_length=80, allow_unicode=True, blank=True, default="")
    language = models.CharField(_("language"), max_length=8, default="en")
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.WAITING)
    progress = models.PositiveSmallIntegerField(_("progress, %"), default=0)
    tries = models.PositiveSmallIntegerField(_("attempts"), default=0)
    failure = models.TextField(_("failure"), blank=True, default="")
    left_out = models.JSONField(_("rows left out"), default=dict, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)

    class Meta:
        verbose_name = _("work on an archive")
        verbose_name_plural = _("work on archives")
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["world", "-created_at"], name="archive_run_of_world")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind="restoration") | models.Q(world__isnull=False),
                name="archive_run_has_a_world",
            )
        ]

    def __str__(self) -> str:
        return self.file_name

    @property
    def is_unfinished(self) -> bool:
        return self.state in (self.State.WAITING, self.State.WORKING)
