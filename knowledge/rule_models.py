"""Rules of game systems and worlds, the documents they come from, and their passages."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from knowledge.base_models import Versioned, names_field, own_campaign, own_world, passage_name
from knowledge.querysets import RulePassageQuerySet, RuleQuerySet
from retrieval.models import Passage, SearchConfig
from worlds.audiences import Visibility
from worlds.models import Campaign, GameSystem, World


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
    campaign = own_campaign("rules", _("Empty: the rule holds in every campaign of the world."))
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
