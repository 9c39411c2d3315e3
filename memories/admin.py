"""Admin of namespaces, memories with their history, observations, messages and erasure receipts."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display as unfold_display

from memories import admin_pages
from memories.models import ErasureReceipt, MemoryItem, Message, Namespace, Observation
from memories.search.history import links_of
from memories.states import State
from worlds.admin_scoping import WorldScoped

STATE_COLOURS = {State.ACTIVE: "success", State.PENDING: "warning", State.REJECTED: "danger"} | (
    dict.fromkeys((State.SUPERSEDED, State.ARCHIVED, State.EXPIRED), "info")
)


class ViewOnlyAdmin(WorldScoped, ModelAdmin):
    """Rows of a namespace that agents and the site write; people change them on the pages of the
    namespace."""

    world_path = "namespace__world"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Namespace)
class NamespaceAdmin(WorldScoped, ModelAdmin):
    list_display = ["name", "world", "review", "inbox_link", "core_link", "health_link"]
    list_filter = ["world", "review"]
    search_fields = ["name", "path"]
    fields = [
        *("name", "world", "language", "review", "merge_top_k", "merge_distance_cutoff", "pages")
    ]
    readonly_fields = ["pages"]
    autocomplete_fields = ["world"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Namespace]:
        rows: QuerySet[Namespace] = super().get_queryset(request)
        waiting = MemoryItem.objects.pending().filter(namespace=OuterRef("pk")).order_by()
        counts = waiting.values("namespace").annotate(count=Count("pk")).values("count")
        return rows.annotate(waiting=Coalesce(Subquery(counts), 0))

    def get_urls(self) -> list[Any]:
        views = [(page, self.admin_site.admin_view(page.view(self))) for page in admin_pages.PAGES]
        urls = [path(f"<uuid:pk>/{page.slug}/", view, name=page.url_name) for page, view in views]
        return [*urls, *super().get_urls()]

    def has_delete_permission(self, request: HttpRequest, obj: Namespace | None = None) -> bool:
        """A namespace is deleted on its page "Delete permanently", which writes a receipt."""
        return False

    @admin.display(description=_("inbox"))
    def inbox_link(self, namespace: Any) -> str:
        text = gettext("%(count)d waiting") % {"count": namespace.waiting}
        return page_link("inbox", namespace, text)

    @admin.display(description=_("core memory"))
    def core_link(self, namespace: Namespace) -> str:
        return page_link("core", namespace, gettext("versions and proposals"))

    @admin.display(description=_("health"))
    def health_link(self, namespace: Namespace) -> str:
        return page_link("health", namespace, gettext("counts and trend"))

    @admin.display(description=_("pages"))
    def pages(self, namespace: Namespace) -> str:
        if namespace._state.adding:
            return "–"
        links = ((page_link(page.slug, namespace, str(page.title)),) for page in admin_pages.PAGES)
        return format_html_join(" · ", "{}", links)


@admin.register(MemoryItem)
class MemoryItemAdmin(ViewOnlyAdmin):
    list_display = [
        *("short", "namespace", "bucket", "coloured_state", "made_by", "recalls", "created_at")
    ]
    list_filter = ["state", "bucket", "made_by", "namespace"]
    search_fields = ["text", "source", "subject", "speaker"]
    list_select_related = ["namespace"]
    show_facets = admin.ShowFacets.ALWAYS
    fields = [
        *("text", "context", "namespace", "bucket", "importance", "state", "made_by", "source"),
        *("subject", "speaker", "event_at", "in_world_label", "expires_at", "created_at"),
        *("recalls", "last_recalled_at", "evidence_list", "links_list", "changes_list"),
    ]
    readonly_fields = ["evidence_list", "links_list", "changes_list"]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("embedding", "search_vector")

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow the filter that the health page uses for memories without observations."""
        return lookup == "observations__isnull" or super().lookup_allowed(lookup, value, request)

    @admin.display(description=_("memory"), ordering="text")
    def short(self, memory: MemoryItem) -> str:
        return memory.text if len(memory.text) < 90 else f"{memory.text[:88]}…"

    @unfold_display(description=_("state"), label=STATE_COLOURS, ordering="state")
    def coloured_state(self, memory: MemoryItem) -> tuple[str, str]:
        return memory.state, str(State(memory.state).label)

    @admin.display(description=_("derived from"))
    def evidence_list(self, memory: MemoryItem) -> str:
        rows = (
            (row.text, row.source or gettext("no source"), f"{row.recorded_at:%Y-%m-%d %H:%M}")
            for row in memory.observations.order_by("recorded_at")
        )
        return html_list("{} <em>({}, {})</em>", rows)

    @admin.display(description=_("replacement history"))
    def links_list(self, memory: MemoryItem) -> str:
        links = links_of(memory).select_related("older", "newer")
        rows = ((link.get_kind_display(), str(link.older), "→", str(link.newer)) for link in links)
        return html_list("<strong>{}</strong> {} {} {}", rows)

    @admin.display(description=_("state history"))
    def changes_list(self, memory: MemoryItem) -> str:
        rows = (
            (f"{row.at:%Y-%m-%d %H:%M:%S}", row.get_state_display(), row.reason, row.by)
            for row in memory.changes.order_by("at", "pk")
        )
        return html_list("{} {} {} {}", rows)


@admin.register(Observation)
class ObservationAdmin(ViewOnlyAdmin):
    list_display = ["__str__", "namespace", "source", "speaker", "recorded_at"]
    list_filter = ["namespace"]
    search_fields = ["text", "source", "subject", "speaker"]


@admin.register(Message)
class MessageAdmin(ViewOnlyAdmin):
    list_display = ["__str__", "namespace", "role", "speaker", "said_at"]
    list_filter = ["namespace", "role"]
    search_fields = ["text", "speaker"]
    fields = ["text", "namespace", "conversation", "role", "speaker", "said_at"]


@admin.register(ErasureReceipt)
class ErasureReceiptAdmin(ViewOnlyAdmin):
    # A receipt outlives its namespace.
    world_path = "world"
    list_display = ["created_at", "scope", "requested_by", "clean", "reason"]
    list_filter = ["scope"]

    @admin.display(description=_("no data left"), boolean=True)
    def clean(self, receipt: ErasureReceipt) -> bool:
        return receipt.is_clean


def page_link(page: str, namespace: Namespace, text: str) -> str:
    url = reverse(f"admin:memories_{page}", args=[namespace.pk])
    return format_html('<a href="{}" class="m37-link">{}</a>', url, text)


def html_list(row_format: str, rows: Any) -> str:
    items = format_html_join("", "<li>" + row_format + "</li>", rows)
    return format_html("<ul>{}</ul>", items) if items else "–"
