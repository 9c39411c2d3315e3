"""Rules by which facts cannot both be true, the contradictions that were found, and what decisions
about them did."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from knowledge.graph.labels import PROGRAM_RULES
from knowledge.graph.models import GraphEdge, GraphNode, GraphRelation
from retrieval.models import uuid7
from worlds.models import World


class ConflictRule(models.Model):
    """A rule by which two facts cannot both be true. Designers may add rules and switch them
    off."""

    class Form(models.TextChoices):
        SINGLE = "single", _("At most one at a time per entity")
        EXCLUSIVE = "exclusive", _("Two mutually exclusive relations")
        AFTER_END = "after_end", _("No new facts after the entity's end")

    code = models.SlugField(_("code"), max_length=40, primary_key=True)
    form = models.CharField(_("rule type"), max_length=10, choices=Form)
    relation = models.ForeignKey(
        GraphRelation, models.CASCADE, related_name="+", verbose_name=_("relation")
    )
    other = models.ForeignKey(
        GraphRelation,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("excluded relation"),
    )
    says = models.CharField(_("statement"), max_length=200)
    active = models.BooleanField(_("active"), default=True)

    class Meta:
        verbose_name = _("conflict rule")
        verbose_name_plural = _("conflict rules")
        ordering = ["code"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(form="exclusive") & Q(other__isnull=False))
                | (~Q(form="exclusive") & Q(other=None)),
                name="conflict_rule_names_two_when_exclusive",
            )
        ]

    def __str__(self) -> str:
        return self.in_words

    @property
    def in_words(self) -> str:
        """What the rule says; one of those that the program brings, in the language of the page."""
        return str(PROGRAM_RULES.get(self.says, self.says))


class Contradiction(models.Model):
    """Two facts that violate a rule: two edges, or an edge and the end of one of its nodes. Both
    stay until a person decides."""

    class State(models.TextChoices):
        OPEN = "open", _("Unresolved")
        RESOLVED = "resolved", _("Resolved")

    class How(models.TextChoices):
        KEEP_FIRST = "keep_first", _("Keep the first from a given day")
        KEEP_SECOND = "keep_second", _("Keep the second from a given day")
        KEEP_BOTH = "keep_both", _("Keep both")
        RETRACT_FIRST = "retract_first", _("Retract the first")
        RETRACT_SECOND = "retract_second", _("Retract the second")
        GONE = "gone", _("Resolved by another change")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    world = models.ForeignKey(
        World, models.CASCADE, related_name="contradictions", verbose_name=_("world")
    )
    rule = models.ForeignKey(
        ConflictRule, models.CASCADE, related_name="contradictions", verbose_name=_("rule")
    )
    first = models.ForeignKey(
        GraphEdge, models.CASCADE, related_name="+", verbose_name=_("first fact")
    )
    second = models.ForeignKey(
        GraphEdge,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("second fact"),
    )
    ended = models.ForeignKey(
        GraphNode,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("ended entity"),
    )
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.OPEN)
    how = models.CharField(_("decision"), max_length=16, choices=How, blank=True, default="")
    reason = models.TextField(_("reason"), blank=True, default="")
    resolved_by = models.CharField(_("decided by"), max_length=150, blank=True, default="")
    opened_at = models.DateTimeField(_("found at"), auto_now_add=True)
    resolved_at = models.DateTimeField(_("decided at"), null=True, blank=True)
    decided_with = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="decided_together",
        editable=False,
    )
    """The contradiction between the same statements, of other sources, that was decided."""

    class Meta:
        verbose_name = _("contradiction")
        verbose_name_plural = _("contradictions")
        ordering = ["state", "-opened_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(second=None, ended__isnull=False) | Q(second__isnull=False, ended=None),
                name="contradiction_has_two_sides",
            ),
            models.UniqueConstraint(
                fields=["rule", "first", "second"], name="contradiction_of_facts_once"
            ),
            models.UniqueConstraint(
                fields=["rule", "first", "ended"], name="contradiction_with_end_once"
            ),
        ]
        indexes = [models.Index(fields=["world", "state"], name="contradiction_open")]

    def __str__(self) -> str:
        return f"{self.first} / {self.second or self.ended}"


class DecisionEffect(models.Model):
    """What a decision about a contradiction did, so that it can be undone: `fact` was retracted, or
    replaced by `became`; or the end of `node`, on day `until`, was removed."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    contradiction = models.ForeignKey(Contradiction, models.CASCADE, related_name="effects")
    fact = models.ForeignKey(GraphEdge, models.CASCADE, null=True, related_name="+")
    became = models.ForeignKey(GraphEdge, models.CASCADE, null=True, related_name="+")
    node = models.ForeignKey(GraphNode, models.CASCADE, null=True, related_name="+")
    until = models.FloatField(null=True)

    class Meta:
        verbose_name = _("effect of a decision")
        verbose_name_plural = _("effects of decisions")
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(fact__isnull=False, node=None, until=None)
                | Q(fact=None, became=None, node__isnull=False, until__isnull=False),
                name="effect_on_fact_or_entity",
            )
        ]

    def __str__(self) -> str:
        return str(self.fact or self.node)
