"""The Prepare page of a party, and its notes."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from episodes.prep_notes import NotesChanged, read_prep_notes, save_prep_notes
from episodes.running_scenes import find_open_scene
from memory_site.inbox_counts import count_waiting
from memory_site.play import table
from memory_site.play.pages import is_htmx, targets_in
from memory_site.play.prepare import prepare, unknown_things
from memory_site.search_evidence import load_search_models_soon
from retrieval.errors import Problem
from worlds.models import Party
from worlds.page_streams import since_for
from worlds.pages import Viewer, gm_page, render_page


@gm_page
def prepare_page(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """What a game master reads before the next session with a party. What the party does not know
    takes as long as all the rest, so that the browser fetches it afterwards (`unknown_part`); with
    `further` the page has all of it, for a browser without scripts."""
    load_search_models_soon()
    since = since_for(request, viewer)
    viewer, party = table.at_table_of(viewer, slug)
    has_all = bool(request.GET.get("further"))
    return render_page(
        request,
        viewer,
        "gm/prepare.html",
        party=party,
        since=since,
        prepared=prepare(party),
        waiting=count_waiting(viewer.world),
        notes=read_prep_notes(party),
        **(unknown_context(viewer, party, further=True) if has_all else {}),
    )


@gm_page
def unknown_part(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """What the party does not know yet. `further` shows all of it; else the things further away are
    left to a click, because each takes its text and its buttons to render."""
    viewer, party = table.at_table_of(viewer, slug)
    context = unknown_context(viewer, party, further=bool(request.GET.get("further")))
    return render_page(request, viewer, "gm/play/prepare_unknown.html", party=party, **context)


def unknown_context(viewer: Viewer, party: Party, *, further: bool) -> dict[str, Any]:
    scene = find_open_scene(party)
    return {
        "unknown": unknown_things(party, scene),
        "further": further,
        "targets": targets_in(viewer, party, scene),
    }


@require_POST
@gm_page
def save_notes(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """Save the notes. What somebody else has saved meanwhile is shown beside what was typed, and
    nothing is overwritten before the second press."""
    viewer, party = table.at_table_of(viewer, slug)
    text = request.POST.get("text", "").replace("\r\n", "\n")
    version = request.POST.get("version", "")
    try:
        number = int(version) if version.isascii() and version.isdigit() else -1
        save_prep_notes(party, text, version=number, by=viewer.name)
    except NotesChanged:
        return show_notes(request, viewer, party, typed=text)
    except Problem as problem:
        return show_notes(request, viewer, party, typed=text, fault=problem.detail)
    if is_htmx(request):
        return show_notes(request, viewer, party, said=_("The notes are saved."))
    address = reverse("prepare", args=[viewer.world.slug, party.slug])
    return HttpResponseRedirect(f"{address}#notes")


def show_notes(
    request: HttpRequest,
    viewer: Viewer,
    party: Party,
    *,
    typed: str | None = None,
    fault: str = "",
    said: str = "",
) -> HttpResponse:
    notes = read_prep_notes(party)
    stored = notes.text
    if typed is not None:
        notes.text = typed
    context = {
        "party": party,
        "notes": notes,
        "stored": stored if typed is not None and not fault else None,
        "fault": fault,
        "said": said,
    }
    template = "gm/play/prep_notes.html" if is_htmx(request) else "gm/prepare_conflict.html"
    return render_page(request, viewer, template, **context)
