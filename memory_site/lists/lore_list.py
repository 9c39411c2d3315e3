"""The list of lore: filtered, sorted, as a list or by folder, with saved filters."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from knowledge.bulk_changes import last_change
from knowledge.editing_models import SavedFilter
from memory_site.lists.filters import (
    COLUMNS,
    LoreFilter,
    filter_choices,
    folder_tree,
    listed_lore,
)
from worlds.pages import Viewer, gm_page, page, render_page

ENTRIES_PER_PAGE = 40
MOST_FILTERS = 50
# A body is long, and the list shows none.
SHOWN = (
    *("slug", "title", "kind", "custom_kind__name", "custom_kind__icon", "folder", "tags"),
    *("status", "visibility", "known_to", "author", "language", "updated_at"),
    *("in_world_at", "in_world_label"),
    *("campaign__slug", "campaign__name", "world_id"),
)


@page
def lore_list(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    lore_filter = LoreFilter.from_query(request.GET, viewer)
    rows = lore_filter.order(lore_filter.narrow(listed_lore(viewer), viewer))
    rows = rows.select_related("custom_kind", "campaign").only(*SHOWN)
    is_tree = viewer.is_gm and request.GET.get("view") == "tree"
    context = {
        "page_obj": _page_of(rows, request.GET.get("page"), has_text=bool(lore_filter.text)),
        "filter": lore_filter,
        "columns": COLUMNS,
        "is_tree": is_tree,
        **filter_choices(viewer),
    }
    if viewer.is_gm:
        folders, unfiled = folder_tree(listed_lore(viewer))
        context |= {
            "folders": folders,
            "unfiled": unfiled,
            "saved_filters": filters_of(request, viewer),
            "last_change": last_change(viewer.world, request.user),
        }
    return render_page(request, viewer, "lists/lore.html", **context)


def _page_of(rows: Any, number: str | None, *, has_text: bool) -> Any:
    """The page `number` of the rows. To look for a text reads every body, so those rows are read
    once for their number and their page, not twice."""
    if not has_text:
        return Paginator(rows, ENTRIES_PER_PAGE).get_page(number)
    page: Any = Paginator(list(rows.values_list("pk", flat=True)), ENTRIES_PER_PAGE).get_page(
        number
    )
    shown = rows.model.objects.select_related("custom_kind", "campaign").only(*SHOWN)
    rows_by_id = shown.in_bulk(list(page.object_list))
    page.object_list = [rows_by_id[pk] for pk in page.object_list if pk in rows_by_id]
    return page


def filters_of(request: HttpRequest, viewer: Viewer) -> Any:
    return SavedFilter.objects.filter(user=request.user.pk, world=viewer.world)


def redirect_to_list(viewer: Viewer, query: str = "") -> HttpResponse:
    url = reverse("lore", args=[viewer.world.slug])
    return HttpResponseRedirect(f"{url}?{query}" if query else url)


@require_POST
@gm_page
def save_filter(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Save the filter of the list under a name; the same name replaces it."""
    name = request.POST.get("name", "").replace("\x00", "").strip()[:80]
    query = LoreFilter.from_query(QueryDict(request.POST.get("filter", "")), viewer).query
    own = filters_of(request, viewer)
    row = {"user": request.user, "world": viewer.world, "query": query}
    if not name:
        messages.error(request, _("Give the filter a name."), extra_tags="bad")
    elif own.exclude(name=name).count() >= MOST_FILTERS:
        messages.error(request, _("Delete a saved filter first."), extra_tags="bad")
    else:
        own.update_or_create(name=name, defaults={"query": query}, create_defaults=row)
        messages.success(request, _("The filter was saved."), extra_tags="good")
    return redirect_to_list(viewer, query)


@require_POST
@gm_page
def delete_filter(request: HttpRequest, viewer: Viewer, saved: str) -> HttpResponse:
    own = filters_of(request, viewer)
    get_object_or_404(own, pk=saved).delete()
    messages.success(request, _("The filter was deleted."), extra_tags="good")
    return redirect_to_list(viewer)
