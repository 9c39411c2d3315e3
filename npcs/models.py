"""Who lives in a world, and what each of them thinks of each party, with every reason."""

from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from episodes.base_models import TimestampedModel
from episodes.models import Episode
from knowledge.graph.entity_audiences import hide_entities_of, open_entities_of
from knowledge.graph.fact_store import follow_audience
from knowledge.graph.models import GraphEdge, GraphNode, NameKeysField, SourceKind
from knowledge.graph.trash import TrashedWithEntities
from knowledge.models import Lore
from npcs.disposition_models import (
    HIGHEST,
    LARGE_CHANGE,
    LOWEST,
    Axis,
    Disposition,
    DispositionChange,
)
from npcs.kinship import validate_family
from npcs.merge_models import MergedEntry, NPCMerge
from npcs.opinion_models import DispositionRules, OpinionChange
from retrieval.text import read_fences, without_secrets
from worlds.audiences import Audience, Guarded, GuardedQuerySet, Visibility
from worlds.trash import LIVE, TRASH_FIELDS, LiveManager

FACT_SOURCE = SourceKind.EDITOR
"""The source of the facts that the fields of NPCs state, with `fact_source_ref`."""
HOME_LABEL = "lives in"


def fact_source_ref(npc: "NPC") -> str:
    return f"npc:{npc.slug}"


__all__ = [
    "LARGE_CHANGE",
    "NPC",
    "Appearance",
    "Axis",
    "Disposition",
    "DispositionChange",
    "DispositionRules",
    "MergedEntry",
    "NPCMerge",
    "OpinionChange",
    "Secret",
]


class NPC(TimestampedModel, Guarded, TrashedWithEntities):
    """A character of the game master: the static half of the profile."""

    audience_kind: ClassVar[str] = "npc"

    slug = models.SlugField(_("slug"), max_length=120, allow_unicode=True)
    name = models.CharField(_("name"), max_length=200)
    aliases = ArrayField(
        models.CharField(max_length=200),
        verbose_name=_("aliases"),
        default=list,
        blank=True,
        help_text=_("Other names, in any language."),
    )
    role = models.CharField(_("role"), max_length=200, blank=True, default="")
    summary = models.TextField(
        _("description"),
        blank=True,
        default="",
        help_text=_("What anyone who meets the NPC can see."),
    )
    faction = models.CharField(_("faction"), max_length=200, blank=True, default="")
    faction_lore = models.ForeignKey(
        Lore,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="members",
        verbose_name=_("faction in the lore"),
    )
    faction_visibility = models.CharField(
        _("who knows the faction"),
        max_length=10,
        choices=Visibility,
        default=Visibility.PUBLIC,
        help_text=_("Public: everyone who knows the NPC. Otherwise: game masters only."),
    )
    home = models.CharField(_("home"), max_length=200, blank=True, default="")
    home_lore = models.ForeignKey(
        Lore,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="inhabitants",
        verbose_name=_("home in the lore"),
    )
    biography = models.ForeignKey(
        Lore,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="npcs",
        verbose_name=_("biography in the lore"),
    )
    family = models.JSONField(
        _("family"),
        default=list,
        # Written while the version before, which does not know the column, still runs.
        db_default=[],
        blank=True,
        validators=[validate_family],
        help_text=_("What other people are to the NPC: a list of {relation, npc}."),
    )
    voice = models.TextField(_("voice"), blank=True, default="")
    goals = ArrayField(models.TextField(), verbose_name=_("goals"), default=list, blank=True)
    milestones = models.JSONField(
        _("milestones"),
        default=list,
        blank=True,
        help_text=_(
            "What happened to the NPC, and when: a list of {at, label, text}. For the game master."
        ),
    )
    play_now = ArrayField(
        models.TextField(),
        verbose_name=_("how to play the NPC"),
        default=list,
        blank=True,
        help_text=_("Up to three lines, enough to play the NPC."),
    )
    language = models.CharField(_("language"), max_length=8, default="en")
    base = models.SmallIntegerField(
        _("initial disposition"),
        default=0,
        help_text=_("Disposition toward a party that the NPC knows nothing about."),
    )
    half_life = models.FloatField(
        _("half-life in days"),
        null=True,
        blank=True,
        help_text=_(
            "In-world days after which a change has half its effect. If empty, the setting of "
            "the site applies."
        ),
    )
    version = models.PositiveIntegerField(_("version"), default=1, editable=False)
    name_keys = NameKeysField(models.CharField(max_length=16), default=list, editable=False)

    objects = LiveManager.from_queryset(GuardedQuerySet)()
    with_trash = GuardedQuerySet.as_manager()
    history = HistoricalRecords(excluded_fields=["known_to", "name_keys", *TRASH_FIELDS])

    class Meta:
        verbose_name = _("NPC")
        verbose_name_plural = _("NPCs")
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["world", "slug"], condition=LIVE, name="npc_in_world"),
            models.CheckConstraint(
                condition=models.Q(base__range=(LOWEST, HIGHEST)), name="npc_base_in_range"
            ),
            models.CheckConstraint(
                condition=models.Q(half_life=None) | models.Q(half_life__gt=0),
                name="npc_half_life_is_positive",
            ),
        ]
        indexes = [
            GinIndex(fields=["name_keys"], name="npc_name_keys"),
            models.Index(fields=["world", "name"], condition=LIVE, name="npc_by_name"),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Refuse a secret block in the description: players who know the NPC read all of it."""
        if read_fences(self.summary):
            text = _(
                "Everybody who knows this person reads the description. Write the secret among the "
                "person's secrets, or into the text of the entry."
            )
            raise ValidationError({"summary": text})

    @property
    def open_summary(self) -> str:
        """The description for players. Writers refuse secret blocks in it, but a text that was
        stored before may have some."""
        return without_secrets(self.summary)

    def summary_for(self, audience: Audience) -> str:
        return self.summary if audience.is_gm else self.open_summary

    def visibility_changed(self) -> None:
        entities = GraphNode.objects.filter(world=self.world_id, slug=self.slug)
        entities = entities.select_for_update()
        hide_entities_of(self, entities)
        open_entities_of(self, entities)
        facts = GraphEdge.objects.believed_now().filter(
            world=self.world_id, source_kind=FACT_SOURCE, source_ref=fact_source_ref(self)
        )
        for fact in facts.filter(edited_by=""):
            follow_audience(fact, *self.audience_of_fact(fact))

    def secret_parts(self) -> "models.QuerySet[Any]":
        return self.secrets.order_by("position")

    def audience_of_fact(self, fact: GraphEdge) -> tuple[str, list[str]]:
        """Who may know a fact that a field states: whoever knows the NPC, but for a faction that
        is kept secret."""
        is_faction = fact.relation_id == "PART_OF"
        if not is_faction or self.faction_visibility == Visibility.PUBLIC:
            return self.visibility, self.known_to
        return Visibility.GM, []


class SecretManager(LiveManager.from_queryset(GuardedQuerySet)):  # type: ignore[misc]
    """Hides the secrets of NPCs in the trash."""

    in_trash_at = "npc__deleted_at"


class Secret(TimestampedModel, Guarded):
    """Something about an NPC that can be revealed by itself. `position` counts from 1."""

    npc = models.ForeignKey(NPC, models.CASCADE, related_name="secrets", verbose_name=_("NPC"))
    position = models.PositiveIntegerField(_("number"), default=1)
    text = models.TextField(_("secret"))

    objects = SecretManager()

    class Meta:
        verbose_name = _("secret of an NPC")
        verbose_name_plural = _("secrets of NPCs")
        ordering = ["npc", "position"]
        constraints = [models.UniqueConstraint(fields=["npc", "position"], name="secret_position")]

    def __str__(self) -> str:
        return self.text[:80]


class Appearance(models.Model):
    """An NPC who was there."""

    npc = models.ForeignKey(NPC, models.CASCADE, related_name="appearances")
    episode = models.ForeignKey(Episode, models.CASCADE, related_name="appearances")

    class Meta:
        verbose_name = _("appearance")
        verbose_name_plural = _("appearances")
        constraints = [models.UniqueConstraint(fields=["npc", "episode"], name="appearance_once")]

    def __str__(self) -> str:
        return f"{self.npc_id}: {self.episode_id}"
