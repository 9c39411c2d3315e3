"""The sections of the admin: what its sidebar and its dashboard list, and its palette searches.

A model that nobody has put into a section is listed under "More", so that it cannot get lost.
"""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.contrib.admin import ModelAdmin, site
from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.dataclasses import SearchResult

SECTIONS: tuple[tuple[Any, dict[str, str]], ...] = (
    (
        _("World"),
        {
            "knowledge.lore": "menu_book",
            "knowledge.rule": "gavel",
            "knowledge.document": "library_books",
            "knowledge.loreproposal": "rate_review",
            "knowledge.graphnode": "hub",
            "knowledge.graphedge": "share",
            "knowledge.contradiction": "compare_arrows",
            "art.artcard": "palette",
            "knowledge.glossaryterm": "translate",
            "knowledge.graphrelation": "linked_services",
            "knowledge.conflictrule": "rule",
        },
    ),
    (
        _("Game"),
        {
            "npcs.npc": "person",
            "npcs.disposition": "favorite",
            "npcs.dispositionchange": "swap_vert",
            "worlds.campaign": "flag",
            "worlds.party": "groups",
            "worlds.character": "face",
            "episodes.arc": "timeline",
            "episodes.session": "event",
            "episodes.scene": "theater_comedy",
            "episodes.episode": "auto_stories",
            "episodes.recap": "summarize",
            "episodes.thread": "forum",
            "worlds.reveal": "visibility",
        },
    ),
    (
        _("Agents"),
        {
            "memories.namespace": "folder_open",
            "memories.memoryitem": "psychology",
            "memories.observation": "description",
            "memories.message": "chat",
            "memories.reflection": "lightbulb",
            "memories.insight": "emoji_objects",
            "memories.agentstate": "smart_toy",
            "memories.storedcoderule": "code",
            "memories.erasurereceipt": "receipt_long",
        },
    ),
    (
        _("People and access"),
        {
            "auth.user": "account_circle",
            "worlds.membership": "badge",
            "worlds.invitation": "mail",
            "worlds.apikey": "key",
            "worlds.webhook": "webhook",
            "worlds.webhookdelivery": "outgoing_mail",
            "worlds.auditedcall": "fact_check",
            "auth.group": "group",
        },
    ),
    (
        _("Operations"),
        {
            "worlds.world": "public",
            "worlds.gamesystem": "casino",
            "retrieval.languagemodelcall": "neurology",
            "axes.accessattempt": "lock",
            "axes.accesslog": "login",
            "axes.accessfailurelog": "no_accounts",
        },
    ),
)
HITS_PER_MODEL = 8
SHORTEST_SEARCH = 2


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the groups of the sidebar, with what the user may see."""
    admins = {
        label: admin
        for label, admin in _admins().items()
        if admin.has_view_permission(request) or admin.has_add_permission(request)
    }
    overview = {"title": gettext("Overview"), "icon": "dashboard", "link": reverse("admin:index")}
    groups = [{"title": "", "items": [overview]}]
    for title, icons in SECTIONS:
        items = [_item(admins.pop(label), icons[label]) for label in icons if label in admins]
        groups.append({"title": str(title), "items": items})
    more = [_item(admin, "table_rows") for admin in admins.values()]
    groups.append({"title": gettext("More"), "items": more})
    return [group for group in groups if group["items"]]


def _admins() -> "dict[str, ModelAdmin[Any]]":
    """Return the admin of each model that has one, by the model's label."""
    return {
        model._meta.label_lower: site.get_model_admin(model)
        for model in apps.get_models()
        if site.is_registered(model)
    }


def _item(admin: "ModelAdmin[Any]", icon: str) -> dict[str, Any]:
    meta = admin.model._meta
    return {
        "title": capfirst(str(meta.verbose_name_plural)),
        "icon": icon,
        "link": reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist"),
    }


def search_results(request: HttpRequest, term: str) -> list[SearchResult]:
    """Return the lists and rows that fit `term`, some of each kind, within the user's worlds."""
    term = term.strip()
    lists = [
        SearchResult(item["title"], group["title"], item["link"], item["icon"])
        for group in navigation(request)
        for item in group["items"]
        if term.casefold() in item["title"].casefold()
    ]
    return lists if len(term) < SHORTEST_SEARCH else [*lists, *_rows(request, term)]


def _rows(request: HttpRequest, term: str) -> Iterator[SearchResult]:
    admins = _admins()
    for _title, icons in SECTIONS:
        for label, icon in icons.items():
            admin = admins[label]
            if admin.get_search_fields(request) and admin.has_view_permission(request):
                yield from _rows_of(admin, request, term, icon)


def _rows_of(
    admin: "ModelAdmin[Any]", request: HttpRequest, term: str, icon: str
) -> Iterator[SearchResult]:
    meta = admin.model._meta
    rows, _duplicates = admin.get_search_results(request, admin.get_queryset(request), term)
    for row in rows[:HITS_PER_MODEL]:
        link = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
        yield SearchResult(str(row), capfirst(str(meta.verbose_name)), link, icon)
