"""Two records of one person made one, so that it can be undone (docs/people.md)."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from retrieval.models import uuid7
from worlds.models import World


class NPCMerge(models.Model):
    """`merged` was made one with `kept` and is in the trash since; emptied there, it takes this row
    with it, and the merge cannot be undone any more."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    world = models.ForeignKey(World, models.CASCADE, related_name="+")
    kept = models.ForeignKey(
        "npcs.NPC", models.CASCADE, related_name="merges", verbose_name=_("kept")
    )
    merged = models.ForeignKey("npcs.NPC", models.CASCADE, related_name="+")
    reason = models.TextField(_("reason"), blank=True, default="")
    moved = models.JSONField(default=dict)
    """What went over, by the name of each part (`memory_site.npc_merging`). Ids of rows are UUIDs,
    which an archive of the world can renew; entries of the ledgers are `MergedEntry`."""
    made_by = models.CharField(_("created by"), max_length=150, blank=True, default="")
    merged_at = models.DateTimeField(_("merged"), auto_now_add=True)
    undone_by = models.CharField(_("undone by"), max_length=150, blank=True, default="")
    undone_at = models.DateTimeField(_("undone at"), null=True, blank=True)

    class Meta:
        verbose_name = _("merge of NPCs")
        verbose_name_plural = _("merges of NPCs")
        ordering = ["-merged_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["merged"], condition=Q(undone_at=None), name="npc_merged_once"
            ),
            models.CheckConstraint(condition=~Q(kept=models.F("merged")), name="npc_merge_of_two"),
        ]
        indexes = [models.Index(fields=["world", "-merged_at"], name="npc_merge_of_world")]

    def __str__(self) -> str:
        return f"{self.merged} → {self.kept}"


class MergedEntry(models.Model):
    """An entry of a ledger that went over to the kept NPC: of an opinion that of the NPC itself, or
    one about it."""

    class Side(models.TextChoices):
        NPC = "npc", _("NPC")
        OTHER = "other", _("other NPC")

    merge = models.ForeignKey(NPCMerge, models.CASCADE, related_name="entries")
    change = models.ForeignKey(
        "npcs.DispositionChange", models.CASCADE, null=True, related_name="+"
    )
    opinion = models.ForeignKey("npcs.OpinionChange", models.CASCADE, null=True, related_name="+")
    side = models.CharField(max_length=5, choices=Side, default=Side.NPC)

    class Meta:
        verbose_name = _("merged entry")
        verbose_name_plural = _("merged entries")
        constraints = [
            models.CheckConstraint(
                condition=Q(change=None) ^ Q(opinion=None), name="merged_entry_of_one_ledger"
            )
        ]

    def __str__(self) -> str:
        return str(self.change or self.opinion)
