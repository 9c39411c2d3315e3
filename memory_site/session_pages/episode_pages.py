"""Episodes written and corrected by hand, retracted, restored and deleted."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from episodes.erasure import erase_episode
from episodes.ingest import restore_episode, retract_episode
from episodes.models import Episode, Session
from episodes.report_models import SessionReport
from episodes.schemas import EpisodeIn, IngestReport
from knowledge.models import Lore
from memory_site.session_pages.episode_forms import (
    RELATION_WORDS,
    TITLES,
    EpisodeForm,
    line_sets,
)
from memory_site.session_pages.episode_lines import SECTIONS, Lines, lines_of_episode
from memory_site.session_pages.record import (
    FormRefused,
    LineSets,
    episode_from_form,
    names_of_refs,
    record_episode,
    resolve_names,
)
from memory_site.session_pages.scene_defaults import fields_of_scene, scene_of, with_cast
from memory_site.session_reports.propose import names_unknown_to
from npcs.models import NPC
from retrieval.errors import Problem, StaleVersion
from worlds.audiences import Visibility
from worlds.models import Party
from worlds.name_order import by_name
from worlds.pages import Viewer, gm_page, render_page

MOST_NAMES = 1_000
"""Names that are offered while one types."""
MOST_REASON = 400


def session_of(viewer: Viewer, ref: str) -> Session:
    rows = Session.objects.in_world(viewer.world).select_related("campaign", "party", "world")
    session: Session = get_object_or_404(rows, external_id=ref)
    return session


def episode_of(viewer: Viewer, ref: str) -> Episode:
    rows = Episode.objects.in_world(viewer.world).with_source()
    episode: Episode = get_object_or_404(rows, external_id=ref)
    return episode


def party_for(viewer: Viewer, session: Session, slug: str | None) -> Party | None:
    """The party of the session; of one that is everybody's, the one that was chosen or the only
    one."""
    if session.party:
        return session.party
    parties = [each for each in viewer.parties if each.campaign_id == session.campaign_id]
    if slug:
        return next((each for each in parties if each.slug == slug), None)
    return parties[0] if len(parties) == 1 else None


@gm_page
def new_episode(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    """Write an episode without a report."""
    session = session_of(viewer, ref)
    party = party_for(viewer, session, request.GET.get("party"))
    if party is None:
        return choose_party(request, viewer, session)
    scene = scene_of(session, party)
    initial = {**fields_of_scene(session, scene), "visibility": Visibility.REVEALED}
    lines = with_cast({name: [] for name in SECTIONS}, scene)
    return show_or_record(
        request,
        viewer,
        party=party,
        session=session,
        initial=initial,
        lines=lines,
        title=_("Write an episode"),
        cancel=reverse("session", args=[viewer.world.slug, session.external_id]),
    )


def choose_party(request: HttpRequest, viewer: Viewer, session: Session) -> HttpResponse:
    parties = [each for each in viewer.parties if each.campaign_id == session.campaign_id]
    context = {"session": session, "parties": parties}
    return render_page(request, viewer, "sessions/choose_party.html", **context)


@gm_page
def correct_episode(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    """Change what an episode says. A new version replaces it with its effects."""
    episode = episode_of(viewer, ref)
    body = episode.versions.filter(version=episode.version).values_list("body", flat=True).first()
    if body is None:
        raise Http404
    base = EpisodeIn.model_validate(body)
    initial = {
        "what": base.what,
        "notes": base.notes,
        "players": base.who.players,
        "where": base.where,
        "in_world_at": base.when.in_world_at,
        "in_world_label": base.when.in_world_label,
        "flags": ", ".join(base.flags),
        "visibility": base.visibility.value,
        "version": episode.version,
    }
    return show_or_record(
        request,
        viewer,
        party=episode.party,
        session=episode.session,
        initial=initial,
        lines=lines_of_episode(base, names_of_refs(viewer.world, base)),
        title=_("Correct the episode"),
        cancel=reverse("episode", args=[viewer.world.slug, ref]),
        base=base,
    )


def show_or_record(
    request: HttpRequest,
    viewer: Viewer,
    *,
    party: Party,
    session: Session | None,
    initial: dict[str, Any],
    lines: Lines,
    title: str,
    cancel: str,
    base: EpisodeIn | None = None,
    report: SessionReport | None = None,
    **context: Any,
) -> HttpResponse:
    """Show the form; a POST that is in order records the episode and leads to its page."""
    data = request.POST if request.method == "POST" else None
    head = EpisodeForm(data, initial=initial, party=party, players=initial.get("players", ()))
    sets = line_sets(data, lines)
    sent = SentEpisode(head, sets, party, session, base, report)
    problem = ""
    if data is not None:
        try:
            summary = record_sent(request, viewer, sent)
        except (FormRefused, Problem, ValidationError) as error:
            problem = explain(error)
        else:
            return redirect("episode", viewer.world.slug, summary.summary_id)
    return show_form(request, viewer, sent, problem, title=title, cancel=cancel, **context)


def show_form(
    request: HttpRequest, viewer: Viewer, sent: "SentEpisode", problem: str, **context: Any
) -> HttpResponse:
    response = render_page(
        request,
        viewer,
        "sessions/episode_form.html",
        head=sent.head,
        sections=[(name, TITLES[name], sent.sets[name]) for name in SECTIONS],
        party=sent.party,
        session=sent.session,
        problem=problem,
        report=sent.report,
        lists=lists_of_names(viewer),
        **context,
    )
    response.status_code = 400 if problem else 200
    return response


@dataclass(frozen=True)
class SentEpisode:
    """The form of an episode as it was sent, and what the episode belongs to. `base` is the version
    that it corrects, `report` the one that it was proposed from."""

    head: EpisodeForm
    sets: LineSets
    party: Party
    session: Session | None
    base: EpisodeIn | None
    report: SessionReport | None


def record_sent(request: HttpRequest, viewer: Viewer, sent: SentEpisode) -> EpisodeIn:
    """Record the episode and tell the user so. Raises `FormRefused`, whose faults the form shows,
    a `Problem` or `ValidationError`; then nothing is recorded."""
    # All of them are asked, so that every fault is shown at once.
    if not all([sent.head.is_valid(), *(each.is_valid() for each in sent.sets.values())]):
        raise FormRefused
    resolve_names(viewer.world, sent.sets)
    summary = episode_from_form(
        sent.head, sent.sets, party=sent.party, session=sent.session, base=sent.base
    )
    read = sent.head.cleaned_data["version"] if sent.base else None
    outcome = record_episode(
        viewer.world, summary, by=viewer.name, report=sent.report, expected_version=read
    )
    tell_outcome(request, outcome)
    if summary.visibility != Visibility.GM:
        warn_of_unknown_names(request, sent.party, summary.what)
    return summary


def warn_of_unknown_names(request: HttpRequest, party: Party, text: str) -> None:
    """Tell the game master which names in the text give away what the party does not know of."""
    if names := names_unknown_to(party, text):
        warning = _(
            "The party reads names that it does not know of: %(names)s. Reveal them, or correct "
            "the episode."
        )
        text = warning % {"names": ", ".join(names)}
        messages.warning(request, text, extra_tags="warning")


def explain(error: FormRefused | Problem | ValidationError) -> str:
    if isinstance(error, FormRefused):
        return _("Look at the lines in red. Nothing was recorded.")
    if isinstance(error, StaleVersion):
        return _("Somebody has changed the episode meanwhile. Open it again to see their version.")
    if isinstance(error, Problem):
        near = f" ({', '.join(error.candidates[:5])})" if error.candidates else ""
        return f"{error.detail}{near}"
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}"


def tell_outcome(request: HttpRequest, outcome: IngestReport) -> None:
    text = _("The episode is recorded.")
    if outcome.pending:
        text += " " + _("Large changes of mind wait in the inbox for your approval.")
    messages.success(request, text, extra_tags="good")
    if outcome.unknown:
        names = ", ".join(outcome.unknown)
        text = _("These names are no NPCs of this world yet: %(names)s.") % {"names": names}
        messages.warning(request, text, extra_tags="warning")
    for text in outcome.warnings:
        messages.warning(request, text, extra_tags="warning")


def lists_of_names(viewer: Viewer) -> dict[str, list[str]]:
    """The names that are offered while one types: two queries."""
    npcs = (
        NPC.objects.in_world(viewer.world).order_by(by_name("name")).values_list("name", flat=True)
    )
    entries = Lore.objects.in_world(viewer.world).filter(campaign=None).order_by(by_name("title"))
    titles = list(entries.values_list("title", "kind")[:MOST_NAMES])
    people = list(npcs[:MOST_NAMES])
    return {
        "npc-names": people,
        "place-names": [title for title, kind in titles if kind == Lore.Kind.PLACE],
        "thing-names": list(dict.fromkeys([*people, *(title for title, _kind in titles)])),
        "words": [str(words) for words in RELATION_WORDS],
    }


@require_POST
@gm_page
def retract(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    """Withdraw the effects; the text stays as history."""
    reason = request.POST.get("reason", "").replace("\0", "").strip()[:MOST_REASON]
    text = _("The episode is retracted: its effects are undone.")
    return change(
        request, viewer, ref, lambda: retract_episode(viewer.world, ref, reason=reason), text
    )


@require_POST
@gm_page
def restore(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    text = _("The episode counts again.")
    return change(request, viewer, ref, partial(restore_episode, viewer.world, ref), text)


def change(
    request: HttpRequest, viewer: Viewer, ref: str, write: Callable[[], Any], success: str
) -> HttpResponse:
    episode_of(viewer, ref)  # 404 for one that does not exist
    try:
        write()
    except Problem as problem:
        messages.error(request, explain(problem), extra_tags="bad")
    else:
        messages.success(request, success, extra_tags="good")
    return redirect("episode", viewer.world.slug, ref)


@gm_page
def erase(request: HttpRequest, viewer: Viewer, ref: str) -> HttpResponse:
    """Ask, then delete the episode with its effects and its history."""
    episode = episode_of(viewer, ref)
    if request.method != "POST":
        return render_page(request, viewer, "sessions/erase_episode.html", episode=episode)
    session = episode.session
    erase_episode(viewer.world, ref)
    messages.success(request, _("The episode is deleted for good."), extra_tags="good")
    if session:
        return redirect("session", viewer.world.slug, session.external_id)
    return HttpResponseRedirect(reverse("sessions", args=[viewer.world.slug]))
