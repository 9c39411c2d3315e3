"""Pages on which sessions are made, changed, ordered and deleted, and notes are taken."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from episodes.loose_ends import close_loose_end, find_loose_end, reopen_loose_end
from episodes.models import Session
from episodes.notes import add_note, notes_of
from episodes.running_scenes import find_open_scene
from episodes.session_api import delete_unless_used
from memory_site.session_pages.episode_pages import explain, session_of
from memory_site.session_pages.sessions import (
    SessionForm,
    first_values,
    initial_of,
    move_session,
)
from retrieval.errors import NotFound, Problem
from worlds.pages import Viewer, gm_page, render_page


@gm_page
def new_session(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    return show_or_save(request, viewer, None)


@gm_page
def edit_session(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    return show_or_save(request, viewer, session_of(viewer, ref))


def show_or_save(request: HttpRequest, viewer: Viewer, session: Session | None) -> HttpResponse:
    initial = initial_of(session) if session else first_values(viewer)
    form = SessionForm(request.POST or None, initial=initial, viewer=viewer)
    if request.method == "POST" and form.is_valid():
        try:
            saved = form.save(session)
        except Problem as problem:
            form.add_error(None, explain(problem))
        else:
            messages.success(request, _("The session is saved."), extra_tags="good")
            return redirect("session", viewer.world.slug, saved.external_id)
    return render_page(request, viewer, "sessions/session_form.html", form=form, session=session)


@require_POST
@gm_page
def move(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    """Change places with the session before or after it."""
    try:
        move_session(session_of(viewer, ref), later=request.POST.get("to") == "later")
    except Problem as problem:
        messages.error(request, explain(problem), extra_tags="bad")
    return redirect("sessions", viewer.world.slug)


@require_POST
@gm_page
def delete_session(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    """Only an empty session is deleted."""
    session = session_of(viewer, ref)
    try:
        delete_unless_used(session)
    except Problem as problem:
        messages.error(request, explain(problem), extra_tags="bad")
        return redirect("session", viewer.world.slug, ref)
    messages.success(request, _("The session is deleted."), extra_tags="good")
    return redirect("sessions", viewer.world.slug)


@require_POST
@gm_page
def quick_note(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Store a note. htmx gets the form again, with a line that says so."""
    ref = request.POST.get("session", "")
    session = session_of(viewer, ref) if ref else None
    problem = ""
    try:
        party = viewer.party(request.POST.get("party"))
        if session is None and party and (scene := find_open_scene(party)):
            session = scene.session  # opened since the page was loaded
        add_note(
            viewer.world,
            request.POST.get("text", ""),
            author=viewer.name,
            party=party,
            session=session,
            campaign=viewer.campaign,
        )
    except Problem as refused:
        problem = explain(refused)
    if request.headers.get("HX-Request"):
        context = {"world": viewer.world, "viewer": viewer, "party": party, "session": session}
        context |= {"problem": problem, "is_saved": not problem, "text": request.POST.get("text")}
        return render(request, "gm/parts/quick_note.html", context)
    if problem:
        messages.error(request, problem, extra_tags="bad")
    else:
        messages.success(request, _("The note is saved."), extra_tags="good")
    return back(request, viewer, session)


def back(request: HttpRequest, viewer: Viewer, session: Session | None) -> HttpResponseRedirect:
    """To the page that sent the form."""
    target = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}):
        return HttpResponseRedirect(target)
    if session:
        args = [viewer.world.slug, session.external_id]
        return HttpResponseRedirect(reverse("session", args=args))
    return HttpResponseRedirect(reverse("sessions", args=[viewer.world.slug]))


@require_POST
@gm_page
def delete_note(request: HttpRequest, viewer: Viewer, note: UUID) -> HttpResponse:
    row = get_object_or_404(notes_of(viewer.world), pk=note)
    row.delete()
    messages.success(request, _("The note is deleted."), extra_tags="good")
    return back(request, viewer, row.session)


@require_POST
@gm_page
def change_loose_end(request: HttpRequest, viewer: Viewer, loose_end: UUID) -> HttpResponse:
    """Close it, or open it again."""
    try:
        row = find_loose_end(viewer.world, loose_end)
    except NotFound as problem:
        messages.error(request, explain(problem), extra_tags="bad")
        return back(request, viewer, None)
    if request.POST.get("to") == "open":
        reopen_loose_end(row)
        text = _("“%(text)s” is open again.")
    else:
        close_loose_end(row, by=viewer.name)
        text = _("“%(text)s” is done. Under “Closed” it can be opened again.")
    messages.success(request, text % {"text": row.text}, extra_tags="good")
    return redirect("party", viewer.world.slug, row.party.slug)
