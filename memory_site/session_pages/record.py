"""Record an episode from its form, through the code that an engine's episodes go through."""

from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from episodes.ingest import ingest_episode
from episodes.lookup import lore_by_name
from episodes.models import Episode, Session
from episodes.report_models import SessionReport
from episodes.running_scenes import find_open_scene
from episodes.scenes import end_scene
from episodes.schemas import EpisodeIn, IngestReport
from episodes.tasks import recap_session
from knowledge.graph.models import GraphNode
from memory_site.editor.relations import entity_of_name, relation_in_words
from memory_site.session_pages.episode_forms import (
    ChangeForm,
    EpisodeForm,
    LineForm,
    LineFormSet,
)
from npcs.lookup import find_npcs
from npcs.models import NPC
from retrieval.errors import Conflict, Problem
from retrieval.models import uuid7
from retrieval.tasks import embed_soon
from worlds.models import Party, World

LineSets = dict[str, LineFormSet]


class FormRefused(Exception):
    """A line names what does not exist, or several things; its form says so."""


def new_summary_id(session: Session) -> str:
    return f"{session.external_id[:90]}-{uuid7().hex[-12:]}"


def resolve_names(world: World, sets: LineSets) -> None:
    """Put slugs for the names that were typed. Adds the errors to the lines; raises
    `FormRefused`."""
    _resolve_npcs(world, [*sets["people"].lines_to_record(), *sets["changes"].lines_to_record()])
    for form in sets["reveals"].lines_to_record():
        _resolve_subject(world, form)
    for form in sets["facts"].lines_to_record():
        _resolve_fact(world, form)
    if any(form.errors for each in sets.values() for form in each.forms):
        raise FormRefused


def _resolve_npcs(world: World, forms: list[LineForm]) -> None:
    typed = [
        (form, field, name)
        for form in forms
        for field in ("npc", "toward")
        if (name := form.cleaned_data.get(field))
    ]
    found, missing = find_npcs(world, [name for *_field, name in typed]) if typed else ({}, {})
    for form, field, name in typed:
        if name in found:
            form.cleaned_data[field] = found[name].slug
        elif name in missing and (missing[name] or isinstance(form, ChangeForm)):
            near = ", ".join(missing[name]) or "–"
            text = _("“%(name)s” is no NPC of this world, or several. Near: %(near)s.")
            form.add_error(field, text % {"name": name, "near": near})
    for form in forms:
        if form.cleaned_data.get("toward", "") == form.cleaned_data.get("npc"):
            form.add_error("toward", _("Choose another NPC than the one who changes their mind."))


def _resolve_subject(world: World, form: LineForm) -> None:
    """Make `npc:<slug>#<number>` or `lore:<slug>` of a name that was typed."""
    text = str(form.cleaned_data.get("subject", ""))
    kind, colon, _rest = text.partition(":")
    if colon and kind in ("npc", "lore"):
        return
    number = form.cleaned_data.get("secret")
    suffix = f"#{number}" if number else ""
    npcs, missing = find_npcs(world, [text])
    entry = lore_by_name(world, [text]).get(text)
    if text in npcs:
        form.cleaned_data["subject"] = f"npc:{npcs[text].slug}{suffix}"
    elif entry:
        form.cleaned_data["subject"] = f"lore:{entry.slug}{suffix}"
    else:
        near = ", ".join(missing.get(text, ())) or "–"
        message = _("Nothing in this world is called “%(name)s”, or several are. Near: %(near)s.")
        form.add_error("subject", message % {"name": text, "near": near})


def _resolve_fact(world: World, form: LineForm) -> None:
    for name in ("src", "dst"):
        if value := form.cleaned_data.get(name):
            try:
                form.cleaned_data[name] = entity_of_name(world, value).slug
            except Problem as problem:
                form.add_error(name, problem.detail)


def episode_from_form(
    head: EpisodeForm,
    sets: LineSets,
    *,
    party: Party,
    session: Session | None,
    base: EpisodeIn | None,
) -> EpisodeIn:
    """Return the episode that the form says; what the form does not show stays as in `base`. Raises
    `ValidationError` of pydantic and `Invalid`."""
    data = head.cleaned_data
    stored = base.model_dump(mode="json", exclude_defaults=True) if base else {}
    when = {**stored.get("when", {}), "in_world_at": data["in_world_at"]}
    when["in_world_label"] = data.get("in_world_label", "")
    if base is None:
        played = session.played_at if session else None
        when["real"] = (played or timezone.now()).isoformat()
        stored = {"summary_id": new_summary_id(session) if session else uuid7().hex}
        stored |= {"session_id": session.external_id if session else None}
    else:
        stored["version"] = base.version + 1
    people = [form.cleaned_data["npc"] for form in sets["people"].lines_to_record()]
    fields = {
        "party_id": party.slug,
        "when": when,
        "who": {"players": data["players"], "npcs": list(dict.fromkeys(people))},
        "where": data["where"],
        "what": data["what"],
        "notes": data["notes"],
        "flags": data["flags"],
        "visibility": data["visibility"],
        "relations_delta": [_change(form) for form in sets["changes"].lines_to_record()],
        "reveals": [_reveal(form) for form in sets["reveals"].lines_to_record()],
        "facts": [_fact(party.world, form) for form in sets["facts"].lines_to_record()],
        "loose_ends": [form.cleaned_data["text"] for form in sets["loose_ends"].lines_to_record()],
    }
    return EpisodeIn.model_validate({**stored, **fields})


def _change(form: LineForm) -> dict[str, Any]:
    data = form.cleaned_data
    return {
        "npc": data["npc"],
        "toward": data["toward"] or None,
        "axis": data["axis"] or "affection",
        "delta": data["delta"],
        "reason": data["reason"],
    }


def _reveal(form: LineForm) -> dict[str, Any]:
    stored = (form.line.stored if form.line else None) or {}
    kind, _colon, ref = form.cleaned_data["subject"].partition(":")
    ref, _mark, number = ref.partition("#")
    subject = {kind: ref, "secret": int(number) if number else None}
    return {"to": stored.get("to", []), **subject, "note": form.cleaned_data["note"]}


def _fact(world: World, form: LineForm) -> dict[str, Any]:
    stored = (form.line.stored if form.line else None) or {}
    data = form.cleaned_data
    if stored and not set(form.changed_data) - {"use"}:
        return stored
    code, label = relation_in_words(world, data["words"])
    ends = {"src": data["src"], "dst": data["dst"], "relation": code, "label": label}
    return {**stored, "edge": {**stored.get("edge", {}), **ends}}


@transaction.atomic
def record_episode(
    world: World,
    summary: EpisodeIn,
    *,
    by: str,
    report: SessionReport | None = None,
    expected_version: int | None = None,
) -> IngestReport:
    """Write the episode with all its effects, and mark its report as recorded: all or nothing.
    Raises `Problem`, `Conflict` for a report that is recorded already."""
    if report:
        report = SessionReport.objects.select_for_update().get(pk=report.pk)
        if report.state == SessionReport.State.RECORDED:
            raise Conflict(_("This report is recorded already."))
    outcome = ingest_episode(world, summary, came_from=by, expected_version=expected_version)
    if report:
        report.state = SessionReport.State.RECORDED
        report.episode = Episode.objects.get(world=world, external_id=summary.summary_id)
        report.save(update_fields=["state", "episode", "updated_at"])
        end_scene_of(report)
    embed_soon("episode")
    if settings.LLM_MODEL and summary.session_id:
        session = Session.objects.get(world=world, external_id=summary.session_id)
        transaction.on_commit(lambda: recap_session.delay(str(session.pk)), robust=True)
    return outcome


def end_scene_of(report: SessionReport) -> None:
    """What happened is written down, so the scene is over that was played last."""
    scene = find_open_scene(report.party)
    if scene and scene.session_id == report.session_id:
        end_scene(scene)


def names_of_refs(world: World, summary: EpisodeIn) -> dict[str, str]:
    """The names of the NPCs, entries and entities that a stored version names by slug: three
    queries."""
    refs = [*summary.who.npcs, *(each.npc for each in summary.relations_delta)]
    refs += [each.toward for each in summary.relations_delta if each.toward]
    refs += [each.npc for each in summary.reveals if each.npc]
    npcs = NPC.objects.in_world(world).filter(slug__in=refs)
    names = dict(npcs.values_list("slug", "name"))
    entries = [each.lore for each in summary.reveals if each.lore]
    found = lore_by_name(world, entries) if entries else {}
    edges = [each.edge for each in summary.facts if each.edge]
    ends = [str(ref) for edge in edges for ref in (edge.src, edge.dst)]
    nodes = GraphNode.objects.believed_now().in_world(world).filter(slug__in=ends)
    entities = dict(nodes.values_list("slug", "name")) if ends else {}
    return {**entities, **{ref: entry.title for ref, entry in found.items()}, **names}
