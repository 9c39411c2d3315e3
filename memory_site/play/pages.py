"""The Play page: the box, the open scene with its cast, notes, dice; and what its buttons do."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from episodes import running_scenes
from episodes.models import Scene
from episodes.scenes import SceneEnded, end_scene
from memory_site.play import table, table_scene
from memory_site.play.party_knowledge import PartyKnowledge
from memory_site.play.people import PeopleAtTable
from memory_site.search_evidence import load_search_models_soon
from npcs.lookup import find_npc
from npcs.models import NPC
from retrieval.errors import Ambiguous, Invalid, NotFound, Problem
from retrieval.text import storage_flaw
from worlds.models import Party, World
from worlds.page_streams import since_for
from worlds.pages import Viewer, gm_page, render_page
from worlds.world_calendar import calendar_of, read_date

STEPS = ("10", "60", "480", "1440")
"""Minutes by which a tap lets time pass."""
LONGEST_QUESTION = 300


@gm_page
def play_page(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """What a game master needs at the table with one party."""
    load_search_models_soon()
    since = since_for(request, viewer)
    viewer, party = table.at_table_of(viewer, slug)
    scene = running_scenes.find_open_scene(party)
    # With an answer the browser fetches the scene afterwards: it takes as long as the answer.
    scene_follows = bool({"q", "kind"} & request.GET.keys()) and "scene" not in request.GET
    people = PeopleAtTable(PartyKnowledge(viewer, party), None if scene_follows else scene)
    # The answer first: a person in it is read together with those of the scene.
    context = answer_context(request, viewer, people) | {"scene_follows": scene_follows}
    if scene_follows:
        context |= answered_scene(viewer, party, scene)
    else:
        context |= scene_context(viewer, people)
    return render_page(request, viewer, "gm/play.html", since=since, **context)


@gm_page
def lookup(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """What the box finds: `q` is a question, `kind` and `ref` name one thing."""
    viewer, party = table.at_table_of(viewer, slug)
    scene = running_scenes.find_open_scene(party)
    # Without the scene, whose people are not shown here.
    people = PeopleAtTable(PartyKnowledge(viewer, party))
    context = answer_context(request, viewer, people)
    context |= answered_scene(viewer, party, scene)
    return render_page(request, viewer, "gm/play/answer.html", **context)


def answer_context(request: HttpRequest, viewer: Viewer, people: PeopleAtTable) -> dict[str, Any]:
    question = request.GET.get("q", "").replace("\0", "").strip()[:LONGEST_QUESTION]
    kind, ref = request.GET.get("kind", ""), request.GET.get("ref", "")
    context: dict[str, Any] = {"q": question, "party_viewer": people.knowledge.viewer}
    try:
        if kind:
            context["answer"] = table.BoxAnswer(table.open_thing(viewer, people, kind, ref))
        elif question and not storage_flaw(question):
            context["answer"] = table.answer(viewer, people, question)
    except Problem as problem:
        context["problem"] = problem
    return context


def answered_scene(viewer: Viewer, party: Party, scene: Scene | None) -> dict[str, Any]:
    """What the answer of the box needs of the open scene."""
    targets = targets_in(viewer, party, scene)
    return {"party": party, "now": {"scene": scene}, "targets": targets}


def targets_in(viewer: Viewer, party: Party, scene: Scene | None) -> table.Targets:
    cast = NPC.objects.in_world(viewer.world).filter(slug__in=scene.cast if scene else [])
    return table.targets_of(party, list(cast.order_by("name")))


# --- the scene


def scene_context(viewer: Viewer, people: PeopleAtTable) -> dict[str, Any]:
    scene = table_scene.read_scene(viewer, people)
    return {
        "party": people.party,
        "party_viewer": people.knowledge.viewer,
        "now": scene,
        "known_cast": [person.npc for person in scene.cast if person.is_known],
        "unknown_cast": [person.npc for person in scene.cast if not person.is_known],
        "targets": table.targets_of(people.party, people.cast),
        "steps": [
            ("10", _("10 minutes")),
            ("60", _("1 hour")),
            ("480", _("8 hours")),
            ("1440", _("1 day")),
        ],
    }


@gm_page
def scene_part(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """The open scene and its cast, to be fetched again after a change."""
    return show_scene(request, *table.at_table_of(viewer, slug))


def show_scene(
    request: HttpRequest,
    viewer: Viewer,
    party: Party,
    *,
    said: str = "",
    is_bad: bool = False,
    meant: Sequence[str] = (),
) -> HttpResponse:
    """Answer with the scene's part of the page and a message; without scripts, with the page.

    `meant` are names or ids of those who may have been meant."""
    if request.method == "POST" and not is_htmx(request):
        return back_to_play(request, viewer, party, said, is_bad=is_bad)
    people = PeopleAtTable(PartyKnowledge(viewer, party), running_scenes.find_open_scene(party))
    context = {**scene_context(viewer, people), "said": said, "is_bad": is_bad}
    context |= candidates_of(viewer, people.knowledge, meant)
    return render_page(request, viewer, "gm/play/scene.html", **context)


def candidates_of(
    viewer: Viewer, knowledge: PartyKnowledge, meant: Sequence[str]
) -> dict[str, list[NPC]]:
    """The NPCs of these names or ids: those whom the party knows, and the others."""
    rows = NPC.objects.in_world(viewer.world).filter(Q(name__in=meant) | Q(slug__in=meant))
    found = list(rows.order_by("name")) if meant else []
    return {
        "candidates": [npc for npc in found if knowledge.knows(npc)],
        "hidden_candidates": [npc for npc in found if not knowledge.knows(npc)],
    }


def is_htmx(request: HttpRequest) -> bool:
    return bool(request.htmx)  # type: ignore[attr-defined]


def back_to_play(
    request: HttpRequest, viewer: Viewer, party: Party, said: str, *, is_bad: bool = False
) -> HttpResponse:
    if said:
        level = messages.ERROR if is_bad else messages.SUCCESS
        messages.add_message(request, level, said, extra_tags="bad" if is_bad else "good")
    return HttpResponseRedirect(reverse("play", args=[viewer.world.slug, party.slug]))


@require_POST
@gm_page
def open_scene(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """Open a scene in tonight's session."""
    viewer, party = table.at_table_of(viewer, slug)
    place, title = (request.POST.get(name, "")[:200] for name in ("place", "title"))
    try:
        if storage_flaw(place + title):
            raise Invalid(_("This text cannot be stored: it has a character that is none."))
        place = table_scene.name_of_place(viewer, place) if place.strip() else ""
        running_scenes.open_scene(party, title=title, place=place)
    except Problem as problem:
        said = text_without_title(problem)
        return show_scene(request, viewer, party, said=said, is_bad=True)
    return tell_answer(show_scene(request, viewer, party, said=_("The scene is open.")))


@require_POST
@gm_page
def change_scene(request: HttpRequest, viewer: Viewer, slug: str, scene: UUID) -> HttpResponse:
    """Close the scene, let time pass, set its day, or change its cast: the field that is sent says
    which."""
    viewer, party = table.at_table_of(viewer, slug)
    rows = Scene.objects.filter(party=party).select_related("world")
    row = get_object_or_404(rows, pk=scene)
    try:
        said = make_change(request, viewer, row, PartyKnowledge(viewer, party))
    except Problem as problem:
        said, meant = text_without_title(problem), problem.candidates
        return show_scene(request, viewer, party, said=said, is_bad=True, meant=meant)
    answer = show_scene(request, viewer, party, said=said)
    return answer if {"minutes", "day"} & request.POST.keys() else tell_answer(answer)


def text_without_title(problem: Problem) -> str:
    """Return what went wrong. Players may see it, and the title of a scene may tell what comes."""
    if isinstance(problem, running_scenes.SceneOpen):
        return _("A scene is open already: close it first.")
    return _("The scene has ended.") if isinstance(problem, SceneEnded) else problem.detail


def tell_answer(response: HttpResponse) -> HttpResponse:
    """Let the answer of the box fetch its button again that adds its person to the scene."""
    response["HX-Trigger"] = "scene"
    return response


def make_change(
    request: HttpRequest, viewer: Viewer, scene: Scene, knowledge: PartyKnowledge
) -> str:
    """Return what was done, for people, without a name that the party does not know."""
    sent = request.POST
    if "close" in sent:
        end_scene(scene)
        return _("The scene is closed.")
    if sent.get("minutes") in STEPS:
        running_scenes.advance(scene, minutes=int(sent["minutes"]))
        return _("Time has passed in the world.")
    if "day" in sent:
        running_scenes.set_day(scene, parse_day(viewer.world, sent["day"]))
        return _("The in-world time is set.")
    if enters := sent.get("enter", "").strip():
        npc = find_entering(viewer, enters[:200])
        running_scenes.change_cast(scene, add=npc.slug)
        if knowledge.knows(npc):
            return _("%(name)s is in the scene.") % {"name": npc.name}
        return _("The scene goes on with one more.")
    if leaves := sent.get("leave", ""):
        running_scenes.change_cast(scene, remove=leaves)
        return _("The scene goes on without them.")
    raise Invalid(_("Choose an NPC, or write a name."))


def find_entering(viewer: Viewer, name: str) -> NPC:
    """Raises `Invalid` with candidates, and without their names in its text: players may see it."""
    try:
        return find_npc(viewer.world, name)
    except (NotFound, Ambiguous) as problem:
        text = _("“%(name)s” is not the whole name, an alias or the id of one NPC.")
        raise Invalid(text % {"name": name}, candidates=problem.candidates) from problem


def parse_day(world: World, text: str) -> float:
    """Return the world day of a date of the world's calendar, or of a number. Raises `Invalid`."""
    span = read_date(calendar_of(world), text.strip()[:LONGEST_QUESTION])
    if span is None:
        raise Invalid(_("Write the in-world day."))
    return span.first
