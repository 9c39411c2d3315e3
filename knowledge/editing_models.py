"""What editors of lore leave beside the entries: saved filters, bulk changes, comments;
and the entries that others propose."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from retrieval.models import uuid7
from worlds.models import Campaign, World


class SavedFilter(models.Model):
    """A filter of the lore list under a name. Only its user sees it."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="lore_filters")
    world = models.ForeignKey(World, models.CASCADE, related_name="lore_filters")
    name = models.CharField(_("name"), max_length=80)
    query = models.CharField(_("filter"), max_length=2000, blank=True, default="")

    class Meta:
        verbose_name = _("saved filter")
        verbose_name_plural = _("saved filters")
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["user", "world", "name"], name="saved_filter_name")
        ]

    def __str__(self) -> str:
        return self.name


class BulkChange(models.Model):
    """One change of many entries, with what they were before, so that it can be undone."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    world = models.ForeignKey(World, models.CASCADE, related_name="bulk_changes")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="bulk_changes")
    what = models.CharField(_("change"), max_length=400)
    is_deletion = models.BooleanField(_("moved to the trash"), default=False)
    rows = models.JSONField(_("entries before"), default=list)
    reveals = models.JSONField(_("reveals"), default=list)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    undone_at = models.DateTimeField(_("undone at"), null=True, blank=True)

    class Meta:
        verbose_name = _("bulk change")
        verbose_name_plural = _("bulk changes")
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["world", "user", "-created_at"], name="bulk_change_last")]

    def __str__(self) -> str:
        return self.what


class EntryComment(models.Model):
    """A remark of an editor about an entry. It is open until somebody resolves it."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    lore = models.ForeignKey("knowledge.Lore", models.CASCADE, related_name="comments")
    author = models.CharField(_("author"), max_length=150)
    text = models.TextField(_("text"), max_length=10_000)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    resolved_by = models.CharField(_("resolved by"), max_length=150, blank=True, default="")
    resolved_at = models.DateTimeField(_("resolved at"), null=True, blank=True)

    class Meta:
        verbose_name = _("comment")
        verbose_name_plural = _("comments")
        ordering = ["created_at"]

    def __str__(self) -> str:
        return self.text[:80]


class LoreProposal(models.Model):
    """An entry that somebody (a language model, a player, a script) proposes. An editor accepts,
    edits or rejects it; it is not found before that."""

    class State(models.TextChoices):
        OPEN = "open", _("Pending")
        ACCEPTED = "accepted", _("Accepted")
        REJECTED = "rejected", _("Rejected")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    world = models.ForeignKey(
        World, models.CASCADE, related_name="lore_proposals", verbose_name=_("world")
    )
    campaign = models.ForeignKey(Campaign, models.CASCADE, null=True, blank=True, related_name="+")
    entry = models.JSONField(_("proposed entry"))
    reason = models.TextField(_("justification"), blank=True, default="")
    proposed_by = models.CharField(_("proposed by"), max_length=120, blank=True, default="")
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.OPEN)
    lore = models.ForeignKey(
        "knowledge.Lore", models.SET_NULL, null=True, blank=True, related_name="proposals"
    )
    lore_version = models.PositiveIntegerField(
        _("version of the entry after it"), null=True, blank=True, editable=False
    )
    decided_by = models.CharField(_("decided by"), max_length=150, blank=True, default="")
    decision = models.TextField(_("note on the decision"), blank=True, default="")
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)

    class Meta:
        verbose_name = _("lore proposal")
        verbose_name_plural = _("lore proposals")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return str(self.entry.get("title", self.pk))
