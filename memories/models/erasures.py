"""What remains of an erasure: a receipt with counts, and the ids that must not be restored."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from retrieval.models import uuid7
from worlds.models import World


class ErasureReceipt(models.Model):
    """Holds no erased text: counts per table, and the leftovers that the verifier found."""

    class Scope(models.TextChoices):
        MEMORY = "memory", _("One memory")
        SOURCE = "source", _("A source")
        SUBJECT = "subject", _("A subject")
        NAMESPACE = "namespace", _("A namespace")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    world = models.ForeignKey(World, models.CASCADE, related_name="+")
    namespace_id_was = models.UUIDField(_("namespace"))
    scope = models.CharField(_("scope"), max_length=10, choices=Scope)
    requested_by = models.CharField(_("requested by"), max_length=150, blank=True, default="")
    reason = models.CharField(_("reason"), max_length=300, blank=True, default="")
    counts: "models.JSONField[Any, Any]" = models.JSONField(_("erased rows"), default=dict)
    leftovers: "models.JSONField[Any, Any]" = models.JSONField(_("remaining data"), default=list)
    verified_at = models.DateTimeField(_("verified at"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("deletion receipt")
        verbose_name_plural = _("deletion receipts")

    def __str__(self) -> str:
        return f"{self.get_scope_display()}, {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def is_clean(self) -> bool:
        return self.verified_at is not None and not self.leftovers


class Tombstone(models.Model):
    """The id of an erased row: an import or a rebuild skips it."""

    id = models.UUIDField(primary_key=True, editable=False)
    receipt = models.ForeignKey(ErasureReceipt, models.CASCADE, related_name="tombstones")

    def __str__(self) -> str:
        return str(self.pk)
