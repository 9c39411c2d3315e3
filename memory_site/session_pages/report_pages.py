"""After the session: write or paste what happened, review the proposed episode, record it."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from episodes.models import Thread
from episodes.notes import notes_for_report
from episodes.report_models import SessionReport
from memory_site import tasks
from memory_site.run_progress import progress_context, show_progress
from memory_site.session_pages.episode_lines import lines_of_proposal
from memory_site.session_pages.episode_pages import (
    choose_party,
    explain,
    party_for,
    session_of,
    show_or_record,
)
from memory_site.session_pages.scene_defaults import fields_of_scene, scene_of, with_cast
from memory_site.session_reports.proposal import Proposal
from memory_site.session_reports.sentences import LONGEST_REPORT
from memory_site.session_reports.store import (
    add_report,
    is_read_at_once,
    proposal_of,
    read_report,
    session_for,
    transcript_of,
)
from memory_site.site_task import send_after_commit
from retrieval.errors import Problem
from worlds.audiences import Visibility
from worlds.pages import Viewer, gm_page, render_page

State = SessionReport.State


@gm_page
def after(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    """Write or paste what happened. Nothing is recorded by this page."""
    session = session_of(viewer, ref)
    party = party_for(viewer, session, request.GET.get("party"))
    if party is None:
        return choose_party(request, viewer, session)
    notes = notes_for_report(session, party)
    problem, text = "", request.POST.get("text", "")
    if request.method == "POST":
        chosen = set(request.POST.getlist("notes"))
        used = [note for note in notes if str(note.pk) in chosen]
        try:
            report, is_new = add_report(session, party, text, author=viewer.name, notes=used)
        except Problem as refused:
            problem = explain(refused)
        else:
            return read_and_show(request, viewer, report, is_new=is_new)
    waiting = SessionReport.objects.filter(session=session).exclude(state=State.RECORDED)
    response = render_page(
        request,
        viewer,
        "sessions/after.html",
        session=session,
        party=party,
        notes=notes,
        waiting=waiting.defer("text", "proposal"),
        text=text,
        problem=problem,
        longest=LONGEST_REPORT,
    )
    response.status_code = 400 if problem else 200
    return response


def read_and_show(
    request: HttpRequest, viewer: Viewer, report: SessionReport, *, is_new: bool
) -> HttpResponse:
    """Read a new report, here or by the worker, and lead to its page."""
    if not is_new:
        tell_same(request, report)
    elif is_read_at_once(report):
        read_report(report)
    else:
        send_after_commit(tasks.read_session_report, report)
    return redirect("session-report", viewer.world.slug, report.session.external_id, report.pk)


@require_POST
@gm_page
def propose_from_thread(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    """Propose an episode from the steps of a thread, to review like that of a report."""
    rows = Thread.objects.filter(world=viewer.world, party__in=viewer.parties)
    rows = rows.select_related("party__campaign", "party__world", "scene__session__world")
    thread = get_object_or_404(rows, external_id=ref)
    session = session_for(thread)
    if session is None:
        text = _("An episode belongs to a session: add the session first.")
        messages.warning(request, text, extra_tags="warning")
        return redirect("session-new", viewer.world.slug)
    try:
        report, is_new = add_report(
            session, thread.party, transcript_of(thread), author=viewer.name
        )
    except Problem as refused:
        messages.error(request, explain(refused), extra_tags="bad")
        return redirect("party", viewer.world.slug, thread.party.slug)
    return read_and_show(request, viewer, report, is_new=is_new)


def tell_same(request: HttpRequest, report: SessionReport) -> None:
    if report.state == State.RECORDED:
        text = _("This text was recorded before: here is the episode. It is not recorded again.")
    else:
        text = _("This text is here already and waits for your review. It was not added again.")
    messages.warning(request, text, extra_tags="warning")


def report_of(viewer: Viewer, ref: str, pk: UUID) -> SessionReport:
    rows = SessionReport.objects.filter(world=viewer.world, session__external_id=ref)
    rows = rows.select_related("session__campaign", "party__campaign", "party__world", "episode")
    report: SessionReport = get_object_or_404(rows, pk=pk)
    return report


@gm_page
def report_page(request: HttpRequest, viewer: Viewer, ref: str, report: UUID) -> HttpResponse:
    """The proposal to review; while it is being read, how far that is; once recorded, its
    episode."""
    row = report_of(viewer, ref, report)
    if row.state == State.RECORDED and row.episode:
        return redirect("episode", viewer.world.slug, row.episode.external_id)
    if row.state == State.READING:
        context = progress_context(row, **addresses(viewer, row))
        return render_page(request, viewer, "sessions/reading.html", report=row, **context)
    proposal = proposal_of(row)
    date = proposal.dates[0] if proposal.dates else None
    scene = scene_of(row.session, row.party)
    played = fields_of_scene(row.session, scene)
    initial = {
        "what": proposal.summary,
        "notes": proposal.notes,
        "players": proposal.players,
        "where": place_name(proposal) or played["where"],
        "in_world_at": date.in_world_at if date else played["in_world_at"],
        "in_world_label": date.in_world_label if date else played["in_world_label"],
        "visibility": Visibility.REVEALED,
    }
    return show_or_record(
        request,
        viewer,
        party=row.party,
        session=row.session,
        initial=initial,
        lines=with_cast(lines_of_proposal(proposal), scene),
        title=_("Review the episode"),
        cancel=reverse("session", args=[viewer.world.slug, row.session.external_id]),
        report=row,
        proposal=proposal,
        unknown_names=unknown_names(proposal),
    )


def unknown_names(proposal: Proposal) -> list[str]:
    """Who and what the text for the party names that the party does not know of."""
    firsts = (line.candidates[0] for line in proposal.reveals)
    return [each.name for each in firsts if each.secret is None]


def place_name(proposal: Proposal) -> str:
    """The name of the main place, as people write it."""
    every = (each for place in proposal.places for each in place.candidates)
    return next((each.name for each in every if each.ref == proposal.where), proposal.where)


def addresses(viewer: Viewer, report: SessionReport) -> dict[str, str]:
    args = [viewer.world.slug, report.session.external_id, report.pk]
    return {
        "page": reverse("session-report", args=args),
        "poll": reverse("session-report-progress", args=args),
    }


@gm_page
def report_progress(request: HttpRequest, viewer: Viewer, ref: str, report: UUID) -> HttpResponse:
    row = report_of(viewer, ref, report)
    is_over = row.state != State.READING
    return show_progress(request, row, is_over=is_over, **addresses(viewer, row))


@require_POST
@gm_page
def read_now(_request: HttpRequest, viewer: Viewer, ref: str, report: UUID) -> HttpResponse:
    """Read the report by rules, without waiting for the worker or the language model."""
    row = report_of(viewer, ref, report)
    if row.state == State.READING:
        read_report(row, with_model=False)
    return redirect("session-report", viewer.world.slug, row.session.external_id, row.pk)


@require_POST
@gm_page
def drop(request: HttpRequest, viewer: Viewer, ref: str, report: UUID) -> HttpResponse:
    """Delete a report that is not recorded; its notes are free again."""
    row = report_of(viewer, ref, report)
    if row.state != State.RECORDED:
        row.delete()
        messages.success(request, _("The report is dropped; nothing of it was recorded."))
    return redirect("session", viewer.world.slug, ref)
