"""Models of the relation graph.

Facts are bitemporal: `since`/`until` are world days, `believed_from`/`believed_until` are real
time. A changed fact is a new row; the old one gets `believed_until`.
"""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from knowledge.graph.labels import fact_sentence, relation_label
from knowledge.graph.querysets import EdgeQuerySet, FactQuerySet
from retrieval.models import uuid7
from retrieval.text import name_keys, names_in_both
from worlds.audiences import Guarded, Visibility


class NodeKind(models.TextChoices):
    CHARACTER = "Character", _("Character")
    LOCATION = "Location", _("Location")
    ITEM = "Item", _("Item")
    FACTION = "Faction", _("Faction")
    QUEST = "Quest", _("Quest")
    EVENT = "Event", _("Event")


class SourceKind(models.TextChoices):
    EDITOR = "editor", _("Editor")
    EPISODE = "episode", _("Episode")
    LORE = "lore", _("Lore")
    PROPOSAL = "proposal", _("Proposal")
    ENGINE = "engine", _("Game engine")
    IMPORT = "import", _("Import")


FREE_RELATION = "RELATES_TO"
"""The relation of facts that no other relation fits: what they say is their label."""
SCENE = "#scene"
"""Ends the source of a fact that an episode states by who was there, not as one of its `facts`."""


class GraphRelation(models.Model):
    """A kind of edge. `stored_as` names the inverse in whose form it is stored (OWNS is stored
    as OWNED_BY, reversed)."""

    code = models.CharField(
        _("code"), max_length=40, primary_key=True, validators=[RegexValidator(r"^[A-Z][A-Z_]*$")]
    )
    stored_as = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="inverses",
        verbose_name=_("stored as the inverse of"),
    )
    symmetric = models.BooleanField(_("symmetric"), default=False)
    transitive = models.BooleanField(_("transitive"), default=False)
    acyclic = models.BooleanField(_("acyclic"), default=False)

    class Meta:
        verbose_name = _("relation")
        verbose_name_plural = _("relations")
        ordering = ["code"]
        constraints = [
            models.CheckConstraint(
                condition=Q(code__regex=r"^[A-Z][A-Z_]*$"), name="relation_code_is_a_plain_word"
            )
        ]

    def __str__(self) -> str:
        return relation_label(self.code)


class GraphJoin(models.Model):
    """Two kinds that a relation may join. A foreign key (`edge_kinds_allowed`) refuses others."""

    relation = models.ForeignKey(
        GraphRelation, models.CASCADE, related_name="joins", verbose_name=_("relation")
    )
    src_kind = models.CharField(_("source entity"), max_length=10, choices=NodeKind)
    dst_kind = models.CharField(_("target entity"), max_length=10, choices=NodeKind)

    class Meta:
        verbose_name = _("allowed edge")
        verbose_name_plural = _("allowed edges")
        ordering = ["relation", "src_kind", "dst_kind"]
        constraints = [
            models.UniqueConstraint(fields=["relation", "src_kind", "dst_kind"], name="join_once")
        ]

    def __str__(self) -> str:
        kinds = self.get_src_kind_display(), self.get_dst_kind_display()
        return f"{kinds[0]} {relation_label(self.relation_id)} {kinds[1]}"


class GraphFactBase(Guarded):
    """Source, confidence, validity in world days, and the real time for which the row was
    believed."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    source_kind = models.CharField(
        _("source"), max_length=10, choices=SourceKind, default=SourceKind.EDITOR
    )
    source_ref = models.CharField(_("source id"), max_length=200, blank=True, default="")
    source_note = models.TextField(_("source text"), blank=True, default="")
    confidence = models.FloatField(
        _("confidence"), default=1.0, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )
    since = models.FloatField(_("since (in-world day)"), null=True, blank=True)
    until = models.FloatField(_("until (in-world day)"), null=True, blank=True)
    believed_from = models.DateTimeField(_("believed from"), default=timezone.now, editable=False)
    believed_until = models.DateTimeField(
        _("believed until"), null=True, blank=True, editable=False
    )

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=Q(since=None) | Q(until=None) | Q(until__gt=F("since")),
                name="%(class)s_ends_after_it_begins",
            ),
            models.CheckConstraint(
                condition=Q(confidence__gte=0.0) & Q(confidence__lte=1.0),
                name="%(class)s_confidence_0_to_1",
            ),
        ]


class NameKeysField(ArrayField):  # type: ignore[type-arg]
    """Recomputed from `name` and `aliases` on every save. A query by these keys finds candidates
    for a name."""

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:  # noqa: ARG002
        keys = name_keys(model_instance.name, *model_instance.aliases)  # type: ignore[attr-defined]
        setattr(model_instance, self.attname, keys)
        return keys


class GraphNode(GraphFactBase):
    """An entity. `until` is its end: a character's death, a place's ruin."""

    kind = models.CharField(_("kind"), max_length=10, choices=NodeKind)
    slug = models.SlugField(_("slug"), max_length=120, allow_unicode=True)
    name = models.CharField(_("name"), max_length=200)
    aliases = ArrayField(
        models.CharField(max_length=200), verbose_name=_("aliases"), default=list, blank=True
    )
    keys = NameKeysField(models.CharField(max_length=16), default=list, editable=False)
    lore = models.ForeignKey(
        "knowledge.Lore",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="nodes",
        verbose_name=_("lore entry"),
    )
    objects = FactQuerySet.as_manager()

    class Meta(GraphFactBase.Meta):
        verbose_name = _("entity")
        verbose_name_plural = _("entities")
        ordering = ["name"]
        constraints = [
            *GraphFactBase.Meta.constraints,
            models.UniqueConstraint(fields=["world", "slug"], name="node_slug_in_world"),
            models.UniqueConstraint(fields=["world", "id", "kind"], name="node_identity"),
        ]
        indexes = [
            GinIndex(fields=["keys"], name="node_keys"),
            models.Index(fields=["world", "kind"], name="node_kind"),
        ]

    def __str__(self) -> str:
        return self.name


def audiences_of_both(
    own: tuple[str, list[str]], other: tuple[str, list[str]]
) -> tuple[str, list[str]]:
    """Return the `visibility` and `known_to` of who may see a row with `own` and one with
    `other`."""
    if Visibility.PUBLIC in (own[0], other[0]):
        return own if other[0] == Visibility.PUBLIC else other
    if Visibility.GM in (own[0], other[0]):
        return Visibility.GM, []
    return Visibility.REVEALED, names_in_both(other[1], own[1])


class GraphEdge(GraphFactBase):
    """What one source says about two nodes, in the form of `upsert.stored_form`. Two sources
    that say the same are two rows, so that either can be retracted."""

    src = models.ForeignKey(
        GraphNode,
        models.CASCADE,
        related_name="facts_from",
        verbose_name=_("source entity"),
        db_index=False,
    )
    relation = models.ForeignKey(
        GraphRelation,
        models.PROTECT,
        related_name="facts",
        verbose_name=_("relation"),
        db_index=False,
    )
    dst = models.ForeignKey(
        GraphNode,
        models.CASCADE,
        related_name="facts_to",
        verbose_name=_("target entity"),
        db_index=False,
    )
    label = models.CharField(
        _("nature of the relation"),
        max_length=80,
        blank=True,
        default="",
        help_text=_("For example: leads, sister of."),
    )
    written_as = models.CharField(max_length=40, blank=True, default="", editable=False)
    """The relation that its source wrote from the target to the source; empty when the fact was
    written as it is stored."""
    src_kind = models.CharField(max_length=10, choices=NodeKind, editable=False)
    dst_kind = models.CharField(max_length=10, choices=NodeKind, editable=False)
    rests_on = models.ManyToManyField(
        "self", symmetrical=False, related_name="dependants", blank=True, verbose_name=_("based on")
    )
    replaces = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="replaced_by", editable=False
    )
    was_ended = models.BooleanField(default=False, db_default=False, editable=False)
    """Its end follows from another fact, `ended_by`, and is known to whoever knows that one; when
    that was deleted, to game masters alone."""
    ended_by = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="ended", editable=False
    )
    stands_for = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="stand_ins", editable=False
    )
    """The row with the end, in whose place this one from before stands for whoever does not know
    `ended_by`."""
    flag = models.CharField(
        _("needs review"),
        max_length=200,
        blank=True,
        default="",
        help_text=_("Why a person should review it."),
    )
    checked_flag = models.CharField(
        _("flag that was removed"), max_length=200, blank=True, default="", editable=False
    )
    checked_by = models.CharField(
        _("checked by"), max_length=150, blank=True, default="", editable=False
    )
    checked_at = models.DateTimeField(_("checked at"), null=True, blank=True, editable=False)
    edited_by = models.CharField(
        _("recorded by"), max_length=150, blank=True, default="", editable=False
    )
    edited_because = models.CharField(
        _("reason for the change"), max_length=400, blank=True, default="", editable=False
    )

    objects = EdgeQuerySet.as_manager()

    def visibility_changed(self) -> None:
        """Hide the rows that this fact replaced from everybody to whom the fact itself is
        hidden. The row that stands for it without its end is as visible as it."""
        older = self.replaces
        while older:
            older.narrow_to(self.visibility, self.known_to)
            older = older.replaces
        self.stand_ins.update(visibility=self.visibility, known_to=self.known_to)

    def narrow_to(self, visibility: str, known_to: list[str]) -> None:
        """Restrict this row to the audiences that may see both it and a row with these values."""
        own = self.visibility, self.known_to
        narrower = audiences_of_both(own, (visibility, known_to))
        if narrower != own:
            self.visibility, self.known_to = narrower
            self.save(update_fields=["visibility", "known_to"])

    def is_known_wherever(self, other: "GraphEdge") -> bool:
        """Whether everybody who may know `other` may know this fact and its ends."""
        own = wanted = other.visibility, other.known_to
        for row in (self, self.src, self.dst):
            own = audiences_of_both(own, (row.visibility, row.known_to))
        return own == wanted

    class Meta(GraphFactBase.Meta):
        verbose_name = _("fact")
        verbose_name_plural = _("facts")
        ordering = ["-believed_from", "id"]
        constraints = [
            *GraphFactBase.Meta.constraints,
            models.CheckConstraint(condition=~Q(src=F("dst")), name="edge_joins_two_nodes"),
            models.UniqueConstraint(
                F("src"),
                F("relation"),
                F("dst"),
                F("label"),
                Coalesce(F("since"), float("-inf")),
                F("source_kind"),
                F("source_ref"),
                condition=Q(believed_until=None),
                name="edge_believed_once",
            ),
        ]
        indexes = [
            models.Index(fields=["world", "since", "id"], name="edge_since_of_world"),
            models.Index(fields=["world", "until", "id"], name="edge_until_of_world"),
            models.Index(fields=["src", "relation"], name="edge_src"),
            models.Index(fields=["dst", "relation"], name="edge_dst"),
            models.Index(fields=["world", "source_kind", "source_ref"], name="edge_source"),
            models.Index(fields=["world"], condition=~Q(flag=""), name="edge_flagged"),
            models.Index(
                fields=["world"], condition=Q(stands_for__isnull=False), name="edge_standing_in"
            ),
        ]

    def __str__(self) -> str:
        return fact_sentence(self)
