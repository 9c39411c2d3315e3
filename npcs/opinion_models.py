"""What NPCs and factions think besides dispositions, and the rules by which a change causes
others."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from episodes.base_models import InWorldTime
from episodes.models import Episode
from knowledge.graph.models import GraphNode
from npcs.querysets import OpinionQuerySet
from worlds.models import Party, World

MOST_PERCENT = 100


def is_percent(name: str) -> models.CheckConstraint:
    condition = Q(**{f"{name}__range": (0, MOST_PERCENT)})
    return models.CheckConstraint(condition=condition, name=f"{name}_is_percent")


class DispositionRules(models.Model):
    """The rules of one world: how much of a change others feel, in percent. 0 switches a rule off,
    and a world without a row has none."""

    class Rule(models.TextChoices):
        KIN = "kin", _("Kin")
        ALLY = "ally", _("Allies")
        ENEMY = "enemy", _("Enemies")
        MEMBER = "member", _("Factions of the NPC")

    world = models.OneToOneField(
        World, models.CASCADE, related_name="disposition_rules", verbose_name=_("world")
    )
    kin = models.PositiveSmallIntegerField(
        _("kin"), default=0, help_text=_("Kin of the NPC feel the same, by so many percent.")
    )
    ally = models.PositiveSmallIntegerField(
        _("allies"), default=0, help_text=_("Allies of the NPC feel the same.")
    )
    enemy = models.PositiveSmallIntegerField(
        _("enemies"), default=0, help_text=_("Enemies of the NPC feel the opposite.")
    )
    member = models.PositiveSmallIntegerField(
        _("factions of the NPC"),
        default=0,
        help_text=_("The party's standing with the factions that the NPC is part of."),
    )
    soft_ends = models.BooleanField(
        _("soft ends"),
        default=False,
        help_text=_(
            "Beyond 50 points either way, further steps outward count less and less. Corrections "
            "count in full."
        ),
    )

    class Meta:
        verbose_name = _("rules of dispositions")
        verbose_name_plural = _("rules of dispositions")
        constraints = [is_percent(name) for name in ("kin", "ally", "enemy", "member")]

    def __str__(self) -> str:
        return str(self.world)

    def percent(self, rule: str) -> int:
        """How much of a change the rule passes on; negative: its opposite."""
        value: int = getattr(self, rule)
        return -value if rule == self.Rule.ENEMY else value


class OpinionChange(InWorldTime):
    """One entry of the ledger of a party's standing with a faction, and of what one NPC thinks of
    another: a change, or a ruling about one. Never edited; the database refuses it.

    A correction counts at once; a consequence while its cause, a change of a disposition, counts;
    what an episode tells while the episode has this version and is not retracted. A large change
    is held for the game master, as in the ledger of dispositions; a consequence never is, because
    its cause was.
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
    world = models.ForeignKey(World, models.CASCADE, related_name="+")
    kind = models.CharField(_("kind"), max_length=12, choices=Kind)
    faction = models.ForeignKey(
        GraphNode,
        models.CASCADE,
        null=True,
        related_name="standing_changes",
        verbose_name=_("faction"),
    )
    party = models.ForeignKey(
        Party,
        models.CASCADE,
        null=True,
        related_name="standing_changes",
        verbose_name=_("party"),
    )
    npc = models.ForeignKey(
        "npcs.NPC",
        models.CASCADE,
        null=True,
        related_name="opinion_changes",
        verbose_name=_("NPC"),
    )
    other = models.ForeignKey(
        "npcs.NPC", models.CASCADE, null=True, related_name="+", verbose_name=_("other NPC")
    )
    delta = models.SmallIntegerField(_("change"), default=0)
    reason = models.TextField(_("reason"))
    held = models.BooleanField(_("waiting for the game master"), default=False, db_default=False)
    cause = models.ForeignKey(
        "npcs.DispositionChange",
        models.CASCADE,
        null=True,
        related_name="standing_consequences",
        verbose_name=_("cause"),
    )
    rule = models.CharField(
        _("rule"), max_length=8, choices=DispositionRules.Rule, blank=True, default=""
    )
    episode = models.ForeignKey(
        Episode,
        models.CASCADE,
        null=True,
        related_name="opinion_changes",
        verbose_name=_("episode"),
    )
    episode_version = models.PositiveIntegerField(_("version of the episode"), null=True)
    about = models.ForeignKey(
        "self",
        models.CASCADE,
        null=True,
        related_name="rulings",
        verbose_name=_("affected change"),
    )
    made_by = models.CharField(_("created by"), max_length=150, blank=True, default="")
    happened_at = models.DateTimeField(_("happened at"), default=timezone.now)
    created_at = models.DateTimeField(_("recorded at"), auto_now_add=True)

    objects = OpinionQuerySet.as_manager()

    class Meta:
        verbose_name = _("change of a standing or opinion")
        verbose_name_plural = _("changes of standings and opinions")
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(faction__isnull=False, party__isnull=False, npc=None, other=None)
                | Q(faction=None, party=None, npc__isnull=False, other__isnull=False)
                & ~Q(npc=models.F("other")),
                name="opinion_of_faction_or_npc",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["episode", "correction", "consequence"], about=None)
                & ~Q(delta=0)
                | Q(
                    kind__in=["reversal", "restoration", "approval", "rejection", "reopening"],
                    delta=0,
                    about__isnull=False,
                ),
                name="opinion_change_or_ruling",
            ),
            models.CheckConstraint(
                condition=Q(kind="consequence", cause__isnull=False) & ~Q(rule="")
                | ~Q(kind="consequence") & Q(cause=None, rule=""),
                name="opinion_consequence_has_cause",
            ),
            models.CheckConstraint(
                condition=Q(kind="episode", episode__isnull=False, npc__isnull=False)
                & Q(episode_version__isnull=False)
                | ~Q(kind="episode") & Q(episode=None, episode_version=None),
                name="opinion_of_episode_has_episode",
            ),
            models.CheckConstraint(
                condition=Q(delta__range=(-200, 200)), name="opinion_change_in_range"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="opinion_change_has_reason"),
        ]
        indexes = [
            models.Index(fields=["party", "faction"], name="standing_of_party"),
            models.Index(fields=["npc", "other"], name="opinion_of_npc"),
            models.Index(fields=["world", "id"], name="opinion_held", condition=Q(held=True)),
        ]

    @property
    def holder(self) -> Any:
        """The faction or the NPC that thinks something of `toward`."""
        return self.faction or self.npc

    @property
    def toward(self) -> Any:
        return self.party or self.other

    def __str__(self) -> str:
        return f"{self.delta:+d}" if self.about_id is None else str(self.get_kind_display())
