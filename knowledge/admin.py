"""Admin of rules, lore, proposals and the glossary. Saving an entry cuts it into passages."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.postgres.fields import ArrayField
from django.db.models import Count, F, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from simple_history.admin import SimpleHistoryAdmin
from unfold.admin import ModelAdmin
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminTextInputWidget

from knowledge.entry_store import save_lore, save_rule
from knowledge.models import (
    Document,
    GlossaryTerm,
    Lore,
    LorePassage,
    LoreProposal,
    Rule,
    RulePassage,
)
from knowledge.playground import try_search
from knowledge.proposals import accept, reject
from retrieval.errors import Problem
from retrieval.indexing import PARKED_AFTER
from retrieval.tasks import embed_soon
from worlds.admin_scoping import WorldScoped
from worlds.audiences import Visibility
from worlds.markdown import safe_html

STALE = Q(passages__embedded_rev__lt=F("passages__rev"))
PARKED = STALE & Q(passages__embed_tries__gte=PARKED_AFTER)


class EmbeddingState(admin.SimpleListFilter):
    """Entries by whether all their passages have vectors."""

    title = _("embedding")
    parameter_name = "embedding"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, Any]]:
        return [("done", _("Embedded")), ("waiting", _("Waiting")), ("failed", _("Given up"))]

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        states = {
            "done": Q(stale=0),
            "waiting": Q(stale__gt=0, parked=0),
            "failed": Q(parked__gt=0),
        }
        state = states.get(self.value() or "")
        return queryset.filter(state) if state else queryset


class ReasonForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    reason = forms.CharField(
        label=_("reason"),
        required=False,
        max_length=100,
        help_text=_("Why you changed it; kept in the history."),
        widget=UnfoldAdminTextInputWidget,
    )


class EntryAdmin(WorldScoped, SimpleHistoryAdmin, ModelAdmin):
    """Shared by rules and lore: embedding state, preview, passages, saving with history."""

    form = ReasonForm
    passages: type[LorePassage] | type[RulePassage]
    domain = ""
    owner = ""
    list_per_page = 50
    show_facets = admin.ShowFacets.ALLOW
    list_filter_submit = True
    warn_unsaved_form = True
    actions = ["embed_again"]
    actions_list = ["try_it"]
    history_list_display = ["version"]
    formfield_overrides = {ArrayField: {"widget": UnfoldAdminTextInputWidget}}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        # A page of fifty entries need not read fifty bodies.
        rows = super().get_queryset(request).defer("body", "name_keys")
        with_counts: QuerySet[Any] = rows.annotate(
            pieces=Count("passages"),
            stale=Count("passages", filter=STALE),
            parked=Count("passages", filter=PARKED),
        )
        return with_counts

    @display(
        description=_("embedding"),
        ordering="stale",
        label={"done": "success", "waiting": "warning", "failed": "danger"},
    )
    def embedding(self, entry: Any) -> tuple[str, str]:
        if entry.parked:
            return "failed", gettext("given up: %(count)d") % {"count": entry.parked}
        if entry.stale:
            return "waiting", f"{entry.pieces - entry.stale}/{entry.pieces}"
        return "done", f"{entry.pieces}/{entry.pieces}"

    @display(
        description=_("who may see it"),
        label={"public": "success", "gm": "danger", "revealed": "info"},
    )
    def audience(self, entry: Any) -> tuple[str, Any]:
        names = ", ".join(entry.known_to) if entry.visibility == Visibility.REVEALED else ""
        return entry.visibility, names or entry.get_visibility_display()

    @admin.display(description=_("preview"))
    def preview(self, entry: Any) -> SafeString:
        context = {"html": safe_html(entry.body), "language": entry.language}
        return render_to_string("admin/knowledge/preview.html", context)

    @admin.display(description=_("passages"))
    def cut_into(self, entry: Any) -> SafeString:
        """How the entry is cut, who finds each piece, and whether its vector is there."""
        rows = self.passages.objects.filter(**{self.owner: entry}).order_by("position")
        context = {"passages": rows.defer("embedding", "search_vector")}
        return render_to_string("admin/knowledge/passages.html", context)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        save = save_lore if isinstance(obj, Lore) else save_rule
        outcome = save(obj, reason=form.cleaned_data.get("reason", ""))
        if outcome != "unchanged":
            embed_soon(self.domain)

    @admin.action(description=_("Embed again"))
    def embed_again(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        rows = self.passages.objects.filter(**{f"{self.owner}__in": queryset.values("pk")})
        count = rows.update(embedded_rev=0, embed_tries=0, embed_after=None, embed_error="")
        embed_soon(self.domain)
        message = ngettext(
            "%d passage will be embedded again.", "%d passages will be embedded again.", count
        )
        messages.success(request, message % count)

    @action(description=_("Try search"), url_path="try", icon="search")
    def try_it(self, request: HttpRequest) -> HttpResponse:
        return redirect(f"admin:{TRY_SEARCH}")


TRY_SEARCH = "knowledge_try_search"
IN_WORLD = ("in_world_at", "in_world_label", "in_world_until", "in_world_until_label")


@admin.register(Lore)
class LoreAdmin(EntryAdmin):
    passages, domain, owner = LorePassage, "lore", "lore"
    list_display = [
        *("title", "kind", "world", "campaign", "status", "audience", "embedding", "updated_at"),
    ]
    list_filter = ["world", "campaign", "kind", "status", "visibility", "language", EmbeddingState]
    list_select_related = ["world", "campaign"]
    search_fields = ["title", "slug", "aliases", "tags", "body"]
    prepopulated_fields = {"slug": ["title"]}
    autocomplete_fields = ["world", "campaign", "overrides"]
    readonly_fields = ["preview", "cut_into", "origin", "extra", "version"]
    actions = ["embed_again", "publish", "withdraw"]
    date_hierarchy = "updated_at"
    fieldsets = [
        (None, {"fields": ["title", "slug", "world", "kind", "body", "preview"]}),
        (_("Names"), {"fields": ["aliases", "tags", "language"], "classes": ["tab"]}),
        (
            _("Who may know it"),
            {"fields": ["status", "visibility", "campaign", "overrides"], "classes": ["tab"]},
        ),
        (
            _("In-world time"),
            {"fields": IN_WORLD, "classes": ["tab"]},
        ),
        (_("How it is found"), {"fields": ["cut_into"], "classes": ["tab"]}),
        (
            _("Origin"),
            {"fields": ["author", "origin", "extra", "version", "reason"], "classes": ["tab"]},
        ),
    ]

    def get_urls(self) -> list[URLPattern]:
        # Before the routes of single entries, which would take `try-search` for an id.
        page = self.admin_site.admin_view(try_search)
        return [path("try-search/", page, name=TRY_SEARCH), *super().get_urls()]

    @admin.action(description=_("Publish"))
    def publish(self, request: HttpRequest, queryset: QuerySet[Lore]) -> None:
        self._set_status(request, queryset, Lore.Status.PUBLISHED)

    @admin.action(description=_("Make a draft again"))
    def withdraw(self, request: HttpRequest, queryset: QuerySet[Lore]) -> None:
        self._set_status(request, queryset, Lore.Status.DRAFT)

    def _set_status(self, request: HttpRequest, queryset: QuerySet[Lore], status: str) -> None:
        count = 0
        for entry in Lore.objects.filter(pk__in=queryset.values("pk")):
            entry.status = status
            count += save_lore(entry, reason=gettext("status")) == "changed"
        message = ngettext("%d entry was changed.", "%d entries were changed.", count)
        messages.success(request, message % count)


@admin.register(Rule)
class RuleAdmin(EntryAdmin):
    passages, domain, owner = RulePassage, "srd", "rule"
    list_display = [
        *("title", "key", "kind", "document", "world", "audience", "embedding", "updated_at"),
    ]
    list_filter = ["document", "kind", "world", "language", EmbeddingState]
    list_select_related = ["document", "world"]
    search_fields = ["title", "key", "aliases", "body"]
    autocomplete_fields = ["world", "document"]
    readonly_fields = ["preview", "cut_into", "version"]
    fieldsets = [
        (None, {"fields": ["title", "key", "document", "world", "kind", "body", "preview"]}),
        (_("Names"), {"fields": ["aliases", "breadcrumb", "language"], "classes": ["tab"]}),
        (_("Who may know it"), {"fields": ["visibility"], "classes": ["tab"]}),
        (_("How it is found"), {"fields": ["cut_into"], "classes": ["tab"]}),
        (_("Data"), {"fields": ["data", "version", "reason"], "classes": ["tab"]}),
    ]


@admin.register(Document)
class DocumentAdmin(WorldScoped, ModelAdmin):
    list_display = ["title", "slug", "system", "world", "edition", "licence", "rules_in_it"]
    list_filter = ["system", "world", "licence"]
    search_fields = ["title", "slug", "publisher"]
    autocomplete_fields = ["system", "world"]
    readonly_fields = ["version"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        rows: QuerySet[Document] = super().get_queryset(request)
        return rows.annotate(rule_count=Count("rules"))

    @admin.display(description=_("rules"), ordering="rule_count")
    def rules_in_it(self, document: Any) -> int:
        return int(document.rule_count)


@admin.register(LoreProposal)
class LoreProposalAdmin(WorldScoped, ModelAdmin):
    """Accept as it is, edit and accept, or reject. Decided proposals are read-only."""

    list_display = ["title", "world", "proposed_by", "state_shown", "created_at", "decided_by"]
    list_filter = ["state", "world"]
    search_fields = ["entry", "proposed_by", "reason"]
    readonly_fields = [
        *("world", "campaign", "preview", "reason", "proposed_by", "state", "decided_by", "lore"),
    ]
    fields = [
        *("world", "campaign", "entry", "preview", "reason", "proposed_by", "decision"),
        *("state", "decided_by", "lore"),
    ]
    actions = ["accept_them", "reject_them"]

    def has_add_permission(self, _request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: LoreProposal | None = None) -> bool:
        is_open = obj is None or obj.state == LoreProposal.State.OPEN
        return is_open and super().has_change_permission(request, obj)

    @admin.display(description=_("title"))
    def title(self, proposal: LoreProposal) -> str:
        return str(proposal)

    @display(
        description=_("state"),
        label={"open": "warning", "accepted": "success", "rejected": "danger"},
    )
    def state_shown(self, proposal: LoreProposal) -> tuple[str, str]:
        return proposal.state, proposal.get_state_display()

    @admin.display(description=_("preview"))
    def preview(self, proposal: LoreProposal) -> SafeString:
        context = {"html": safe_html(str(proposal.entry.get("body", "")))}
        return render_to_string("admin/knowledge/preview.html", context)

    @admin.action(description=_("Accept as proposed"))
    def accept_them(self, request: HttpRequest, queryset: QuerySet[LoreProposal]) -> None:
        for proposal in queryset:
            try:
                accept(proposal, by=request.user.get_username())
                embed_soon("lore")
            except (Problem, ValueError) as problem:
                messages.error(request, f"{proposal}: {problem}")

    @admin.action(description=_("Reject"))
    def reject_them(self, request: HttpRequest, queryset: QuerySet[LoreProposal]) -> None:
        for proposal in queryset:
            try:
                reject(proposal, by=request.user.get_username())
            except Problem as problem:
                messages.error(request, f"{proposal}: {problem}")


@admin.register(GlossaryTerm)
class GlossaryTermAdmin(ModelAdmin):
    list_display = ["term", "language", "names_shown", "kind", "system"]
    list_filter = ["system", "language", "kind"]
    search_fields = ["term", "names"]
    autocomplete_fields = ["system"]

    @admin.display(description=_("names"))
    def names_shown(self, term: GlossaryTerm) -> str:
        return ", ".join(term.names)
