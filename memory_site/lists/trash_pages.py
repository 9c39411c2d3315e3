"""The trash of a world: what is in it, since when, and back."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from knowledge.models import Lore
from knowledge.trash import trashed_lore
from memory_site.person_trash import restore_together, trash_together
from npcs.models import NPC
from npcs.trash import trashed_npcs
from retrieval.errors import Problem
from retrieval.tasks import embed_soon
from worlds.pages import Viewer, gm_page, render_page
from worlds.trash import DAYS_IN_TRASH

ROWS_PER_PAGE = 60


@dataclass(frozen=True)
class TrashedRow:
    kind: str
    pk: UUID
    title: str
    by: str
    at: datetime

    @property
    def goes_at(self) -> datetime:
        return self.at + timedelta(days=DAYS_IN_TRASH)


@gm_page
def trash_page(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    columns = ("pk", "deleted_by", "deleted_at")
    rows = [
        TrashedRow(kind, pk, title, by, at)
        for kind, trashed, name in (
            ("lore", trashed_lore(viewer.world), "title"),
            ("npc", trashed_npcs(viewer.world), "name"),
        )
        for pk, by, at, title in trashed.values_list(*columns, name)
    ]
    rows.sort(key=lambda row: row.at, reverse=True)
    page_obj = Paginator(rows, ROWS_PER_PAGE).get_page(request.GET.get("page"))
    return render_page(request, viewer, "lists/trash.html", page_obj=page_obj, days=DAYS_IN_TRASH)


@require_POST
@gm_page
def restore_row(request: HttpRequest, viewer: Viewer, kind: str, pk: UUID) -> HttpResponse:
    model = TRASHED.get(kind)
    if model is None:
        raise Http404
    trashed = model.with_trash.filter(world=viewer.world).exclude(deleted_at=None)
    row = get_object_or_404(trashed, pk=pk)
    try:
        restore_together(row, by=viewer.name)
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
    else:
        embed_soon("lore")
        text = _("“%(title)s” was restored.") % {"title": row}
        messages.success(request, text, extra_tags="good")
    return HttpResponseRedirect(reverse("trash", args=[viewer.world.slug]))


TRASHED: dict[str, Any] = {"lore": Lore, "npc": NPC}


@require_POST
@gm_page
def trash_entry(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """Move one entry to the trash, with the NPCs whose biography it is if `people` is sent."""
    rows = Lore.objects.filter(world=viewer.world)
    campaign = request.GET.get("campaign") or None
    entry = get_object_or_404(rows.filter(campaign__slug=campaign), slug=slug)
    people = list(entry.npcs.all()) if "people" in request.POST else []
    trash_together(people, [entry], by=viewer.name)
    return _report_move(request, viewer, entry)


@require_POST
@gm_page
def trash_npc(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """Move an NPC to the trash, with its biography if `biography` is sent."""
    rows = NPC.objects.filter(world=viewer.world).select_related("biography")
    npc = get_object_or_404(rows, slug=slug)
    entries = [npc.biography] if npc.biography and "biography" in request.POST else []
    trash_together([npc], entries, by=viewer.name)
    return _report_move(request, viewer, npc)


def _report_move(request: HttpRequest, viewer: Viewer, row: Lore | NPC) -> HttpResponse:
    text = _("“%(title)s” was moved to the trash.") % {"title": row}
    messages.success(request, text, extra_tags="good")
    return HttpResponseRedirect(reverse("trash", args=[viewer.world.slug]))
