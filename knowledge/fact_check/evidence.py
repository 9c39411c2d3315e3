"""Present a deciding fact: in words, with its source and the passage of lore that states it."""

from django.db.models import Q

from knowledge.fact_check.schemas import FactSource
from knowledge.graph.entity_linking import parse_uuid
from knowledge.graph.models import GraphEdge, SourceKind
from knowledge.graph.protocol import View
from knowledge.models import LorePassage
from retrieval.text import fold_name

MAX_TEXT_CHARS = 500
MAX_PASSAGES = 50


def to_fact_source(fact: GraphEdge, view: View) -> FactSource:
    source = FactSource(
        id=fact.pk,
        statement=f"{fact.src.name} – {fact.label or fact.relation_id} – {fact.dst.name}",
        since=fact.since,
        until=fact.until,
        source=fact.source_kind,
    )
    if view.audience.is_gm:
        source.ref, source.note = fact.source_ref or None, fact.source_note or None
        source.confidence = fact.confidence
    if passage := _find_passage(fact, view):
        source.title, source.text = passage.lore.title, passage.text[:MAX_TEXT_CHARS]
    return source


def _find_passage(fact: GraphEdge, view: View) -> LorePassage | None:
    """Return the passage of the fact's lore entry that names most of its two ends; None if
    the audience may read none."""
    if fact.source_kind != SourceKind.LORE or not fact.source_ref:
        return None
    # A source_ref is the slug or id of an entry, optionally with "#" and a place in it.
    entry = fact.source_ref.partition("#")[0]
    of_entry = Q(lore__slug=entry) | (Q(lore=entry) if parse_uuid(entry) else Q())
    passages = (
        LorePassage.objects.in_world(view.world)
        .visible_to(view.audience)
        .filter(of_entry, published=True)
        .select_related("lore")
        .defer("embedding", "search_vector")
        .order_by("position")[:MAX_PASSAGES]
    )

    def count_ends(passage: LorePassage) -> int:
        text = fold_name(passage.text)
        return sum(
            any(fold_name(name) in text for name in (node.name, *node.aliases))
            for node in (fact.src, fact.dst)
        )

    return max(passages, key=count_ends, default=None)
