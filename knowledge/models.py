"""Rules and lore as people write them, their documents, and the passages that are searched."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

import knowledge.graph.models
import knowledge.graph.projection_models  # noqa: F401  (the graph's tables belong to this app)
from knowledge.audience import narrow_audience
from knowledge.querysets import LorePassageQuerySet, LoreQuerySet, RulePassageQuerySet, RuleQuerySet
from retrieval.models import Passage, SearchConfig, uuid7
from worlds.audiences import Guarded, Visibility
from worlds.models import Campaign, GameSystem, Reveal, World


class Versioned(models.Model):
    """A row that people edit. `version` is its entity tag and grows with each saved change."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    version = models.PositiveIntegerField(_("version"), default=1, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        abstract = True


class Document(Versioned):
    """A published source of rules: what to cite, and under which licence it may be passed on."""

    slug = models.CharField(
        _("slug"), max_length=80, help_text=_("Starts the id of each of its rules: srd-5.1.")
    )
    title = models.CharField(_("title"), max_length=200)
    system = models.ForeignKey(
        GameSystem, models.PROTECT, related_name="documents", verbose_name=_("game system")
    )
    world = models.ForeignKey(
        World,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="documents",
        verbose_name=_("world"),
        help_text=_("Empty: shared by all worlds of the game system."),
    )
    publisher = models.CharField(_("publisher"), max_length=200, blank=True, default="")
    edition = models.CharField(_("edition"), max_length=80, blank=True, default="")
    licence = models.CharField(_("licence"), max_length=80, blank=True, default="")
    licence_url = models.URLField(_("licence address"), blank=True, default="")
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
    world = models.ForeignKey(
        World,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="rules",
        verbose_name=_("world"),
        help_text=_("Empty: shared by all worlds of the game system."),
    )
    kind = models.CharField(_("kind"), max_length=12, choices=Kind, default=Kind.CUSTOM)
    title = models.CharField(_("title"), max_length=200)
    body = models.TextField(_("text"), help_text=_("Markdown."))
    breadcrumb = ArrayField(
        models.CharField(max_length=200), verbose_name=_("breadcrumb"), default=list, blank=True
    )
    aliases = ArrayField(
        models.CharField(max_length=200), verbose_name=_("aliases"), default=list, blank=True
    )
    language = models.CharField(_("language"), max_length=8, default="en")
    data = models.JSONField(
        _("data"), default=dict, blank=True, help_text=_("Level, school, challenge rating, …")
    )
    visibility = models.CharField(
        _("visibility"), max_length=10, choices=Visibility, default=Visibility.PUBLIC
    )
    known_to = models.JSONField(_("known to"), default=list, blank=True, editable=False)
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
        ]
        indexes = [
            models.Index(fields=["kind"], name="rule_kind"),
            GinIndex(fields=["name_keys"], name="rule_name_keys"),
        ]

    def __str__(self) -> str:
        return self.title


class Lore(Versioned, Guarded):
    """An entry of the world's encyclopedia. With a campaign it is an overlay: it adds to canon, or
    replaces the entry that it `overrides`, in that campaign alone."""

    class Kind(models.TextChoices):
        PLACE = "place", _("Place")
        FACTION = "faction", _("Faction")
        BIOGRAPHY = "biography", _("Biography")
        TIMELINE = "timeline", _("Timeline")
        EVENT = "event", _("Event")
        ITEM = "item", _("Item")
        CUSTOM = "custom", _("Custom")

    class Status(models.TextChoices):
        DRAFT = "draft", _("Draft")
        PUBLISHED = "published", _("Published")

    slug = models.SlugField(_("slug"), max_length=120, allow_unicode=True)
    kind = models.CharField(_("kind"), max_length=12, choices=Kind, default=Kind.CUSTOM)
    title = models.CharField(_("title"), max_length=200)
    body = models.TextField(
        _("text"), blank=True, default="", help_text=_("Markdown; :::secret … ::: hides a block.")
    )
    aliases = ArrayField(
        models.CharField(max_length=200), verbose_name=_("aliases"), default=list, blank=True
    )
    tags = ArrayField(
        models.CharField(max_length=80), verbose_name=_("tags"), default=list, blank=True
    )
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
        help_text=_("Empty: canon of the world. Set: known in this campaign alone."),
    )
    overrides = models.ForeignKey(
        "self",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="overridden_by",
        verbose_name=_("overrides"),
        help_text=_("The canon entry that this one stands in for, in its campaign."),
    )
    author = models.CharField(_("author"), max_length=120, blank=True, default="")
    origin = models.CharField(
        _("origin"), max_length=200, blank=True, default="", help_text=_("What it came from.")
    )
    extra = models.JSONField(
        _("extra"), default=dict, blank=True, help_text=_("What an import had no field for.")
    )
    name_keys = ArrayField(models.CharField(max_length=16), default=list, editable=False)

    objects = LoreQuerySet.as_manager()
    history = HistoricalRecords(excluded_fields=["name_keys"])

    class Meta:
        verbose_name = _("lore entry")
        verbose_name_plural = _("lore")
        ordering = ["title"]
        constraints = [
            models.UniqueConstraint(
                fields=["world", "slug"],
                condition=models.Q(campaign=None),
                name="lore_slug_in_canon",
            ),
            models.UniqueConstraint(fields=["campaign", "slug"], name="lore_slug_in_campaign"),
            models.UniqueConstraint(
                fields=["campaign", "overrides"], name="lore_overridden_once_in_campaign"
            ),
            models.CheckConstraint(
                condition=models.Q(overrides=None) | models.Q(campaign__isnull=False),
                name="lore_overrides_in_campaign",
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

    def visibility_changed(self) -> None:
        passages = list(self.passages.defer("embedding", "search_vector"))
        for passage in passages:
            passage.lore = self
            passage.set_audience()
        LorePassage.objects.bulk_update(passages, ["visibility", "known_to"])


class RulePassage(Passage):
    """A piece of a rule. World and visibility are copies, so that the search filter needs no
    join.
    """

    rule = models.ForeignKey(Rule, models.CASCADE, related_name="passages")
    system = models.ForeignKey(GameSystem, models.CASCADE, related_name="+")
    world = models.ForeignKey(World, models.CASCADE, null=True, related_name="+")
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


class LorePassage(Passage, Guarded):
    """A piece of a lore entry. Its audience is the entry's, narrowed by its secret block.
    `revealed_to` are the audiences of the reveals of this block; it survives when the entry is cut
    again."""

    lore = models.ForeignKey(Lore, models.CASCADE, related_name="passages")
    campaign = models.ForeignKey(Campaign, models.CASCADE, null=True, related_name="+")
    published = models.BooleanField(default=False)
    secret = models.BooleanField(default=False)
    revealed_to = models.JSONField(default=list)
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
        indexes = [models.Index(fields=["world", "campaign"], name="lore_passage_world_campaign")]

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


class LoreProposal(models.Model):
    """An entry that somebody (a language model, a player, a script) proposes. An editor accepts,
    edits or rejects it; it is not found before that."""

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        ACCEPTED = "accepted", _("Accepted")
        REJECTED = "rejected", _("Rejected")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    world = models.ForeignKey(
        World, models.CASCADE, related_name="lore_proposals", verbose_name=_("world")
    )
    campaign = models.ForeignKey(Campaign, models.CASCADE, null=True, blank=True, related_name="+")
    entry = models.JSONField(_("proposed entry"))
    reason = models.TextField(_("why"), blank=True, default="")
    proposed_by = models.CharField(_("proposed by"), max_length=120, blank=True, default="")
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.OPEN)
    lore = models.ForeignKey(Lore, models.SET_NULL, null=True, blank=True, related_name="proposals")
    decided_by = models.CharField(_("decided by"), max_length=150, blank=True, default="")
    decision = models.TextField(_("note on the decision"), blank=True, default="")
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    decided_at = models.DateTimeField(_("decided"), null=True, blank=True)

    class Meta:
        verbose_name = _("lore proposal")
        verbose_name_plural = _("lore proposals")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return str(self.entry.get("title", self.pk))


class GlossaryTerm(models.Model):
    """A game term and its names in another language: aliases of rules, and words for questions that
    are asked in another language than the rules are written in."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    system = models.ForeignKey(
        GameSystem, models.CASCADE, related_name="glossary", verbose_name=_("game system")
    )
    term = models.CharField(_("term"), max_length=200)
    language = models.CharField(_("language of the names"), max_length=8)
    names = ArrayField(models.CharField(max_length=200), verbose_name=_("names"), default=list)
    kind = models.CharField(_("kind"), max_length=40, blank=True, default="")
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        verbose_name = _("glossary term")
        verbose_name_plural = _("glossary terms")
        ordering = ["term", "language"]
        constraints = [
            models.UniqueConstraint(
                fields=["system", "term", "kind", "language"], name="glossary_term_in_language"
            )
        ]

    def __str__(self) -> str:
        return f"{self.term}: {', '.join(self.names)}"
