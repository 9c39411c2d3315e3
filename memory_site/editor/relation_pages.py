"""Write relations and reveals on the page of a thing."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.db.models import F
from django.db.models.lookups import IContains, IStartsWith
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from knowledge.entry_entities import NODE_KINDS, ensure_entity
from knowledge.graph.labels import fact_sentence, in_words
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.protocol import View
from memory_site.editor import relations
from memory_site.editor.relations import RelationText
from memory_site.editor.thing_pages import VISIBILITIES, node_of
from memory_site.editor.things import find_entry
from npcs.lookup import find_npc
from retrieval.errors import Invalid, NotFound, Problem
from retrieval.text import query_keys
from worlds.audiences import Audience, Visibility
from worlds.day_field import read_day
from worlds.in_world_days import names_of_days
from worlds.lookup import find_named_exactly, find_party
from worlds.models import Character, Reveal
from worlds.pages import Viewer, gm_page, render_page
from worlds.reveals import find_subject, reveal, undo_reveal

MOST_NAMES = 12
REVEALED = [(Visibility.REVEALED.value, Visibility.REVEALED.label)]


def relation_text(request: HttpRequest) -> RelationText:
    """Read the form of a relation. Raises `Invalid` and `Ambiguous` for a day that is no date."""
    calendar = request.viewer.calendar  # type: ignore[attr-defined]
    since = read_day(calendar, request.POST.get("since", ""))
    until = read_day(calendar, request.POST.get("until", ""), takes_last=True)
    visibility = request.POST.get("visibility", "")
    return RelationText(
        other=request.POST.get("other", ""),
        words=request.POST.get("words", ""),
        to=request.POST.get("direction") != "from",
        visibility=visibility if visibility in Visibility else Visibility.GM,
        since=since,
        until=until,
    )


@require_POST
@gm_page
def add(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """Add a relation. When it cannot be stored, the form comes back with what was typed."""
    return add_to(request, viewer, node_of(viewer, slug))


@require_POST
@gm_page
def add_to_entry(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """Add a relation of an entry that is not in the graph yet."""
    entry = find_entry(viewer, slug, canon=True)
    with transaction.atomic():
        node = ensure_entity(entry)
    if node is None:
        raise Http404
    return add_to(request, viewer, node)


def add_to(request: HttpRequest, viewer: Viewer, node: GraphNode) -> HttpResponse:
    try:
        fact = relations.add_relation(node, relation_text(request), by=viewer.name)
    except Problem as problem:
        show_problem(request, problem)
        return relation_form(request, viewer, node)
    text = _("Recorded: %(fact)s.") % {"fact": fact_sentence(fact)}
    messages.success(request, text, extra_tags="good")
    return to_entity(viewer, node)


@gm_page
def change(request: HttpRequest, viewer: Viewer, slug: str, fact: UUID) -> HttpResponse:
    """Correct, end or retract a relation: nothing is overwritten, the old fact stays as history."""
    node = node_of(viewer, slug)
    edge = relations.find_fact(viewer.world, node, fact)
    if edge is None:
        raise Http404
    if request.method == "POST":
        try:
            done = carry_out(request, viewer, node, edge)
        except Problem as problem:
            show_problem(request, problem)
        else:
            messages.success(request, done, extra_tags="good")
            return to_entity(viewer, node)
        edge = relations.find_fact(viewer.world, node, fact) or edge
    return relation_form(request, viewer, node, edge)


def carry_out(request: HttpRequest, viewer: Viewer, node: GraphNode, edge: GraphEdge) -> str:
    """Do what the button says; return the message about it."""
    because = request.POST.get("because", "").strip()
    action = request.POST.get("do")
    if action == "end":
        day = read_day(viewer.calendar, request.POST.get("day", ""), takes_last=True)
        if day is None:
            raise Invalid(_("Write the day on which it ended: a date, or a world day."))
        relations.end_relation(edge, day=day)
        return _("The relation has ended.")
    if action == "retract":
        resting = relations.retract_relation(edge, because=because)
        text = _("The relation was retracted.")
        if resting:
            text = _("The relation was retracted. Facts that rest on it wait in the inbox.")
        return text
    relations.correct_relation(edge, node, relation_text(request), by=viewer.name, because=because)
    return _("The relation was corrected.")


def relation_form(
    request: HttpRequest, viewer: Viewer, node: GraphNode, edge: GraphEdge | None = None
) -> HttpResponse:
    """The form of a new relation, or of `edge`: as it was typed, else as it is stored."""
    typed = "words" in request.POST
    relation: Any = (
        typed_values(request) if typed else values_of(node, edge) if edge else RelationText("", "")
    )
    is_revealed = edge is not None and edge.visibility == Visibility.REVEALED
    days = [edge.since, edge.until] if edge else []
    return render_page(
        request,
        viewer,
        "editor/relation.html",
        node=node,
        fact=edge,
        relation=relation,
        words_in_use=relations.words_in_use(viewer.world),
        visibilities=[*VISIBILITIES, *(REVEALED if is_revealed else [])],
        dates=names_of_days(viewer.world, viewer.audience, days),
    )


def typed_values(request: HttpRequest) -> dict[str, Any]:
    names = ("words", "other", "visibility", "since", "until")
    to = request.POST.get("direction") != "from"
    return {name: request.POST.get(name, "") for name in names} | {"to": to}


def values_of(node: GraphNode, edge: GraphEdge) -> RelationText:
    subject, words, target = in_words(edge)
    to = subject == node
    other = target if to else subject
    # The slug, because two things may have one name.
    return RelationText(other.slug, words, to, edge.since, edge.until, edge.visibility)


@gm_page
def names(request: HttpRequest, viewer: Viewer) -> JsonResponse:
    """Names of entities, and of entries that may become one, that begin with, or contain a word of,
    `q`: for completion."""
    text = request.GET.get("q", "").replace("\0", "")[:200].strip()
    rows = View(viewer.world, viewer.audience).entities() if text else GraphNode.objects.none()
    rows = rows.filter(keys__overlap=query_keys(text)) | rows.filter(name__icontains=text)
    # Names with these letters first: those that resemble it may be many more than are shown.
    rows = rows.order_by(
        IStartsWith(F("name"), text).desc(), IContains(F("name"), text).desc(), "name"
    )
    found = rows.values_list("name", "kind")[:MOST_NAMES] if text else []
    kinds = dict(found)
    for entry in relations.entries_without_entity(viewer.world, text) if text else ():
        kinds.setdefault(entry.title, NODE_KINDS[entry.kind].value)
    names = [{"name": name, "kind": kind} for name, kind in kinds.items()]
    return JsonResponse({"names": names[:MOST_NAMES]})


# --- reveals


@require_POST
@gm_page
def reveal_part(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Reveal a thing or one of its secrets to a party, a character or an NPC."""
    try:
        audience = chosen_audience(request, viewer)
        subject = find_subject(
            viewer.world, request.POST.get("kind", ""), as_id(request.POST.get("id", ""))
        )
        reveal(subject, audience, by=viewer.name)
    except Problem as problem:
        show_problem(request, problem)
    else:
        messages.success(request, _("Revealed."), extra_tags="good")
    return back(request, viewer)


def chosen_audience(request: HttpRequest, viewer: Viewer) -> Audience:
    if name := request.POST.get("npc", "").strip():
        return Audience("npc", find_npc(viewer.world, name).slug)
    kind, _colon, slug = request.POST.get("party", "").partition(":")
    if kind == "character":
        rows = Character.objects.filter(world=viewer.world)
        return Audience("character", find_named_exactly(rows, slug, what="character").slug)
    if kind != "party":
        raise Invalid(_("Choose a party or character, or name an NPC."))
    return Audience("party", find_party(viewer.world, slug).slug)


def as_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as problem:
        raise NotFound(_("There is nothing of this id.")) from problem


@require_POST
@gm_page
def undo(request: HttpRequest, viewer: Viewer, entry: UUID) -> HttpResponse:
    row = Reveal.objects.filter(world=viewer.world, pk=entry).select_related("world").first()
    if row is None:
        raise Http404
    try:
        undo_reveal(row)
    except Problem as problem:
        show_problem(request, problem)
    else:
        messages.success(request, _("The reveal was undone."), extra_tags="good")
    return back(request, viewer)


def show_problem(request: HttpRequest, problem: Problem) -> None:
    text = problem.detail
    if problem.candidates:
        names = ", ".join(problem.candidates)
        text = _("%(problem)s Did you mean: %(names)s?") % {"problem": text, "names": names}
    messages.error(request, text, extra_tags="bad")


def to_entity(viewer: Viewer, node: GraphNode) -> HttpResponse:
    return HttpResponseRedirect(reverse("entity", args=[viewer.world.slug, node.slug]))


def back(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}):
        target = reverse("world-home", args=[viewer.world.slug])
    return HttpResponseRedirect(target)
