"""A person writes or corrects a fact by hand: a correction is a new row that says who wrote it and why."""

from typing import Any

from django.db import transaction

from knowledge.graph.fact_store import replace_fact
from knowledge.graph.models import GraphEdge
from knowledge.graph.relations import Relations
from knowledge.graph.upsert import lock_graph, stored_form
from retrieval.errors import Conflict
from retrieval.models import uuid7

STATEMENT_FIELDS = (
    "src_id",
    "relation_id",
    "dst_id",
    "label",
    "source_kind",
    "source_ref",
    "source_note",
    "confidence",
    "visibility",
    "known_to",
    "since",
    "until",
)


@transaction.atomic
def save_manual_fact(edge: GraphEdge, *, by: str, because: str = "") -> GraphEdge:
    """Keep what `edge` says and return it. If a fact with its id is believed, that one ends and `edge` becomes a new
    row with an id of its own; if it says nothing new, only its flag is kept. Raise `Conflict` for an edge that somebody
    has replaced or taken back meanwhile."""
    lock_graph(edge.world)
    _turn(edge)
    if edge._state.adding:
        edge.edited_by = by[:150]
        edge.save(force_insert=True)
        return edge
    known = GraphEdge.objects.believed().filter(pk=edge.pk).select_for_update().first()
    if known is None:
        raise Conflict("Somebody has changed or taken back this fact meanwhile: open it again.")
    if _said(known) == _said(edge):
        edge.save(update_fields=["flag"])
        return edge
    edge.pk, edge._state.adding = uuid7(), True
    edge.edited_by, edge.edited_because = by[:150], because[:400]
    replace_fact(known, edge)
    return edge


def _turn(edge: GraphEdge) -> None:
    """Keep it the one way round in which it is stored."""
    relation, edge.src, edge.dst = stored_form(
        Relations.load(), edge.relation_id, edge.src, edge.dst
    )
    edge.relation_id = relation.code
    edge.src_kind, edge.dst_kind = edge.src.kind, edge.dst.kind


def _said(edge: GraphEdge) -> list[Any]:
    return [getattr(edge, name) for name in STATEMENT_FIELDS]
