"""Admin of the graph: entities with their facts, contradictions to decide, relations and rules as data."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline
from unfold.widgets import UnfoldAdminTextInputWidget

from knowledge.graph.contradictions import record_contradictions
from knowledge.graph.decisions import DECISIONS, resolve_contradiction
from knowledge.graph.fact_store import retract_facts
from knowledge.graph.manual_facts import save_manual_fact
from knowledge.graph.models import (
    ConflictRule,
    Contradiction,
    GraphEdge,
    GraphJoin,
    GraphNode,
    GraphRelation,
)
from retrieval.errors import Problem
from worlds.admin_scoping import WorldScoped

if TYPE_CHECKING:
    FactModelForm = forms.ModelForm[GraphEdge]
else:
    FactModelForm = forms.ModelForm

FACT_FIELDS = [
    "relation",
    "label",
    "since",
    "until",
    "confidence",
    "visibility",
    "source_kind",
    "source_ref",
]
EDITED = ["edited_by", "edited_because"]


class FactForm(FactModelForm):
    """Checks what the database would refuse: kinds, worlds, loops."""

    reason = forms.CharField(
        label=_("reason"),
        required=False,
        max_length=400,
        help_text=_("Why you changed it; kept with the new version."),
        widget=UnfoldAdminTextInputWidget,
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        src, dst = data.get("src") or self._end("src"), data.get("dst") or self._end("dst")
        relation = data.get("relation")
        if src and dst and relation:
            self._check(src, relation, dst)
        return data

    def _end(self, side: str) -> GraphNode | None:
        return getattr(self.instance, side) if getattr(self.instance, f"{side}_id") else None

    def _check(self, src: GraphNode, relation: GraphRelation, dst: GraphNode) -> None:
        if src.world_id != dst.world_id or src.pk == dst.pk:
            raise forms.ValidationError(
                gettext("A fact joins two different entities of one world.")
            )
        if not relation.joins.filter(src_kind=src.kind, dst_kind=dst.kind).exists():
            kinds = {
                "relation": relation.code,
                "src": src.get_kind_display(),
                "dst": dst.get_kind_display(),
            }
            raise forms.ValidationError(
                gettext("%(relation)s may not join %(src)s to %(dst)s.") % kinds
            )
        self.instance.world_id, self.instance.src_kind, self.instance.dst_kind = (
            src.world_id,
            src.kind,
            dst.kind,
        )


class FactsFrom(TabularInline):
    model = GraphEdge
    form = FactForm
    fk_name = "src"
    fields = [*FACT_FIELDS[:1], "dst", *FACT_FIELDS[1:], "reason"]
    autocomplete_fields = ["dst"]
    verbose_name_plural = _("facts from here")
    extra = 0
    tab = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[GraphEdge]:
        facts: QuerySet[GraphEdge] = super().get_queryset(request)
        return facts.filter(believed_until=None)


class FactsTo(FactsFrom):
    fk_name = "dst"
    fields = ["src", *FACT_FIELDS, "reason"]
    autocomplete_fields = ["src"]
    verbose_name_plural = _("facts to here")


@admin.register(GraphNode)
class GraphNodeAdmin(WorldScoped, ModelAdmin):
    list_display = ["name", "kind", "world", "visibility", "until"]
    list_filter = ["world", "kind", "visibility"]
    search_fields = ["name", "slug", "aliases"]
    autocomplete_fields = ["world"]
    raw_id_fields = ["lore"]
    fields = [
        "world",
        "kind",
        "name",
        "slug",
        "aliases",
        "lore",
        "visibility",
        "since",
        "until",
        "source_kind",
        "source_ref",
    ]
    inlines = [FactsFrom, FactsTo]

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Nothing is overwritten: a changed fact becomes a new row, a removed one is no longer believed."""
        formset.save(commit=False)
        for fact in formset.saved_forms:
            save_manual_fact(
                fact.instance, by=request.user.get_username(), because=fact.cleaned_data["reason"]
            )
        retract_facts(formset.deleted_objects, because=gettext("taken back in the admin"))

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        touched = [fact.instance.pk for formset in formsets for fact in formset.saved_forms]
        _tell(request, form.instance, touched)


def _tell(request: HttpRequest, node: GraphNode, edges: list[Any]) -> None:
    for conflict in record_contradictions(node.world, edges=edges, nodes=[node.pk]):
        messages.warning(
            request, gettext("A contradiction was opened: %(says)s") % {"says": conflict.says}
        )


@admin.register(GraphEdge)
class GraphEdgeAdmin(WorldScoped, ModelAdmin):
    form = FactForm
    list_display = [
        "src",
        "relation",
        "dst",
        "label",
        "since",
        "until",
        "source_kind",
        "visibility",
        "flag",
    ]
    list_filter = [
        "world",
        "relation",
        "visibility",
        "source_kind",
        ("flag", admin.EmptyFieldListFilter),
    ]
    list_select_related = ["src", "dst", "relation"]
    search_fields = ["src__name", "dst__name", "label", "source_ref"]
    autocomplete_fields = ["src", "dst"]
    fields = ["src", "relation", "dst", *FACT_FIELDS[1:], "source_note", "flag", "reason", *EDITED]
    readonly_fields = EDITED
    actions = ["take_back", "looked_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[GraphEdge]:
        return super().get_queryset(request).filter(believed_until=None)

    def save_model(self, request: HttpRequest, obj: GraphEdge, form: Any, _change: bool) -> None:
        save_manual_fact(obj, by=request.user.get_username(), because=form.cleaned_data["reason"])
        _tell(request, obj.src, [obj.pk])

    def response_change(self, request: HttpRequest, obj: GraphEdge) -> HttpResponse:
        request.path = reverse(
            "admin:knowledge_graphedge_change", args=[obj.pk]
        )  # the new version's own
        return super().response_change(request, obj)

    @admin.action(description=_("Take back the selected facts"))
    def take_back(self, request: HttpRequest, queryset: QuerySet[GraphEdge]) -> None:
        flagged = retract_facts(list(queryset), because=gettext("taken back in the admin"))
        self.message_user(
            request,
            gettext("Taken back. %(n)d facts that rested on them are flagged.")
            % {"n": len(flagged)},
        )

    @admin.action(description=_("Mark as looked at"))
    def looked_at(self, _request: HttpRequest, queryset: QuerySet[GraphEdge]) -> None:
        queryset.update(flag="")


class DecisionForm(ActionForm):
    how = forms.ChoiceField(
        label=_("Decision"),
        choices=[(how, Contradiction.How(how).label) for how in DECISIONS],
        required=False,
    )
    reason = forms.CharField(label=_("Reason"), required=False)
    at = forms.FloatField(label=_("From world day"), required=False)


@admin.register(Contradiction)
class ContradictionAdmin(WorldScoped, ModelAdmin):
    list_display = ["rule", "first", "second", "ended", "state", "how", "reason", "resolved_by"]
    list_filter = ["state", "world", "rule"]
    list_select_related = [
        "rule",
        "first__src",
        "first__dst",
        "second__src",
        "second__dst",
        "ended",
    ]
    action_form = DecisionForm
    actions = ["decide"]

    @admin.action(description=_("Decide"))
    def decide(self, request: HttpRequest, queryset: QuerySet[Contradiction]) -> None:
        form = DecisionForm(request.POST)
        form.fields["action"].choices = [("decide", "")]  # type: ignore[attr-defined]
        form.is_valid()
        for found in queryset:
            self._decide(request, found, form.cleaned_data)

    def _decide(self, request: HttpRequest, found: Contradiction, said: dict[str, Any]) -> None:
        try:
            decided = resolve_contradiction(
                found,
                how=said["how"],
                reason=said["reason"],
                by=request.user.get_username(),
                at=said["at"],
            )
        except Problem as problem:
            self.message_user(request, problem.detail, messages.ERROR)
            return
        self.message_user(
            request, gettext("Decided. Flagged for a look: %(n)d.") % {"n": len(decided.flagged)}
        )

    def has_add_permission(self, _request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None and super().has_change_permission(request, obj)


class JoinInline(TabularInline):
    model = GraphJoin
    extra = 1


@admin.register(GraphRelation)
class GraphRelationAdmin(ModelAdmin):
    list_display = ["code", "stored_as", "symmetric", "transitive", "acyclic"]
    search_fields = ["code"]
    inlines = [JoinInline]


@admin.register(ConflictRule)
class ConflictRuleAdmin(ModelAdmin):
    list_display = ["says", "form", "relation", "other", "active"]
    list_editable = ["active"]
