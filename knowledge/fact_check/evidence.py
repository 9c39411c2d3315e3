"""Show a deciding fact: in words, with who says it and the passage of lore where it is written."""

from collections.abc import Iterable

from django.db.models import Q

from knowledge.fact_check.schemas import FactSource
from knowledge.graph.models import GraphEdge, SourceKind
from knowledge.graph.protocol import View
from knowledge.models import LorePassage
from retrieval.text import fold_name

LONGEST_TEXT = 500


def to_fact_sources(edges: Iterable[GraphEdge], view: View) -> list[FactSource]:
    return [to_fact_source(edge, view) for edge in edges]


def to_fact_source(edge: GraphEdge, view: View) -> FactSource:
    told = edge.label or edge.relation_id
    shown = FactSource(
        id=edge.pk,
        statement=f"{edge.src.name} – {told} – {edge.dst.name}",
        since=edge.since,
        until=edge.until,
        source=edge.source_kind,
    )
    if view.audience.is_gm:
        shown.ref, shown.note, shown.confidence = (
            edge.source_ref or None,
            edge.source_note or None,
            edge.confidence,
        )
    if passage := _passage(edge, view):
        shown.title, shown.text = passage.lore.title, passage.text[:LONGEST_TEXT]
    return shown


def _passage(edge: GraphEdge, view: View) -> LorePassage | None:
    """Return the passage of the fact's lore entry that names most of its two ends; only one the audience may read."""
    if edge.source_kind != SourceKind.LORE or not edge.source_ref:
        return None
    entry = edge.source_ref.partition("#")[0]
    here = Q(lore__slug=entry) | (Q(lore=entry) if _is_id(entry) else Q())
    shown = (
        LorePassage.objects.in_world(view.world)
        .visible_to(view.audience)
        .filter(here, published=True)
    )
    passages = list(
        shown.select_related("lore").defer("embedding", "search_vector").order_by("position")[:50]
    )
    return max(passages, key=lambda passage: _names_in(passage.text, edge), default=None)


def _names_in(text: str, edge: GraphEdge) -> int:
    folded = fold_name(text)
    return sum(
        any(fold_name(name) in folded for name in (node.name, *node.aliases))
        for node in (edge.src, edge.dst)
    )


def _is_id(text: str) -> bool:
    return len(text) == 36 and text.count("-") == 4
