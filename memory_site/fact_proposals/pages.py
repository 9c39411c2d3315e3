"""The page of what texts propose: filter, accept, change, drop, one or many, and undo."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from episodes.models import Episode
from episodes.titles import title_of
from knowledge.fact_proposal_model import FactProposal
from knowledge.graph.labels import RELATION_LABELS
from knowledge.graph.models import NodeKind
from knowledge.models import Lore
from memory_site.fact_proposals.contradictions import contradiction_in_words
from memory_site.fact_proposals.decide import AT_ONCE, BulkResult, accept, decide_many
from memory_site.fact_proposals.lists import proposals_of
from memory_site.fact_proposals.sources import find_source
from memory_site.fact_proposals.statement import EVENTS, ProposedStatement, sentence_of
from memory_site.fact_proposals.store import read_source
from memory_site.tasks import decide_proposals, read_text, read_texts_of_world
from retrieval.errors import Problem
from retrieval.llm import Purpose, get_llm
from worlds.audiences import GM
from worlds.lookup import as_uuid
from worlds.pages import Viewer, gm_page, render_page

PER_PAGE, MOST_REASONS = 50, 3
FILTERS = ("state", "kind", "source_ref")
SOURCE_PAGES = {"lore": "lore-entry", "episode": "episode"}


@dataclass(frozen=True)
class ProposalLine:
    """A proposal as the page shows it; `url` is the page of its text, if it has one."""

    proposal: FactProposal
    statement: ProposedStatement
    says: str
    url: str
    source: str

    @property
    def contradictions(self) -> list[str]:
        return list(map(contradiction_in_words, self.proposal.contradicts))

    @property
    def entity_kind(self) -> str:
        kind = self.statement.entity_kind
        return str(kind.label) if kind else ""


def lines_of(viewer: Viewer, rows: Sequence[FactProposal]) -> list[ProposalLine]:
    titles = titles_of_sources(rows)
    return [line_of(viewer, row, titles.get(row.source_id, row.source_ref)) for row in rows]


def line_of(viewer: Viewer, row: FactProposal, source: str) -> ProposalLine:
    statement = ProposedStatement.model_validate(row.fields)
    page = SOURCE_PAGES.get(row.source_kind)
    url = reverse(page, args=[viewer.world.slug, row.source_ref]) if page else ""
    return ProposalLine(row, statement, sentence_of(row.kind, statement), url, source)


def titles_of_sources(rows: Iterable[FactProposal]) -> dict[UUID, str]:
    """Return the titles of the entries and episodes that the proposals are from."""
    ids = {row.source_id for row in rows}
    episodes = Episode.objects.filter(pk__in=ids).with_source()
    titles = {episode.pk: title_of(episode, GM) for episode in episodes}
    return titles | dict(Lore.objects.filter(pk__in=ids).values_list("pk", "title"))


def filters_of(data: Any) -> dict[str, str]:
    """Return the filter of a page or a form; without a state what waits."""
    filters = {name: data.get(name, "").replace("\x00", "")[:200] for name in FILTERS}
    filters["state"] = filters["state"] or FactProposal.State.OPEN
    return {name: value for name, value in filters.items() if value}


@gm_page
def fact_proposals(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    filters = filters_of(request.GET)
    rows = proposals_of(viewer.world).filter(**filters)
    rows = rows.order_by("source_kind", "source_ref", "start", "id")
    page_obj = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    return render_page(
        request,
        viewer,
        "lists/fact_proposals.html",
        page_obj=page_obj,
        lines=lines_of(viewer, list(page_obj)),
        filters=filters,
        states=FactProposal.State.choices,
        kinds=FactProposal.Kind.choices,
        entity_kinds=NodeKind.choices,
        relations=sorted((code, str(label)) for code, label in RELATION_LABELS.items()),
        events=EVENTS,
        is_open=filters["state"] == FactProposal.State.OPEN,
    )


@require_POST
@gm_page
def decide_fact_proposals(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Decide the ticked rows, or with `every` all that fit the filter; many by the worker."""
    data, decision = request.POST, request.POST.get("decision", "")
    filters = filters_of(data)
    if decision not in ("accept", "drop", "reopen"):
        return _back(viewer, filters)
    rows = proposals_of(viewer.world).filter(**filters)
    if "every" in data:
        count = rows.count()
        if decision != "drop" and count > AT_ONCE:
            decide_proposals.delay(str(viewer.world.pk), filters, decision, viewer.name)
            text = _("%(count)s proposals are being decided in the background.") % {"count": count}
            messages.success(request, text, extra_tags="good")
            return _back(viewer, filters)
    else:
        rows = rows.filter(pk__in=[pk for pk in map(as_uuid, data.getlist("row")) if pk])
    _report(request, decide_many(rows, decision, by=viewer.name))
    return _back(viewer, filters)


@require_POST
@gm_page
def change_fact_proposal(request: HttpRequest, viewer: Viewer, proposal: UUID) -> HttpResponse:
    """Accept one proposal as it was corrected."""
    row = get_object_or_404(proposals_of(viewer.world), pk=proposal)
    try:
        accept(row, by=viewer.name, changed=corrected_statement(row, request.POST))
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(map(str, first["loc"]))
        messages.error(request, f"{where}: {first['msg']}", extra_tags="bad")
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
    else:
        messages.success(request, _("It was written as you corrected it."), extra_tags="good")
    return _back(viewer, filters_of({}))


def corrected_statement(row: FactProposal, data: Any) -> ProposedStatement:
    """Return the statement with what was typed; another name is looked up anew."""
    values = dict(row.fields)
    for name, value in data.items():
        if name not in ProposedStatement.model_fields or name.endswith("_id"):
            continue
        text = value.replace("\x00", "").strip()
        if name in ("entity", "other") and text != values.get(name):
            values.pop(f"{name}_id", None)
        if text or name in values:
            values[name] = text or None
    values = {name: value for name, value in values.items() if value is not None}
    return ProposedStatement.model_validate(values)


@require_POST
@gm_page
def read_for_facts(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Read one text, or all of the world in the background."""
    kind, ref = request.POST.get("source_kind", ""), request.POST.get("source_ref", "")[:200]
    world = str(viewer.world.pk)
    if not ref:
        read_texts_of_world.delay(world)
        text = _("The texts are being read. What they propose appears here.")
        messages.success(request, text, extra_tags="good")
        return _back(viewer, {})
    try:
        source = find_source(viewer.world, kind, ref)
        if get_llm(Purpose.READING, world):
            # A language model is never asked in a request of a page.
            read_text.delay(world, kind, ref)
            text = _("The text is being read. What it proposes appears here.")
            messages.success(request, text, extra_tags="good")
            return _back(viewer, {"source_ref": ref})
        result = read_source(viewer.world, source)
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
        return _back(viewer, {})
    text = ngettext("%(n)s new proposal.", "%(n)s new proposals.", result.new)
    messages.success(request, text % {"n": result.new}, extra_tags="good")
    return _back(viewer, {"source_ref": ref})


def _report(request: HttpRequest, result: BulkResult) -> None:
    if result.decided:
        text = ngettext("%(n)s proposal decided.", "%(n)s proposals decided.", result.decided)
        messages.success(request, text % {"n": result.decided}, extra_tags="good")
    reasons = list(dict.fromkeys(result.refused.values()))
    if reasons:
        text = ngettext("%(n)s stays open:", "%(n)s stay open:", len(result.refused))
        words = " ".join([text % {"n": len(result.refused)}, *reasons[:MOST_REASONS]])
        messages.error(request, words, extra_tags="bad")


def _back(viewer: Viewer, filters: dict[str, str]) -> HttpResponseRedirect:
    address = reverse("fact-proposals", args=[viewer.world.slug])
    return HttpResponseRedirect(f"{address}?{urlencode(filters)}" if filters else address)
