"""The core memory: its versions, and the updates that were not applied."""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from memories.models.items import MemoryItem
from memories.models.namespaces import Namespace
from memories.states import Maker
from retrieval.models import uuid7


class CoreVersion(models.Model):
    """The highest number is the current core. A restore stores the old text as a new version."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="core_versions")
    number = models.PositiveIntegerField(_("version"))
    markdown = models.TextField(_("core memory"))
    reason = models.CharField(_("reason"), max_length=300, blank=True, default="")
    made_by = models.CharField(_("created by"), max_length=10, choices=Maker, default=Maker.MODEL)
    author = models.CharField(_("author"), max_length=150, blank=True, default="")
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("core version")
        verbose_name_plural = _("core versions")
        constraints = [
            models.UniqueConstraint(fields=["namespace", "number"], name="memory_core_number")
        ]

    def __str__(self) -> str:
        return f"{self.namespace} v{self.number}"


class CoreProposal(models.Model):
    """An update that the policy refused (`problems` gives the reasons) or that waits for
    approval."""

    class Verdict(models.TextChoices):
        OPEN = "open", _("Pending")
        APPROVED = "approved", _("Approved")
        REJECTED = "rejected", _("Rejected")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="core_proposals")
    base_number = models.PositiveIntegerField(_("based on version"), default=0)
    markdown = models.TextField(_("proposed core memory"))
    reason = models.CharField(_("reason"), max_length=300, blank=True, default="")
    problems: "models.JSONField[Any, Any]" = models.JSONField(
        _("objections"), default=list, blank=True
    )
    memories: "ArrayField[Any, Any]" = ArrayField(
        models.UUIDField(), verbose_name=_("new memories"), default=list, db_default=[], blank=True
    )
    verdict = models.CharField(_("verdict"), max_length=10, choices=Verdict, default=Verdict.OPEN)
    decided_by = models.CharField(_("decided by"), max_length=150, blank=True, default="")
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("core proposal")
        verbose_name_plural = _("core proposals")

    def __str__(self) -> str:
        return f"{self.namespace}: {self.reason or self.get_verdict_display()}"


class CoreLine(models.Model):
    """A line of the current core memory. `rests_on` is the number of its memories when it was
    written; fewer valid ones mean that some were deleted or are no longer in use."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="core_lines")
    text = models.TextField(_("line"))
    rests_on = models.PositiveIntegerField(_("derived from memories"), default=0)

    class Meta:
        verbose_name = _("core line")
        verbose_name_plural = _("core lines")

    def __str__(self) -> str:
        return self.text[:80]


class CoreLineSource(models.Model):
    line = models.ForeignKey(CoreLine, models.CASCADE, related_name="sources")
    memory = models.ForeignKey(MemoryItem, models.CASCADE, related_name="core_lines")

    class Meta:
        verbose_name = _("memory of a core line")
        verbose_name_plural = _("memories of core lines")
        constraints = [
            models.UniqueConstraint(fields=["line", "memory"], name="memory_core_line_once")
        ]

    def __str__(self) -> str:
        return f"{self.line_id} ← {self.memory_id}"
