"""What game masters have decided lately, and how to undo it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.db.models import F, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from knowledge.editing_models import LoreProposal
from knowledge.graph.contradiction_models import Contradiction
from knowledge.graph.contradictions import contradictions_of
from knowledge.graph.decisions import restore_flag, undo_decision
from knowledge.graph.labels import fact_sentence
from knowledge.graph.models import GraphEdge
from knowledge.proposals import undo_proposal_decision
from memory_site.npc_merging.merge import undo_merge
from npcs import dispositions
from npcs.models import DispositionChange, NPCMerge, OpinionChange
from npcs.opinion_pages import page_of_opinion
from npcs.opinions import rule_on_opinion
from retrieval.errors import Conflict, Problem
from worlds.lookup import as_uuid
from worlds.models import World
from worlds.pages import Viewer, gm_page

MOST_DECIDED = 40
Kind = DispositionChange.Kind
INVERSE_VERDICTS = {
    Kind.APPROVAL: "reopen",
    Kind.RESTORATION: "reverse",
    Kind.REJECTION: "reopen",
    Kind.REVERSAL: "restore",
}
"""The ruling that takes another one back."""
ABOUT_CURRENT = tuple(
    Q(**{f"{path}__episode": None})
    | Q(**{f"{path}__episode__version": F(f"{path}__episode_version")})
    for path in ("about", "about__cause")
)
"""Conditions of a ruling whose change still is of the version of its episode that stands."""
RULINGS = {
    Kind.APPROVAL: gettext_lazy("Approved"),
    Kind.RESTORATION: gettext_lazy("Restored"),
    Kind.REJECTION: gettext_lazy("Rejected"),
    Kind.REVERSAL: gettext_lazy("Reversed"),
    Kind.CORRECTION: gettext_lazy("Set by hand"),
}


@dataclass(frozen=True)
class Decided:
    """A decision that stands. `kind` and `pk` name it in the form that undoes it."""

    kind: str
    pk: Any
    subject: str
    decision: str
    reason: str
    by: str
    at: datetime
    url: str
    state: str = ""
    """Of a change: the ruling that stands, because undoing one is another ruling."""


def decided_lately(world: World) -> list[Decided]:
    """Return the decisions that stand, latest first, with a fixed number of statements."""
    sources = (_rulings, _rulings_on_opinions, _contradictions, _proposals, _checked_facts, _merges)
    found = [each for source in sources for each in source(world)]
    return sorted(found, key=lambda each: each.at, reverse=True)[:MOST_DECIDED]


def _rulings(world: World) -> Iterator[Decided]:
    """Of dispositions toward parties."""
    ledger = DispositionChange.objects.in_world(world).select_related("npc", "party", "about")
    for entry, change in _ruled_lately(ledger):
        page = reverse("npc", args=[world.slug, entry.npc.slug])
        url = f"{page}?party={entry.party.slug}#change-{change.pk}"
        yield _decision_about(entry, change, "change", (entry.npc, entry.party), url)


def _rulings_on_opinions(world: World) -> Iterator[Decided]:
    """Of what NPCs think of each other, and of standings with factions."""
    ledger = OpinionChange.objects.in_world(world)
    ledger = ledger.select_related("npc", "other", "faction", "party", "about")
    for entry, change in _ruled_lately(ledger):
        url = page_of_opinion(world.slug, entry)
        yield _decision_about(entry, change, "opinion", (entry.holder, entry.toward), url)


def _ruled_lately(ledger: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the last ruling about each change with that change, and corrections that nobody has
    ruled on, twice."""
    # About a change that a new version of its episode replaced nothing can be undone.
    kinds = [*INVERSE_VERDICTS, Kind.REOPENING]
    rulings = ledger.filter(*ABOUT_CURRENT, kind__in=kinds)
    rulings = rulings.order_by("-id")[:MOST_DECIDED]
    corrections = ledger.with_ruling().filter(kind=Kind.CORRECTION, ruling=None, held=False)
    ruled = set[int]()
    for entry in [*rulings, *corrections.order_by("-id")[:MOST_DECIDED]]:
        change = entry.about or entry
        if change.pk not in ruled:
            ruled.add(change.pk)
            if entry.kind != Kind.REOPENING:  # it waits again: nothing is decided
                yield entry, change


def _decision_about(entry: Any, change: Any, kind: str, ends: tuple[Any, Any], url: str) -> Decided:
    holder, toward = ends
    return Decided(
        kind=kind,
        pk=change.pk,
        subject=f"{holder.name} → {toward.name}: {change.delta:+d}",
        decision=str(RULINGS[entry.kind]),
        reason=entry.reason,
        by=entry.made_by,
        at=entry.created_at,
        url=url,
        state=entry.kind,
    )


def _contradictions(world: World) -> Iterator[Decided]:
    rows = contradictions_of(world).filter(state=Contradiction.State.RESOLVED, decided_with=None)
    rows = rows.exclude(how=Contradiction.How.GONE).filter(resolved_at__isnull=False)
    for row in rows.order_by("-resolved_at")[:MOST_DECIDED]:
        sides = [fact_sentence(row.first)]
        sides.append(fact_sentence(row.second) if row.second else str(row.ended))
        yield Decided(
            kind="contradiction",
            pk=row.pk,
            subject=" / ".join(sides),
            decision=row.get_how_display(),
            reason=row.reason,
            by=row.resolved_by,
            at=row.resolved_at or row.opened_at,
            url=f"{reverse('graph', args=[world.slug])}?around={row.first.src.slug}",
        )


def _proposals(world: World) -> Iterator[Decided]:
    rows = LoreProposal.objects.filter(world=world).exclude(state=LoreProposal.State.OPEN)
    for row in rows.filter(decided_at__isnull=False).order_by("-decided_at")[:MOST_DECIDED]:
        yield Decided(
            kind="proposal",
            pk=row.pk,
            subject=str(row),
            decision=row.get_state_display(),
            reason=row.decision,
            by=row.decided_by,
            at=row.decided_at or row.created_at,
            url=reverse("proposal", args=[world.slug, row.pk]),
        )


def _checked_facts(world: World) -> Iterator[Decided]:
    rows = GraphEdge.objects.believed_now().in_world(world).filter(checked_at__isnull=False)
    for fact in rows.select_related("src", "dst").order_by("-checked_at")[:MOST_DECIDED]:
        yield Decided(
            kind="fact",
            pk=fact.pk,
            subject=fact_sentence(fact),
            decision=_("Still true"),
            reason=fact.checked_flag,
            by=fact.checked_by,
            at=fact.checked_at,
            url=f"{reverse('graph', args=[world.slug])}?around={fact.src.slug}",
        )


def _merges(world: World) -> Iterator[Decided]:
    rows = NPCMerge.objects.filter(world=world, undone_at=None, kept__deleted_at=None)
    for merge in rows.select_related("kept", "merged")[:MOST_DECIDED]:
        yield Decided(
            kind="merge",
            pk=merge.pk,
            subject=str(merge),
            decision=_("Merged"),
            reason=merge.reason,
            by=merge.made_by,
            at=merge.merged_at,
            url=reverse("npc", args=[world.slug, merge.kept.slug]),
        )


# --- undo


@require_POST
@gm_page
def undo_decided(request: HttpRequest, viewer: Viewer, kind: str, pk: str) -> HttpResponse:
    """Undo one decision: what was decided waits in the inbox again, or counts no more."""
    undo = UNDO.get(kind)
    if undo is None:
        raise Http404
    try:
        undo(viewer, pk, request.POST.get("state", ""))
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
    else:
        messages.success(request, _("The decision was undone."), extra_tags="good")
    return HttpResponseRedirect(reverse("inbox", args=[viewer.world.slug]))


def _undo_ruling(viewer: Viewer, pk: str, state: str) -> None:
    entry, verdict = _change_to_undo(DispositionChange, viewer, pk, state)
    dispositions.VERDICTS[verdict](entry, reason=_("Undone."), made_by=viewer.name)


def _undo_ruling_on_opinion(viewer: Viewer, pk: str, state: str) -> None:
    entry, verdict = _change_to_undo(OpinionChange, viewer, pk, state)
    rule_on_opinion(entry, verdict, reason=_("Undone."), made_by=viewer.name)


def _change_to_undo(model: Any, viewer: Viewer, pk: str, state: str) -> tuple[Any, str]:
    """Return the change, and the ruling that takes back the one that stands."""
    ledger = model.objects.in_world(viewer.world).changes().with_ruling()
    entry = ledger.filter(pk=pk).first() if pk.isdecimal() and len(pk) <= 18 else None
    if entry is None:
        raise Http404
    verdict = INVERSE_VERDICTS.get(entry.ruling)
    if verdict is None and entry.kind == Kind.CORRECTION and not entry.held:
        verdict = "reverse"
    # Two game masters may undo one ruling: the second must not take back the first one's undoing.
    if (verdict or state) and state != (entry.ruling or entry.kind):
        raise Conflict(_("Somebody has decided this already."))
    if verdict is None:
        raise Conflict(_("There is no decision to undo."))
    return entry, verdict


def _undo_contradiction(viewer: Viewer, pk: str, _state: str) -> None:
    undo_decision(_row_of(Contradiction.objects.filter(world=viewer.world), pk))


def _undo_proposal(viewer: Viewer, pk: str, _state: str) -> None:
    rows = LoreProposal.objects.filter(world=viewer.world)
    undo_proposal_decision(_row_of(rows, pk), by=viewer.name)


def _undo_check(viewer: Viewer, pk: str, _state: str) -> None:
    facts = GraphEdge.objects.believed_now().in_world(viewer.world)
    restore_flag(_row_of(facts, pk))


def _undo_merge(viewer: Viewer, pk: str, _state: str) -> None:
    undo_merge(_row_of(NPCMerge.objects.filter(world=viewer.world), pk), by=viewer.name)


def _row_of(rows: Any, pk: str) -> Any:
    number = as_uuid(pk)
    if number is None:
        raise Http404
    return get_object_or_404(rows, pk=number)


UNDO: dict[str, Callable[[Viewer, str, str], None]] = {
    "change": _undo_ruling,
    "opinion": _undo_ruling_on_opinion,
    "contradiction": _undo_contradiction,
    "proposal": _undo_proposal,
    "fact": _undo_check,
    "merge": _undo_merge,
}
