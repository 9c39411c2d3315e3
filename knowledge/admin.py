"""Admin of rules, lore, proposals and the glossary. Saving an entry cuts it into passages."""

from collections.abc import Callable
from itertools import groupby
from operator import attrgetter
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminTextInputWidget

from knowledge.editing_models import LoreProposal
from knowledge.entry_store import restore_entry, save_entry
from knowledge.glossary_term import GlossaryTerm
from knowledge.links import claims_of_entry
from knowledge.lore_kinds import LoreKind
from knowledge.markup_check import check_markup
from knowledge.models import Document, Lore, Rule
from knowledge.playground import try_search
from knowledge.proposals import accept, reject
from knowledge.trash import trash_lore
from retrieval.errors import Problem
from retrieval.indexing import PARKED_AFTER
from retrieval.tasks import embed_soon
from worlds.admin_forms import ExactForms
from worlds.admin_history import VersionHistory
from worlds.admin_scoping import WorldScoped
from worlds.admin_texts import EditorTexts
from worlds.audiences import Visibility
from worlds.exact_forms import ExactModelForm
from worlds.markdown import safe_html

STALE = Q(embedded_rev__lt=F("rev"))
PARKED = STALE & Q(embed_tries__gte=PARKED_AFTER)


def tab(label: Any, *fields: str) -> Any:
    return label, {"fields": fields, "classes": ["tab"]}


class EmbeddingState(admin.SimpleListFilter):
    """Entries by whether all their passages have vectors."""

    title = _("embedding")
    parameter_name = "embedding"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("done", _("Embedded")),
            ("waiting", _("Waiting")),
            ("failed", _("Embedding failed")),
        ]

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        passages = queryset.model.passages.rel.related_model.objects
        own = passages.filter(**{queryset.model._meta.model_name: OuterRef("pk")})
        stale, parked = Exists(own.filter(STALE)), Exists(own.filter(PARKED))
        states = {"done": ~stale, "waiting": stale & ~parked, "failed": Q(parked)}
        state = states.get(self.value() or "")
        return queryset.filter(state) if state else queryset


class ReasonForm(ExactModelForm):
    reason = forms.CharField(
        label=_("reason"),
        required=False,
        max_length=100,
        help_text=_("Why you made this change. Stored in the history."),
        widget=UnfoldAdminTextInputWidget,
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        # A text that was stored with a flaw may keep it while other fields change.
        if "body" in self.changed_data and "body" in self.cleaned_data:
            problems = check_markup(self.cleaned_data.get("world"), self.cleaned_data["body"])
            for problem in problems:
                self.add_error("body", str(problem))
        return cleaned


class EntryAdmin(EditorTexts, WorldScoped, VersionHistory, ModelAdmin):
    """Shared by rules and lore: embedding state, preview, passages, saving with history."""

    form = ReasonForm
    editor_texts = {"body"}
    domain = ""
    list_per_page = 20
    show_facets = admin.ShowFacets.ALLOW
    list_filter_submit = True
    warn_unsaved_form = True
    actions = ["embed_again"]
    actions_list = ["try_it"]
    history_list_display = ["version"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        # A page of fifty entries need not read fifty bodies.
        rows = super().get_queryset(request).defer("body", "name_keys")
        # Subqueries are computed for the rows of the page alone; a join would be grouped for all,
        # and again for every count and filter of the page.
        states = {"pieces": Q(), "stale": STALE, "parked": PARKED}
        counts = {name: self._count_passages(state) for name, state in states.items()}
        return rows.annotate(**counts)  # type: ignore[no-any-return]

    def _count_passages(self, state: Q) -> Coalesce:
        owner = f"{self.opts.model_name}_id"
        passages = self.model.passages.rel.related_model.objects.filter(state)
        own = passages.filter(**{owner: OuterRef("pk")}).order_by().values(owner)
        return Coalesce(Subquery(own.annotate(count=Count("pk")).values("count")), 0)

    @display(
        description=_("embedding"),
        ordering="stale",
        label={"done": "success", "waiting": "warning", "failed": "danger"},
    )
    def embedding(self, entry: Any) -> tuple[str, str]:
        if entry.parked:
            return "failed", gettext("failed: %(count)d") % {"count": entry.parked}
        if entry.stale:
            return "waiting", f"{entry.pieces - entry.stale}/{entry.pieces}"
        return "done", f"{entry.pieces}/{entry.pieces}"

    @display(
        description=_("visible to"),
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
        rows = entry.passages.order_by("position").defer("embedding", "search_vector")
        context = {"passages": rows}
        return render_to_string("admin/knowledge/passages.html", context)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if save_entry(obj, reason=form.cleaned_data.get("reason", "")) != "unchanged":
            embed_soon(self.domain)
        is_named = not change or bool({"title", "aliases", "slug"} & set(form.changed_data))
        if is_named and isinstance(obj, Lore):
            for claim in claims_of_entry(obj):
                messages.warning(request, claim.html)

    def restore_version(self, request: HttpRequest, obj: Any, record: Any, reason: str) -> str:
        outcome = restore_entry(obj, record, reason=reason)
        if outcome != "unchanged":
            embed_soon(self.domain)
        return outcome

    @admin.action(description=_("Embed again"))
    def embed_again(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        passages = self.model.passages.rel.related_model.objects
        rows = passages.filter(**{f"{self.opts.model_name}__in": queryset.values("pk")})
        count = rows.update(embedded_rev=0, embed_tries=0, embed_after=None, embed_error="")
        embed_soon(self.domain)
        message = ngettext(
            "%d passage will be embedded again.", "%d passages will be embedded again.", count
        )
        messages.success(request, message % count)

    @action(description=_("Test the search"), url_path="try", icon="search")
    def try_it(self, request: HttpRequest) -> HttpResponse:
        return redirect(f"admin:{TRY_SEARCH}")


TRY_SEARCH = "knowledge_try_search"
LAST_COLUMNS = ("embedding", "updated_at")
IN_WORLD = ("in_world_at", "in_world_label", "in_world_until", "in_world_until_label")


@admin.register(Lore)
class LoreAdmin(EntryAdmin):
    domain = "lore"
    list_display = ["title", "kind", "world", "campaign", "status", "audience", *LAST_COLUMNS]
    list_filter = ["world", "campaign", "kind", "status", "visibility", "language", EmbeddingState]
    list_select_related = ["world", "campaign"]
    # No texts: each would be read to its end for every search. The site's search finds words.
    search_fields = ["title", "slug", "aliases", "tags"]
    search_help_text = _("Finds titles, slugs, other names and tags. Search the site for words.")
    prepopulated_fields = {"slug": ["title"]}
    autocomplete_fields = ["world", "campaign", "overrides", "custom_kind"]
    readonly_fields = ["preview", "cut_into", "origin", "extra", "version"]
    actions = ["embed_again", "publish", "withdraw"]
    date_hierarchy = "updated_at"
    fieldsets = [
        (None, {"fields": ["title", "slug", "world", "kind", "custom_kind", "body", "preview"]}),
        tab(_("Names"), "aliases", "tags", "language"),
        tab(_("Visible to"), "status", "visibility", "campaign", "overrides"),
        tab(_("In-world time"), *IN_WORLD),
        tab(_("Search passages"), "cut_into"),
        tab(_("Origin"), "author", "origin", "extra", "version", "reason"),
    ]

    def get_urls(self) -> list[URLPattern]:
        # Before the routes of single entries, which would take `try-search` for an id.
        page = self.admin_site.admin_view(try_search)
        return [path("try-search/", page, name=TRY_SEARCH), *super().get_urls()]

    @admin.action(description=_("Publish"))
    def publish(self, request: HttpRequest, queryset: QuerySet[Lore]) -> None:
        self._set_status(request, queryset, Lore.Status.PUBLISHED)

    @admin.action(description=_("Change back to draft"))
    def withdraw(self, request: HttpRequest, queryset: QuerySet[Lore]) -> None:
        self._set_status(request, queryset, Lore.Status.DRAFT)

    def delete_model(self, request: HttpRequest, obj: Lore) -> None:
        trash_lore([obj], by=request.user.get_username())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Lore]) -> None:
        ids = queryset.values("pk")
        entries = Lore.objects.filter(pk__in=ids).order_by("world")
        for _world, rows in groupby(entries, key=attrgetter("world_id")):
            trash_lore(list(rows), by=request.user.get_username())

    def _set_status(self, request: HttpRequest, queryset: QuerySet[Lore], status: str) -> None:
        count = 0
        for entry in Lore.objects.filter(pk__in=queryset.values("pk")):
            entry.status = status
            count += save_entry(entry, reason=gettext("status")) == "changed"
        message = ngettext("%d entry was changed.", "%d entries were changed.", count)
        messages.success(request, message % count)


@admin.register(LoreKind)
class LoreKindAdmin(WorldScoped, ModelAdmin):
    list_display = ["name", "slug", "icon", "world"]
    list_filter = ["world"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    autocomplete_fields = ["world"]


@admin.register(Rule)
class RuleAdmin(EntryAdmin):
    domain = "srd"
    list_display = ["title", "key", "kind", "document", "world", "audience", *LAST_COLUMNS]
    list_filter = ["document", "kind", "world", "language", EmbeddingState]
    list_select_related = ["document", "world"]
    search_fields = ["title", "key", "aliases"]
    search_help_text = _("Finds titles, ids and other names. Search the site for words.")
    autocomplete_fields = ["world", "document", "campaign", "overrides"]
    readonly_fields = ["preview", "cut_into", "version"]
    fieldsets = [
        (None, {"fields": ["title", "key", "document", "world", "kind", "body", "preview"]}),
        tab(_("Names"), "aliases", "breadcrumb", "language"),
        tab(_("Visible to"), "visibility", "campaign", "overrides"),
        tab(_("Search passages"), "cut_into"),
        tab(_("Data"), "data", "version", "reason"),
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


PROPOSAL_FIELDS = (
    *("world", "campaign", "entry", "preview", "reason", "proposed_by", "decision"),
    *("state", "decided_by", "lore"),
)


@admin.register(LoreProposal)
class LoreProposalAdmin(WorldScoped, ModelAdmin):
    """Accept as it is, edit and accept, or reject. Decided proposals are read-only."""

    list_display = ["title", "world", "proposed_by", "state_shown", "created_at", "decided_by"]
    list_filter = ["state", "world"]
    search_fields = ["entry", "proposed_by", "reason"]
    fields = PROPOSAL_FIELDS
    readonly_fields = [name for name in PROPOSAL_FIELDS if name not in ("entry", "decision")]
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

    @admin.action(description=_("Accept without changes"))
    def accept_them(self, request: HttpRequest, queryset: QuerySet[LoreProposal]) -> None:
        self._decide_each(request, queryset, accept)
        embed_soon("lore")

    @admin.action(description=_("Reject"))
    def reject_them(self, request: HttpRequest, queryset: QuerySet[LoreProposal]) -> None:
        self._decide_each(request, queryset, reject)

    def _decide_each(
        self, request: HttpRequest, proposals: QuerySet[LoreProposal], decide: Callable[..., Any]
    ) -> None:
        for proposal in proposals:
            try:
                decide(proposal, by=request.user.get_username())
            except (Problem, ValueError) as problem:
                messages.error(request, f"{proposal}: {problem}")


@admin.register(GlossaryTerm)
class GlossaryTermAdmin(ExactForms, ModelAdmin):
    list_display = ["term", "language", "names_shown", "kind", "system"]
    list_filter = ["system", "language", "kind"]
    search_fields = ["term", "names"]
    autocomplete_fields = ["system"]

    @admin.display(description=_("names"))
    def names_shown(self, term: GlossaryTerm) -> str:
        return ", ".join(term.names)
