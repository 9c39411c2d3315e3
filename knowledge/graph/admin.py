"""Admin of the graph: entities with their facts, contradictions to decide, relations and
conflict rules."""

import re
from typing import Any

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

from knowledge.graph.contradiction_models import ConflictRule, Contradiction
from knowledge.graph.contradictions import record_contradictions
from knowledge.graph.decisions import DECISIONS, resolve_contradiction
from knowledge.graph.fact_store import retract_facts
from knowledge.graph.labels import fact_sentence
from knowledge.graph.manual_facts import save_manual_fact
from knowledge.graph.models import GraphEdge, GraphJoin, GraphNode, GraphRelation
from retrieval.errors import Problem
from worlds.admin_days import DayColumns, day_column
from worlds.admin_forms import ExactFields, ExactForms
from worlds.admin_scoping import ScopedChoices, WorldScoped
from worlds.exact_forms import ExactModelForm

RELATION_IN_WORDS = re.compile(r"[A-Za-z]+( [A-Za-z]+)*")
FACT_COLUMNS = ["label", "since", "until", "confidence", "visibility", "source_kind", "source_ref"]
EDITOR_FIELDS = ["edited_by", "edited_because"]


class FactForm(ExactModelForm):
    """Validates what the database would refuse: kinds, worlds, loops."""

    reason = forms.CharField(
        label=_("reason"),
        required=False,
        max_length=400,
        help_text=_("Why you made this change. Stored with the new version."),
        widget=UnfoldAdminTextInputWidget,
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        # An inline form has no field for the entity it belongs to: that end is in the instance.
        src, dst = (
            data.get(side)
            or (getattr(self.instance, f"{side}_id") and getattr(self.instance, side))
            for side in ("src", "dst")
        )
        relation = data.get("relation")
        if src and dst and relation:
            if src.world_id != dst.world_id or src.pk == dst.pk:
                text = gettext("A fact must connect two different entities of the same world.")
                raise forms.ValidationError(text)
            if not relation.joins.filter(src_kind=src.kind, dst_kind=dst.kind).exists():
                kinds = {"src": src.get_kind_display(), "dst": dst.get_kind_display()}
                text = gettext("The relation “%(relation)s” cannot connect %(src)s to %(dst)s.")
                raise forms.ValidationError(text % {"relation": relation, **kinds})
            edge = self.instance
            if {"src", "dst", "relation"} & set(self.changed_data):
                edge.written_as = ""
            edge.world_id, edge.src_kind, edge.dst_kind = src.world_id, src.kind, dst.kind
        return data


class FactsFrom(ScopedChoices, TabularInline):
    model = GraphEdge
    form = FactForm
    fk_name = "src"
    fields = ["relation", "dst", *FACT_COLUMNS, "reason"]
    autocomplete_fields = ["dst"]
    verbose_name_plural = _("outgoing facts")
    extra = 0
    tab = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[GraphEdge]:
        facts: QuerySet[GraphEdge] = super().get_queryset(request)
        return facts.filter(believed_until=None)


class FactsTo(FactsFrom):
    fk_name = "dst"
    fields = ["src", "relation", *FACT_COLUMNS, "reason"]
    autocomplete_fields = ["src"]
    verbose_name_plural = _("incoming facts")


@admin.register(GraphNode)
class GraphNodeAdmin(DayColumns, WorldScoped, ModelAdmin):
    list_per_page = 20
    list_select_related = ["world"]
    list_display = ["name", "kind", "world", "visibility", "ends"]
    ends = day_column("until", _("until (in-world day)"))
    list_filter = ["world", "kind", "visibility"]
    search_fields = ["name", "slug", "aliases"]
    autocomplete_fields = ["world"]
    raw_id_fields = ["lore"]
    fields = ["world", "kind", "name", "slug", "aliases", "lore", "visibility"]
    fields += ["since", "until", "source_kind", "source_ref"]
    inlines = [FactsFrom, FactsTo]

    def get_queryset(self, request: HttpRequest) -> QuerySet[GraphNode]:
        # An entity that is believed no more belongs to an entry or NPC in the trash.
        return super().get_queryset(request).filter(believed_until=None)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Save each changed fact as a new row and retract the removed ones: no row is
        overwritten or deleted."""
        formset.save(commit=False)
        for fact in formset.saved_forms:
            because = fact.cleaned_data["reason"]
            save_manual_fact(fact.instance, by=request.user.get_username(), because=because)
        retract_facts(formset.deleted_objects, because=gettext("retracted in the admin"))

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        edges = [fact.instance.pk for formset in formsets for fact in formset.saved_forms]
        warn_of_contradictions(request, form.instance, edges)


def warn_of_contradictions(request: HttpRequest, node: GraphNode, edges: list[Any]) -> None:
    for conflict in record_contradictions(node.world, edges=edges, nodes=[node.pk]):
        text = gettext("A contradiction was found: %(says)s")
        messages.warning(request, text % {"says": conflict.says})


@admin.register(GraphEdge)
class GraphEdgeAdmin(DayColumns, WorldScoped, ModelAdmin):
    list_per_page = 20
    form = FactForm
    list_display = ["in_words", "begins", "ends"]
    begins = day_column("since", _("since (in-world day)"))
    ends = day_column("until", _("until (in-world day)"))
    list_display += ["source_kind", "visibility", "flag"]
    list_filter = ["world", "relation", "visibility", "source_kind"]
    list_filter += [("flag", admin.EmptyFieldListFilter)]
    list_select_related = ["src", "dst", "relation"]
    search_fields = ["src__name", "dst__name", "label", "source_ref"]
    autocomplete_fields = ["src", "dst"]
    fields = ["src", "relation", "dst", *FACT_COLUMNS, "source_note", "flag", "reason"]
    fields += EDITOR_FIELDS
    readonly_fields = EDITOR_FIELDS
    actions = ["retract", "remove_flags"]

    @admin.display(description=_("fact"), ordering="src__name")
    def in_words(self, fact: GraphEdge) -> str:
        """The fact as it was written."""
        return fact_sentence(fact)

    def get_queryset(self, request: HttpRequest) -> QuerySet[GraphEdge]:
        facts = super().get_queryset(request).filter(believed_until=None)
        return facts.filter(src__believed_until=None, dst__believed_until=None)

    def save_model(self, request: HttpRequest, obj: GraphEdge, form: Any, _change: bool) -> None:
        save_manual_fact(obj, by=request.user.get_username(), because=form.cleaned_data["reason"])
        warn_of_contradictions(request, obj.src, [obj.pk])

    def response_change(self, request: HttpRequest, obj: GraphEdge) -> HttpResponse:
        # Django redirects to request.path, but the new version has an id, and so a page, of its
        # own.
        request.path = reverse("admin:knowledge_graphedge_change", args=[obj.pk])
        return super().response_change(request, obj)

    @admin.action(description=_("Retract the selected facts"))
    def retract(self, request: HttpRequest, queryset: QuerySet[GraphEdge]) -> None:
        facts_to_check = retract_facts(list(queryset), because=gettext("retracted in the admin"))
        text = gettext("Retracted. Dependent facts flagged for review: %(n)d.")
        self.message_user(request, text % {"n": len(facts_to_check)})

    @admin.action(description=_("Mark as checked"))
    def remove_flags(self, _request: HttpRequest, queryset: QuerySet[GraphEdge]) -> None:
        queryset.update(flag="")


class DecisionForm(ActionForm):
    how = forms.ChoiceField(
        label=_("Decision"),
        choices=[(how, Contradiction.How(how).label) for how in DECISIONS],
        required=False,
    )
    reason = forms.CharField(label=_("Reason"), required=False)
    at = forms.FloatField(label=_("From in-world day"), required=False)


@admin.register(Contradiction)
class ContradictionAdmin(WorldScoped, ModelAdmin):
    list_display = ["rule", "first", "second", "ended", "state", "how", "reason", "resolved_by"]
    list_filter = ["state", "world", "rule"]
    list_select_related = ["rule", "ended"]
    list_select_related += ["first__src", "first__dst", "second__src", "second__dst"]
    action_form = DecisionForm
    actions = ["decide"]

    @admin.action(description=_("Decide"))
    def decide(self, request: HttpRequest, queryset: QuerySet[Contradiction]) -> None:
        form = DecisionForm(request.POST)
        form.fields["action"].choices = [("decide", "")]  # type: ignore[attr-defined]
        form.is_valid()
        decision = {name: form.cleaned_data[name] for name in ("how", "reason", "at")}
        for row in queryset:
            try:
                resolution = resolve_contradiction(row, by=request.user.get_username(), **decision)
            except Problem as problem:
                self.message_user(request, problem.detail, messages.ERROR)
            else:
                text = gettext("Decision saved. Facts flagged for review: %(n)d.")
                self.message_user(request, text % {"n": len(resolution.flagged_facts)})

    def has_add_permission(self, _request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None and super().has_change_permission(request, obj)


class JoinInline(ExactFields, TabularInline):
    model = GraphJoin
    # An empty row would be sent with the first kinds chosen, which are allowed already.
    extra = 0


class RelationForm(ExactModelForm):
    """A new relation is written in words; its code is made of them and never shown."""

    words = forms.CharField(
        label=_("Relation in words"),
        max_length=40,
        help_text=_(
            "As it stands between two names, in Latin letters: “is guarded by”. It cannot be "
            "changed later."
        ),
        widget=UnfoldAdminTextInputWidget,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance._state.adding:
            del self.fields["words"]

    def clean_words(self) -> str:
        words: str = " ".join(self.cleaned_data["words"].split())
        if not RELATION_IN_WORDS.fullmatch(words):
            text = gettext("Write the relation in Latin letters and spaces.")
            raise forms.ValidationError(text)
        relations = list(GraphRelation.objects.all())
        self.instance.code = words.upper().replace(" ", "_")
        names = {name for each in relations for name in (each.code, str(each).casefold())}
        if names & {self.instance.code, words.casefold()}:
            raise forms.ValidationError(gettext("There is a relation in these words."))
        return words


@admin.register(GraphRelation)
class GraphRelationAdmin(ExactForms, ModelAdmin):
    form = RelationForm
    list_display = ["__str__", "stored_as", "symmetric", "transitive", "acyclic"]
    search_fields = ["code"]
    inlines = [JoinInline]

    @admin.display(description=_("Relation in words"))
    def in_words(self, relation: GraphRelation) -> str:
        return str(relation)

    def get_readonly_fields(self, _request: HttpRequest, obj: Any = None) -> list[str]:
        return ["in_words"] if obj else []

    def get_fields(self, _request: HttpRequest, obj: Any = None) -> Any:
        own = "in_words" if obj else "words"
        return [own, "stored_as", "symmetric", "transitive", "acyclic"]


@admin.register(ConflictRule)
class ConflictRuleAdmin(ExactForms, ModelAdmin):
    list_display = ["says", "form", "relation", "other", "active"]
