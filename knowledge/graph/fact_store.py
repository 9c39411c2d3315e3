"""Believe, replace, end and take back single facts. Nothing is overwritten: what was believed stays as history."""

from collections.abc import Sequence

from django.utils import timezone

from knowledge.graph.ancestry import dependants
from knowledge.graph.contradictions import close_contradictions_of
from knowledge.graph.models import GraphEdge
from knowledge.graph.schemas import FactOutcome
from worlds.audiences import Guarded, Visibility
from worlds.reveals import carry_over

FACT_FIELDS = (
    "source_kind",
    "source_ref",
    "source_note",
    "confidence",
    "visibility",
    "known_to",
    "since",
    "until",
)


def save_fact(wanted: GraphEdge) -> FactOutcome:
    """Keep `wanted`, unless its source said just that before; what it said differently before is no longer believed."""
    known = (
        GraphEdge.objects.believed()
        .filter(
            src=wanted.src,
            dst=wanted.dst,
            relation=wanted.relation_id,
            label=wanted.label,
            since=wanted.since,
            source_kind=wanted.source_kind,
            source_ref=wanted.source_ref,
        )
        .first()
    )
    if known:
        keep_revelations(known, wanted)
    if known and all(getattr(known, name) == getattr(wanted, name) for name in FACT_FIELDS):
        return FactOutcome(id=known.pk, outcome="unchanged")
    if known:
        replace_fact(known, wanted)
        return FactOutcome(id=wanted.pk, outcome="changed")
    wanted.save(force_insert=True)
    return FactOutcome(id=wanted.pk, outcome="created")


def keep_revelations(known: Guarded, wanted: Guarded) -> None:
    """Telling a thing again closes nothing that the reveal log has opened."""
    wanted.known_to = sorted({*known.known_to, *wanted.known_to})
    if known.visibility == Visibility.REVEALED and wanted.visibility == Visibility.GM:
        wanted.visibility = known.visibility


def replace_fact(known: GraphEdge, wanted: GraphEdge) -> None:
    """Stop believing `known`, believe `wanted` from the same moment on."""
    now = timezone.now()
    GraphEdge.objects.filter(pk=known.pk).update(believed_until=now)
    wanted.believed_from, wanted.replaces = now, known
    wanted.save(force_insert=True)
    wanted.rests_on.set(known.rests_on.all())
    wanted.dependants.add(*known.dependants.all())
    carry_over(known, wanted)
    wanted.visibility_changed()
    close_contradictions_of([known.pk])


def end_fact(known: GraphEdge, day: float) -> GraphEdge:
    """Let `known` have held only until `day`: a new row says so."""
    values = {name: getattr(known, name) for name in FACT_FIELDS}
    ended = GraphEdge(
        world_id=known.world_id,
        src_id=known.src_id,
        dst_id=known.dst_id,
        relation_id=known.relation_id,
        src_kind=known.src_kind,
        dst_kind=known.dst_kind,
        label=known.label,
        **{**values, "until": day},
    )
    replace_fact(known, ended)
    return ended


def retract_facts(edges: Sequence[GraphEdge], *, because: str) -> list[GraphEdge]:
    """Stop believing `edges`. What rested on them is flagged, and returned."""
    ids = [edge.pk for edge in edges]
    GraphEdge.objects.believed().filter(pk__in=ids).update(believed_until=timezone.now())
    close_contradictions_of(ids)
    resting = dependants(ids)
    for edge in resting:
        edge.flag = f"What it rests on was taken back: {because}"[:200]
    GraphEdge.objects.bulk_update(resting, ["flag"])
    return resting
