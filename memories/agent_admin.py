"""Admin of code rules with their confidence over time, reflections, insights and agent states."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display

from memories.admin import ViewOnlyAdmin
from memories.models import AgentState, CodeRuleOutcome, Insight, Reflection, StoredCodeRule
from worlds.admin_scoping import WorldScoped

WIDTH, HEIGHT, MAX_POINTS = 320, 60, 100
STANDING_COLOURS = {"trusted": "success", "applied": "info", "weak": "danger"}
CODE_RULE_SETTINGS = [
    *("name", "description", "category", "project_id", "pattern_type", "languages"),
    *("before_pattern", "after_pattern", "min_confidence_threshold", "promotion_threshold"),
]
CODE_RULE_RESULTS = [
    *("namespace", "state", "percent", "observation_count", "success_count", "failure_count"),
    *("over_time", "created_at", "updated_at"),
]


@admin.register(StoredCodeRule)
class CodeRuleAdmin(WorldScoped, ModelAdmin):
    """Texts, patterns and thresholds can be edited; only outcomes change the confidence."""

    world_path = "namespace__world"
    list_display = [
        *("name", "category", "project_id", "namespace", "state"),
        *("standing", "percent", "observation_count"),
    ]
    list_filter = ["state", "category", "pattern_type", "project_id", "namespace"]
    list_select_related = ["namespace"]
    search_fields = ["name", "description", "before_pattern", "after_pattern"]
    ordering = ["-confidence"]
    fields = [*CODE_RULE_SETTINGS, *CODE_RULE_RESULTS]
    readonly_fields = CODE_RULE_RESULTS

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @admin.display(description=_("confidence"), ordering="confidence")
    def percent(self, rule: StoredCodeRule) -> str:
        return f"{rule.confidence:.0%}"

    @display(description=_("rule status"), label=STANDING_COLOURS)
    def standing(self, rule: StoredCodeRule) -> tuple[str, str]:
        if rule.confidence >= rule.promotion_threshold:
            return "trusted", gettext("trusted")
        if rule.confidence >= rule.min_confidence_threshold:
            return "applied", gettext("applied")
        return "weak", gettext("weak")

    @admin.display(description=_("confidence over time"))
    def over_time(self, rule: StoredCodeRule) -> SafeString:
        outcomes = list(rule.outcomes.order_by("-at", "-pk")[:MAX_POINTS])[::-1]
        if not outcomes:
            return SafeString(gettext("No outcome yet."))  # nosec B703
        return format_html("{}{}", confidence_curve(outcomes), outcome_table(outcomes))


@admin.register(Reflection)
class ReflectionAdmin(ViewOnlyAdmin):
    list_display = ["__str__", "trigger", "episodes", "tries", "created_at", "done_at"]
    list_filter = ["trigger", "namespace"]
    list_select_related = ["namespace"]


@admin.register(Insight)
class InsightAdmin(ViewOnlyAdmin):
    world_path = "memory__namespace__world"
    list_display = ["text", "namespace", "rests_on", "state", "flag", "flagged_at"]
    list_filter = ["memory__namespace", ("flagged_at", admin.EmptyFieldListFilter)]
    search_fields = ["memory__text"]
    fields = [
        *("text", "namespace", "state", "reflection", "rests_on", "flag", "flagged_at", "episodes")
    ]
    readonly_fields = ["text", "namespace", "state", "episodes"]

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Any]":
        rows = super().get_queryset(request).defer("memory__embedding", "memory__search_vector")
        return rows.select_related("memory__namespace", "reflection__namespace")

    @admin.display(description=_("insight"))
    def text(self, insight: Insight) -> str:
        return insight.memory.text

    @admin.display(description=_("namespace"))
    def namespace(self, insight: Insight) -> str:
        return str(insight.memory.namespace)

    @admin.display(description=_("state"))
    def state(self, insight: Insight) -> str:
        return str(insight.memory.get_state_display())

    @admin.display(description=_("derived from"))
    def episodes(self, insight: Insight) -> SafeString:
        texts = insight.sources.values_list("episode__text")
        return format_html("<ul>{}</ul>", format_html_join("", "<li>{}</li>", texts))


@admin.register(AgentState)
class AgentStateAdmin(ViewOnlyAdmin):
    list_display = ["name", "namespace", "updated_at"]
    list_filter = ["namespace"]


def confidence_curve(outcomes: list[CodeRuleOutcome]) -> SafeString:
    """Return an SVG; the table below it has the same values for screen readers."""
    step = WIDTH / max(len(outcomes) - 1, 1)
    # SVG counts y downwards; a margin of 2 keeps the line visible at 0 % and 100 %.
    points = " ".join(
        f"{x * step:.1f},{HEIGHT - outcome.confidence * HEIGHT:.1f}"
        for x, outcome in enumerate(outcomes)
    )
    return format_html(
        '<svg viewBox="0 -2 {} {}" width="{}" height="{}" role="img" aria-label="{}">'
        '<polyline points="{}" fill="none" stroke="currentColor" stroke-width="2"/></svg>',
        *(WIDTH, HEIGHT + 4, WIDTH, HEIGHT, gettext("Confidence over time"), points),
    )


def outcome_table(outcomes: list[CodeRuleOutcome]) -> SafeString:
    results = {True: gettext("worked"), False: gettext("failed")}
    cells = (
        (f"{row.at:%Y-%m-%d %H:%M}", results[row.success], f"{row.confidence:.0%}")
        for row in reversed(outcomes)
    )
    rows = format_html_join("", "<tr><td>{}</td><td>{}</td><td>{}</td></tr>", cells)
    return format_html("<table>{}</table>", rows)
