"""Rules and lore as people write them, their documents, and the passages that are searched."""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

import knowledge.editing_models
import knowledge.entry_drafts
import knowledge.glossary_term
import knowledge.graph.models
import knowledge.graph.projection_models
import knowledge.link_models  # noqa: F401
from knowledge.audience import narrow_audience
from knowledge.base_models import Versioned, names_field, own_world
from knowledge.graph.entity_audiences import hide_entities_of, open_entities_of
from knowledge.graph.trash import TrashedWithEntities
from knowledge.lore_kinds import LoreKind
from knowledge.querysets import LorePassageQuerySet, LoreQuerySet, RulePassageQuerySet, RuleQuerySet
from retrieval.models import Passage, SearchConfig
from worlds.audiences import Guarded, Visibility
from worlds.models import Campaign, GameSystem, Reveal, World
from worlds.trash import LIVE, TRASH_FIELDS, LiveManager


class Document(Versioned):
    """A published source of rules: what to cite, and under which licence it may be passed on."""

    slug = models.CharField(
        _("slug"), max_length=80, help_text=_("Prefix of the ids of its rules, such as srd-5.1.")
    )
    title = models.CharField(_("title"), max_length=200)
    system = models.ForeignKey(
        GameSystem,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="documents",
        verbose_name=_("game system"),
        help_text=_("Empty: its rules hold in its world whichever system that plays."),
    )
    world = own_world("documents")
    publisher = models.CharField(_("publisher"), max_length=200, blank=True, default="")
    edition = models.CharField(_("edition"), max_length=80, blank=True, default="")
    licence = models.CharField(_("licence"), max_length=80, blank=True, default="")
    licence_url = models.URLField(_("licence URL"), blank=True, default="")
    attribution = models.TextField(_("attribution"), blank=True, default="")
    source = models.CharField(_("source"), max_length=200, blank=True, default="")

    class Meta:
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        ordering = ["slug"]
        constraints = [
            models.UniqueConstraint(
                fields=["system", "slug"], condition=models.Q(world=None), name="document_shared"
            ),
            models.UniqueConstraint(fields=["world", "slug"], name="document_in_world"),
            models.CheckConstraint(
                condition=models.Q(system__isnull=False) | models.Q(world__isnull=False),
                name="document_of_system_or_world",
            ),
        ]

    def __str__(self) -> str:
        return self.title


class Rule(Versioned):
    """A rule with a stable readable id, such as `srd-5.1/conditions/grappled`."""

    class Kind(models.TextChoices):
        SECTION = "section", _("Section")
        CONDITION = "condition", _("Condition")
        SPELL = "spell", _("Spell")
        MONSTER = "monster", _("Monster")
        CLASS = "class", _("Class")
        FEATURE = "feature", _("Feature")
        ANCESTRY = "ancestry", _("Ancestry")
        BACKGROUND = "background", _("Background")
        FEAT = "feat", _("Feat")
        EQUIPMENT = "equipment", _("Equipment")
        MAGIC_ITEM = "magic_item", _("Magic item")
        SKILL = "skill", _("Skill")
        TERM = "term", _("Term")
        CUSTOM = "custom", _("Custom")

    key = models.CharField(_("rule id"), max_length=200)
    document = models.ForeignKey(
        Document, models.CASCADE, related_name="rules", verbose_name=_("document")
    )
    world = own_world("rules")
    kind = models.CharField(_("kind"), max_length=12, choices=Kind, default=Kind.CUSTOM)
    title = models.CharField(_("title"), max_length=200)
    body = models.TextField(_("text"), help_text=_("Markdown."))
    breadcrumb = names_field(_("breadcrumb"))
    aliases = names_field(_("aliases"))
    language = models.CharField(_("language"), max_length=8, default="en")
    data = models.JSONField(
        _("data"), default=dict, blank=True, help_text=_("Level, school, challenge rating, …")
    )
    visibility = models.CharField(
        _("visibility"), max_length=10, choices=Visibility, default=Visibility.PUBLIC
    )
    known_to = models.JSONField(_("known to"), default=list, blank=True, editable=False)
    campaign = models.ForeignKey(
        Campaign,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="rules",
        verbose_name=_("campaign"),
        help_text=_("Empty: the rule holds in every campaign of the world."),
    )
    overrides = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="overridden_by",
        verbose_name=_("replaces"),
        help_text=_("The rule in whose place this one answers, in its world or campaign."),
    )
    name_keys = ArrayField(models.CharField(max_length=16), default=list, editable=False)

    objects = RuleQuerySet.as_manager()
    history = HistoricalRecords(excluded_fields=["name_keys"])

    class Meta:
        verbose_name = _("rule")
        verbose_name_plural = _("rules")
        ordering = ["key"]
        constraints = [
            models.UniqueConstraint(
                fields=["key"], condition=models.Q(world=None), name="rule_shared"
            ),
            models.UniqueConstraint(fields=["world", "key"], name="rule_in_world"),
            models.UniqueConstraint(
                fields=["world", "overrides"],
                condition=models.Q(campaign=None),
                name="rule_overridden_once_in_world",
            ),
            models.UniqueConstraint(
                fields=["campaign", "overrides"], name="rule_overridden_once_in_campaign"
            ),
            models.CheckConstraint(
                condition=models.Q(world__isnull=False) | models.Q(campaign=None, overrides=None),
                name="rule_overrides_in_world",
            ),
        ]
        indexes = [
            models.Index(fields=["kind"], name="rule_kind"),
            GinIndex(fields=["name_keys"], name="rule_name_keys"),
        ]

    def __str__(self) -> str:
        return self.title


FOLDER = _("Path in the tree of the world's lore, such as North/Carrow.")


class Lore(Versioned, Guarded, TrashedWithEntities):
    """An entry of the world's encyclopedia. With a campaign it is an overlay: it adds to canon, or
    replaces the entry that it `overrides`, in that campaign alone."""

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
    campaign = models.ForeignKey(
        Campaign,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="lore",
        verbose_name=_("campaign"),
        help_text=_(
            "If empty, the entry is canon of the world; otherwise it is known only in this "
            "campaign."
        ),
    )
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


def passage_name(passage: Passage) -> str:
    """Return where the passage stands (title and headings) and its first words. Reads no other
    row, so that a list of a hundred passages is one query."""
    beginning = Truncator(passage.text).words(8)
    return f"{passage.context}: {beginning}" if passage.context else beginning


class RulePassage(Passage):
    """A piece of a rule. World and visibility are copied, so the search needs no join."""

    rule = models.ForeignKey(Rule, models.CASCADE, related_name="passages")
    system = models.ForeignKey(GameSystem, models.CASCADE, null=True, related_name="+")
    world = models.ForeignKey(World, models.CASCADE, null=True, related_name="+")
    campaign = models.ForeignKey(Campaign, models.CASCADE, null=True, related_name="+")
    visibility = models.CharField(max_length=10, choices=Visibility, default=Visibility.PUBLIC)
    known_to = models.JSONField(default=list)
    position = models.PositiveIntegerField(default=0)

    search_config = SearchConfig("srd", scope=Coalesce("world_id", "system_id"), context_weight=3)

    objects = RulePassageQuerySet.as_manager()

    class Meta(Passage.Meta):
        verbose_name = _("rule passage")
        verbose_name_plural = _("rule passages")
        ordering = ["rule", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "position"],
                name="rule_passage_position",
                deferrable=models.Deferrable.DEFERRED,
            )
        ]

    def __str__(self) -> str:
        return passage_name(self)


class LorePassage(Passage, Guarded):
    """A piece of a lore entry. Its audience is the entry's, narrowed by its secret block.
    `revealed_to` are the audiences of the reveals of this block; it survives when the entry is cut
    again."""

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
