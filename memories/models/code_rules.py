"""Code rules as they stand, and every outcome that made them so."""

from typing import Any

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from memories.code_rules.rule import (
    EMA_ALPHA,
    GLOBAL,
    MIN_CONFIDENCE,
    PROMOTED_AT,
    PatternType,
    RuleCategory,
)
from memories.models.namespaces import Namespace
from retrieval.models import uuid7

CATEGORIES = [
    (RuleCategory.NULL_SAFETY.value, _("Null safety")),
    (RuleCategory.ERROR_HANDLING.value, _("Error handling")),
    (RuleCategory.READABILITY.value, _("Readability")),
    (RuleCategory.PERFORMANCE.value, _("Performance")),
    (RuleCategory.SECURITY.value, _("Security")),
]
PATTERN_TYPES = [
    (PatternType.LITERAL.value, _("Literal")),
    (PatternType.REGEX.value, _("Regular expression")),
    (PatternType.AST.value, _("Syntax tree")),
]


def python_only() -> list[str]:
    return ["python"]


class StoredCodeRule(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="code_rules")
    project_id = models.CharField(_("project"), max_length=255, default=GLOBAL, db_default=GLOBAL)
    name = models.CharField(_("name"), max_length=255)
    description = models.TextField(_("description"), blank=True, default="")
    category = models.CharField(_("category"), max_length=50, choices=CATEGORIES)
    before_pattern = models.TextField(_("before"), blank=True, default="")
    after_pattern = models.TextField(_("after"), blank=True, default="")
    pattern_type = models.CharField(
        _("pattern is"), max_length=20, choices=PATTERN_TYPES, default="literal"
    )
    languages: "models.JSONField[Any, Any]" = models.JSONField(_("languages"), default=python_only)
    confidence = models.FloatField(_("confidence"), default=0.5)
    observation_count = models.PositiveIntegerField(_("seen"), default=1)
    success_count = models.PositiveIntegerField(_("worked"), default=0)
    failure_count = models.PositiveIntegerField(_("failed"), default=0)
    min_confidence_threshold = models.FloatField(_("applied from"), default=MIN_CONFIDENCE)
    promotion_threshold = models.FloatField(_("trusted from"), default=PROMOTED_AT)
    created_at = models.DateTimeField(_("created"), db_default=Now())
    updated_at = models.DateTimeField(_("updated"), db_default=Now())

    class Meta:
        db_table = "memory_code_rules"
        verbose_name = _("code rule")
        verbose_name_plural = _("code rules")
        indexes = [
            models.Index(fields=["namespace", "project_id"], name="idx_code_rules_project"),
            models.Index(fields=["category"], name="idx_code_rules_category"),
            models.Index(fields=["-confidence"], name="idx_code_rules_confidence"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(confidence__gte=0, confidence__lte=1),
                name="code_rule_confidence_is_a_share",
            )
        ]

    def __str__(self) -> str:
        return self.name


class CodeRuleOutcome(models.Model):
    """One time the rule was tried, and how sure it was afterwards: its confidence over time."""

    rule = models.ForeignKey(StoredCodeRule, models.CASCADE, related_name="outcomes")
    success = models.BooleanField(_("worked"))
    confidence = models.FloatField(_("confidence afterwards"))
    ema_alpha = models.FloatField(_("weight of one outcome"), default=EMA_ALPHA)
    at = models.DateTimeField(_("when"), db_default=Now())

    class Meta:
        verbose_name = _("outcome of a code rule")
        verbose_name_plural = _("outcomes of code rules")
        indexes = [models.Index(fields=["rule", "at"], name="code_rule_outcome_at")]


class AgentState(models.Model):
    """An agent's unfinished work (a task's working memory, its preferences as far as seen), by
    name."""

    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="agent_states")
    name = models.CharField(_("name"), max_length=120)
    state: "models.JSONField[Any, Any]" = models.JSONField(_("state"), default=dict)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        verbose_name = _("agent's unfinished work")
        verbose_name_plural = _("agent's unfinished work")
        constraints = [
            models.UniqueConstraint(fields=["namespace", "name"], name="agent_state_by_name")
        ]

    def __str__(self) -> str:
        return self.name
