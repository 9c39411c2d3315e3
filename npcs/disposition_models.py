"""The ledger of what NPCs think of parties, and the dispositions that are folded from it."""

from typing import ClassVar

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from episodes.base_models import InWorldTime
from episodes.models import Episode
from npcs.opinion_models import DispositionRules
from npcs.querysets import LedgerQuerySet
from retrieval.models import uuid7
from worlds.models import Party

LOWEST, HIGHEST = -100, 100


class Axis(models.TextChoices):
    AFFECTION = "affection", _("Affection")
    TRUST = "trust", _("Trust")
    RESPECT = "respect", _("Respect")
    FEAR = "fear", _("Fear")


LARGE_CHANGE = models.Q(delta__gte=15) | models.Q(delta__lte=-15)
"""A change that the timeline tells of: few are so large, and an index finds them."""


class DispositionChange(InWorldTime):
    """One entry of the ledger: a change, or a ruling about one. Never edited; the database refuses
    it.

    A change counts while the version of the episode it came from stands, unless it is held for the
    game master or the last ruling about it is against it. A consequence counts only while its
    cause does; it names no episode, so what players judge by episodes never includes it. Entries
    of one party are written one after the other, so ids are their order.
    """

    is_history: ClassVar[bool] = True

    class Kind(models.TextChoices):
        EPISODE = "episode", _("Episode")
        CORRECTION = "correction", _("Correction")
        CONSEQUENCE = "consequence", _("Consequence")
        REVERSAL = "reversal", _("Reversal")
        RESTORATION = "restoration", _("Restoration")
        APPROVAL = "approval", _("Approval")
        REJECTION = "rejection", _("Rejection")
        REOPENING = "reopening", _("Reopening")

    id = models.BigAutoField(primary_key=True)
    npc = models.ForeignKey(
        "npcs.NPC", models.CASCADE, related_name="changes", verbose_name=_("NPC")
    )
    party = models.ForeignKey(
        Party, models.CASCADE, related_name="disposition_changes", verbose_name=_("party")
    )
    kind = models.CharField(_("kind"), max_length=12, choices=Kind)
    axis = models.CharField(_("axis"), max_length=12, choices=Axis, default=Axis.AFFECTION)
    delta = models.SmallIntegerField(_("change"), default=0)
    reason = models.TextField(_("reason"))
    held = models.BooleanField(_("waiting for the game master"), default=False)
    episode = models.ForeignKey(
        Episode,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="disposition_changes",
        verbose_name=_("episode"),
    )
    episode_version = models.PositiveIntegerField(_("episode version"), null=True, blank=True)
    about = models.ForeignKey(
        "self",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="rulings",
        verbose_name=_("affected change"),
    )
    cause = models.ForeignKey(
        "self",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="consequences",
        verbose_name=_("cause"),
    )
    rule = models.CharField(
        _("rule"), max_length=8, choices=DispositionRules.Rule, blank=True, default=""
    )
    made_by = models.CharField(_("created by"), max_length=150, blank=True, default="")
    happened_at = models.DateTimeField(_("happened at"), default=timezone.now)
    created_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    objects = LedgerQuerySet.as_manager()

    class Meta:
        verbose_name = _("disposition change")
        verbose_name_plural = _("disposition changes")
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(delta__range=(2 * LOWEST, 2 * HIGHEST)), name="change_in_range"
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["episode", "correction", "consequence"], about=None)
                & ~models.Q(delta=0)
                | models.Q(
                    kind__in=["reversal", "restoration", "approval", "rejection", "reopening"],
                    delta=0,
                    about__isnull=False,
                ),
                name="change_or_ruling",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    kind="episode", episode__isnull=False, episode_version__isnull=False
                )
                | ~models.Q(kind="episode"),
                name="episode_change_has_episode",
            ),
            models.CheckConstraint(condition=~models.Q(reason=""), name="change_has_reason"),
            models.CheckConstraint(
                condition=models.Q(kind="consequence", cause__isnull=False, episode=None)
                & ~models.Q(rule="")
                | ~models.Q(kind="consequence") & models.Q(cause=None, rule=""),
                name="consequence_has_cause",
            ),
        ]
        indexes = [
            models.Index(fields=["npc", "party", "happened_at", "id"], name="change_of_pair"),
            models.Index(
                fields=["in_world_at", "id"], name="large_change_by_day", condition=LARGE_CHANGE
            ),
            models.Index(fields=["party", "id"], name="change_held", condition=models.Q(held=True)),
            models.Index(fields=["id"], name="change_by_hand", condition=~models.Q(kind="episode")),
        ]

    def __str__(self) -> str:
        return (
            f"{self.delta:+d} {self.axis}"
            if self.about_id is None
            else str(self.get_kind_display())
        )


class Disposition(models.Model):
    """What an NPC thinks of a party: the folded ledger, rebuilt in the transaction of an entry."""

    is_history: ClassVar[bool] = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    npc = models.ForeignKey(
        "npcs.NPC", models.CASCADE, related_name="dispositions", verbose_name=_("NPC")
    )
    party = models.ForeignKey(
        Party, models.CASCADE, related_name="dispositions", verbose_name=_("party")
    )
    score = models.FloatField(_("score"), default=0)
    axes = models.JSONField(_("per axis"), default=dict, blank=True)
    trend = models.FloatField(_("trend"), default=0)
    changes = models.PositiveIntegerField(_("applied changes"), default=0)
    pending = models.PositiveIntegerField(_("pending changes"), default=0)
    in_world_at = models.FloatField(_("as of day"), null=True, blank=True)
    last_change = models.ForeignKey(
        DispositionChange, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        verbose_name = _("disposition")
        verbose_name_plural = _("dispositions")
        constraints = [
            models.UniqueConstraint(fields=["npc", "party"], name="disposition_once"),
            models.CheckConstraint(
                condition=models.Q(score__gte=LOWEST, score__lte=HIGHEST),
                name="disposition_in_range",
            ),
        ]
        indexes = [models.Index(fields=["party", "-score"], name="disposition_of_party")]

    def __str__(self) -> str:
        return f"{self.npc_id} → {self.party_id}: {self.score:+.0f}"
