"""Code rules with their confidence, and the outcomes it is computed from."""

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
from memories.states import State
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

RULE_STATES = [
    (state.value, state.label) for state in (State.ACTIVE, State.PENDING, State.REJECTED)
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
        _("pattern type"), max_length=20, choices=PATTERN_TYPES, default="literal"
    )
    languages: "models.JSONField[Any, Any]" = models.JSONField(_("languages"), default=python_only)
    state = models.CharField(
        _("state"), max_length=10, choices=RULE_STATES, default="active", db_default="active"
    )
    confidence = models.FloatField(_("confidence"), default=0.5)
    observation_count = models.PositiveIntegerField(_("observation count"), default=1)
    success_count = models.PositiveIntegerField(_("successes"), default=0)
    failure_count = models.PositiveIntegerField(_("failures"), default=0)
    min_confidence_threshold = models.FloatField(_("application threshold"), default=MIN_CONFIDENCE)
    promotion_threshold = models.FloatField(_("trust threshold"), default=PROMOTED_AT)
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
    """One application of a rule, and the rule's confidence after it."""

    rule = models.ForeignKey(StoredCodeRule, models.CASCADE, related_name="outcomes")
    success = models.BooleanField(_("worked"))
    confidence = models.FloatField(_("confidence after the outcome"))
    ema_alpha = models.FloatField(_("weight of one outcome"), default=EMA_ALPHA)
    at = models.DateTimeField(_("time"), db_default=Now())

    class Meta:
        verbose_name = _("outcome of a code rule")
        verbose_name_plural = _("outcomes of code rules")
        indexes = [models.Index(fields=["rule", "at"], name="code_rule_outcome_at")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.confidence:.2f}"


class AgentState(models.Model):
    """An agent's unfinished work by name: the open task's working memory, observed preferences."""

    namespace = models.ForeignKey(Namespace, models.CASCADE, related_name="agent_states")
    name = models.CharField(_("name"), max_length=120)
    state: "models.JSONField[Any, Any]" = models.JSONField(_("state"), default=dict)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        verbose_name = _("unfinished agent work")
        verbose_name_plural = _("unfinished agent work")
        constraints = [
            models.UniqueConstraint(fields=["namespace", "name"], name="agent_state_by_name")
        ]

    def __str__(self) -> str:
        return self.name
