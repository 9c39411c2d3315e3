"""Lore as people write it, and its passages; the other models of the app are imported here."""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.dispatch import Signal
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

import knowledge.editing_models
import knowledge.entry_drafts
import knowledge.fact_proposal_model
import knowledge.glossary_term
import knowledge.graph.contradiction_models
import knowledge.graph.models
import knowledge.graph.projection_models
import knowledge.link_models  # noqa: F401
from knowledge.audience import narrow_audience
from knowledge.base_models import Versioned, names_field, own_campaign, passage_name
from knowledge.graph.entity_audiences import hide_entities_of, open_entities_of
from knowledge.graph.trash import TrashedWithEntities
from knowledge.lore_kinds import LoreKind
from knowledge.querysets import LorePassageQuerySet, LoreQuerySet
from knowledge.rule_models import Document, Rule, RulePassage
from retrieval.models import Passage, SearchConfig
from worlds.audiences import Guarded
from worlds.models import Campaign, Reveal
from worlds.trash import LIVE, TRASH_FIELDS, LiveManager

__all__ = ["Document", "Lore", "LoreKind", "LorePassage", "Rule", "RulePassage"]

audience_changed = Signal()
"""Sent with the `entry` that was revealed to somebody, or hidden again."""
FOLDER = _("Path in the tree of the world's lore, such as North/Carrow.")
IN_CAMPAIGN = _(
    "If empty, the entry is canon of the world; otherwise it is known only in this campaign."
)


class Lore(Versioned, Guarded, TrashedWithEntities):
    """An entry of the world's encyclopedia. With a campaign it is an overlay: it adds to canon, or
    replaces the entry that it `overrides`, in that campaign alone."""

    campaign_path = "campaign"

    class Kind(models.TextChoices):
        PLACE = "place", _("Place")
        FACTION = "faction", _("Faction")
        BIOGRAPHY = "biography", _("Character")
        ITEM = "item", _("Item")
        EVENT = "event", _("Event")
        QUEST = "quest", _("Quest")
        TIMELINE = "timeline", _("Timeline")
        CUSTOM = "custom", _("Custom")

    class Status(models.TextChoices):
        DRAFT = "draft", _("Draft")
        PUBLISHED = "published", _("Published")

    slug = models.SlugField(_("slug"), max_length=120, allow_unicode=True)
    kind = models.CharField(_("kind"), max_length=12, choices=Kind, default=Kind.CUSTOM)
    custom_kind = models.ForeignKey(
        LoreKind,
        models.RESTRICT,
        null=True,
        blank=True,
        related_name="entries",
        verbose_name=_("kind of the world's own"),
    )
    title = models.CharField(_("title"), max_length=200)
    body = models.TextField(
        _("text"), blank=True, default="", help_text=_("Markdown; :::secret … ::: hides a block.")
    )
    aliases = names_field(_("aliases"))
    tags = names_field(_("tags"), 80)
    folder = models.CharField(_("folder"), max_length=200, blank=True, default="", help_text=FOLDER)
    language = models.CharField(_("language"), max_length=8, default="en")
    status = models.CharField(_("status"), max_length=10, choices=Status, default=Status.DRAFT)
    in_world_at = models.FloatField(_("in-world day"), null=True, blank=True)
    in_world_label = models.CharField(_("in-world date"), max_length=120, blank=True, default="")
    in_world_until = models.FloatField(_("until day"), null=True, blank=True)
    in_world_until_label = models.CharField(_("until date"), max_length=120, blank=True, default="")
    campaign = own_campaign("lore", IN_CAMPAIGN)
    overrides = models.ForeignKey(
        "self",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="overridden_by",
        verbose_name=_("overrides"),
        help_text=_("The canon entry that this entry replaces in its campaign."),
    )
    author = models.CharField(_("author"), max_length=120, blank=True, default="")
    origin = models.CharField(
        _("origin"),
        max_length=200,
        blank=True,
        default="",
        help_text=_("Where the entry comes from."),
    )
    extra = models.JSONField(
        _("extra"),
        default=dict,
        blank=True,
        help_text=_("Imported data that has no field of its own."),
    )
    name_keys = ArrayField(models.CharField(max_length=16), default=list, editable=False)

    objects = LiveManager.from_queryset(LoreQuerySet)()
    with_trash = LoreQuerySet.as_manager()
    history = HistoricalRecords(excluded_fields=["name_keys", *TRASH_FIELDS])

    class Meta:
        verbose_name = _("lore entry")
        verbose_name_plural = _("lore")
        ordering = ["title"]
        constraints = [
            models.UniqueConstraint(
                fields=["world", "slug"],
                condition=LIVE & Q(campaign=None),
                name="lore_slug_in_canon",
            ),
            models.UniqueConstraint(
                fields=["campaign", "slug"], condition=LIVE, name="lore_slug_in_campaign"
            ),
            models.UniqueConstraint(
                fields=["campaign", "overrides"],
                condition=LIVE,
                name="lore_overridden_once_in_campaign",
            ),
            models.CheckConstraint(
                condition=models.Q(overrides=None) | models.Q(campaign__isnull=False),
                name="lore_overrides_in_campaign",
            ),
            models.CheckConstraint(
                condition=models.Q(custom_kind=None) | models.Q(kind="custom"),
                name="lore_custom_kind_is_custom",
            ),
            models.CheckConstraint(
                condition=models.Q(in_world_until=None)
                | models.Q(in_world_until__gte=models.F("in_world_at")),
                name="lore_until_after_at",
            ),
        ]
        indexes = [
            models.Index(fields=["world", "in_world_at", "id"], name="lore_day_of_world"),
            models.Index(fields=["world", "kind"], name="lore_world_kind"),
            GinIndex(fields=["tags"], name="lore_tags"),
            GinIndex(fields=["name_keys"], name="lore_name_keys"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def kind_name(self) -> str:
        """The kind as people read it: that of the world's own, else the built-in one."""
        return self.custom_kind.name if self.custom_kind else str(self.get_kind_display())

    def related_slugs(self) -> dict[str, str | None]:
        names = ("campaign", "overrides", "custom_kind")
        related: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.overrides and self.overrides.deleted_at:
            related["overrides"] = None
        return {name: row.slug if row else None for name, row in related.items()}

    def secret_parts(self) -> "models.QuerySet[Any]":
        return self.passages.filter(secret=True).order_by("position")

    def visibility_changed(self) -> None:
        passages = list(self.passages.defer("embedding", "search_vector"))
        for passage in passages:
            passage.lore = self
            passage.set_audience()
        LorePassage.objects.bulk_update(passages, ["visibility", "known_to"])
        entities = self.nodes.select_for_update()
        hide_entities_of(self, entities)
        if self.status == self.Status.PUBLISHED:
            # The entity of an NPC has its names, more than the entry tells: it follows the NPC.
            open_entities_of(self, entities.exclude(source_ref__startswith="npc:"))
        audience_changed.send(Lore, entry=self)


class LorePassage(Passage, Guarded):
    """A piece of a lore entry. Its audience is the entry's, narrowed by its secret block.
    `revealed_to` are the audiences of the reveals of this block; it survives when the entry is cut
    again."""

    campaign_path = "campaign"

    lore = models.ForeignKey(Lore, models.CASCADE, related_name="passages")
    campaign = models.ForeignKey(Campaign, models.CASCADE, null=True, related_name="+")
    published = models.BooleanField(default=False)
    secret = models.BooleanField(default=False)
    revealed_to = models.JSONField(default=list)
    # Who may see the passage may see these: so a picture in a secret stays secret.
    pictures = ArrayField(models.UUIDField(), default=list, editable=False)
    position = models.PositiveIntegerField(default=0)

    search_config = SearchConfig(
        "lore", public=Q(visibility="public", published=True, campaign=None), context_weight=3
    )

    objects = LorePassageQuerySet.as_manager()

    class Meta(Passage.Meta):
        verbose_name = _("lore passage")
        verbose_name_plural = _("lore passages")
        ordering = ["lore", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["lore", "position"],
                name="lore_passage_position",
                deferrable=models.Deferrable.DEFERRED,
            )
        ]
        indexes = [
            models.Index(fields=["world", "campaign"], name="lore_passage_world_campaign"),
            GinIndex(fields=["pictures"], name="lore_passage_pictures"),
        ]

    def __str__(self) -> str:
        return passage_name(self)

    def set_audience(self) -> None:
        """Set the audience from the entry, the block and its reveals. Does not save."""
        audiences = self.metadata.get("audiences")
        block = None if audiences is None else [*audiences, *self.revealed_to]
        self.visibility, self.known_to = narrow_audience(
            self.lore.visibility, self.lore.known_to, block=block
        )

    def visibility_changed(self) -> None:
        kind = self._meta.model_name
        reveals = Reveal.objects.filter(subject_kind=kind, subject_id=self.pk, undone_at=None)
        self.revealed_to = sorted(set(reveals.values_list("audience", flat=True)))
        self.set_audience()
        self.save(update_fields=["revealed_to", "visibility", "known_to"])
