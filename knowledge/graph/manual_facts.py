"""A person writes or corrects a fact by hand. A correction is a new row that records who wrote
it and why."""

from django.db import transaction
from django.utils.translation import gettext as _

from knowledge.graph.fact_store import STATEMENT_FIELDS, replace_fact
from knowledge.graph.models import GraphEdge
from knowledge.graph.relations import Relations
from knowledge.graph.upsert import lock_graph, stored_form
from retrieval.errors import Conflict
from retrieval.models import uuid7


@transaction.atomic
def save_manual_fact(edge: GraphEdge, *, by: str, because: str = "") -> GraphEdge:
    """Save `edge` and return it. An edge that exists already becomes a new row, with a new id,
    that replaces the old one; if only the flag differs, the flag alone is saved. Raises
    `Conflict` if somebody replaced or retracted the edge in the meantime."""
    lock_graph(edge.world)
    relations = Relations.load()
    written, written_from = edge.relation_id, edge.src
    relation, edge.src, edge.dst = stored_form(relations, written, edge.src, edge.dst)
    if edge.src != written_from:
        edge.written_as = written
    edge.relation_id = relation.code
    edge.src_kind, edge.dst_kind = edge.src.kind, edge.dst.kind
    if edge._state.adding:
        edge.edited_by = by[:150]
        edge.save(force_insert=True)
        return edge
    current = GraphEdge.objects.believed_now().filter(pk=edge.pk).select_for_update().first()
    if current is None:
        raise Conflict(_("Somebody has changed or retracted this fact meanwhile: open it again."))
    columns = (*STATEMENT_FIELDS, "written_as")
    if all(getattr(current, name) == getattr(edge, name) for name in columns):
        edge.save(update_fields=["flag"])
        return edge
    edge.pk, edge._state.adding = uuid7(), True
    edge.edited_by, edge.edited_because = by[:150], because[:400]
    replace_fact(current, edge)
    return edge
