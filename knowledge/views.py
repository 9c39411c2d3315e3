"""Pages of lore, with only the blocks that the viewer may know of."""

from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from knowledge.models import Lore
from worlds.audiences import Audience
from worlds.models import World
from worlds.pages import Viewer, page, render_page

ENTRIES_PER_PAGE = 60


def _entries(world: World, audience: Audience) -> QuerySet[Lore]:
    rows = Lore.objects.in_world(world).visible_to(audience).filter(campaign=None)
    return rows if audience.is_gm else rows.published()


@page
def lore_list(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    rows = _entries(viewer.world, viewer.audience)
    if kind := request.GET.get("kind", ""):
        rows = rows.filter(kind=kind)
    if name := request.GET.get("name", "").strip():
        rows = rows.filter(Q(title__icontains=name) | Q(aliases__icontains=name))
    pages = Paginator(rows.order_by("title"), ENTRIES_PER_PAGE)
    context = {"found": pages.get_page(request.GET.get("page")), "kinds": Lore.Kind.choices}
    return render_page(request, viewer, "gm/lore.html", kind=kind, name=name, **context)


@page
def lore_entry(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """One entry. A game master reads its text, others the passages that they may know of."""
    entry = get_object_or_404(_entries(viewer.world, viewer.audience), slug=slug)
    passages = entry.passages.visible_to(viewer.audience).order_by("position")
    text = entry.body if viewer.is_gm else "\n\n".join(passages.values_list("text", flat=True))
    return render_page(request, viewer, "gm/lore_entry.html", entry=entry, text=text)
