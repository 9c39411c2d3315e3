"""The third leg of a search of lore: entries one step along the graph from what the question
names.
"""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.db.models import QuerySet

from knowledge.graph.adjacency import neighbor_lore_ids
from knowledge.graph.protocol import View
from knowledge.models import LorePassage
from knowledge.presenters import LORE_FIELDS
from retrieval.search import HIT_COLUMNS, Hit, Leg, SearchResult

MOST_NEIGHBOURS = 10
WEIGHT, RANK_K = 0.05, 10
"""The first neighbour gains a twentieth of what both other legs together can give, the others less,
by rank. More than that lowered nDCG (`bench.graph_leg`)."""


def add_graph_leg(
    result: SearchResult, question: str, passages: "QuerySet[LorePassage]", view: View
) -> SearchResult:
    """Return `result` with the graph leg fused in. `passages` is what was searched: a neighbour
    that it does not hold takes no rank, so a hidden entry changes nothing."""
    neighbours = _first_passages(passages, neighbor_lore_ids(question, view))
    if not neighbours:
        return result
    return replace(result, hits=fuse_graph_leg(result.hits, neighbours))


def fuse_graph_leg(hits: Sequence[Hit], neighbours: Sequence[Hit]) -> list[Hit]:
    """Return `hits` and, of entries without a hit, `neighbours`, best first. `neighbours` are in
    the order of their ranks."""
    legs = {hit.fields["lore__id"]: Leg(rank, gain(rank)) for rank, hit in enumerate(neighbours, 1)}
    hit_ids = {hit.fields["lore__id"] for hit in hits}
    others = [hit for hit in neighbours if hit.fields["lore__id"] not in hit_ids]
    fused = []
    for hit in (*hits, *others):
        if leg := legs.get(hit.fields["lore__id"]):
            score = hit.score + (leg.score or 0.0)
            hit = replace(hit, score=score, legs={**hit.legs, "graph": leg})
        fused.append(hit)
    return sorted(fused, key=lambda hit: -hit.score)


def gain(rank: int) -> float:
    return WEIGHT * (RANK_K + 1) / (RANK_K + rank)


def _first_passages(passages: "QuerySet[LorePassage]", entry_ids: Sequence[UUID]) -> list[Hit]:
    """The first passage that may be seen of each entry, in the order of `entry_ids`."""
    first = passages.filter(lore__in=entry_ids).order_by("lore_id", "position").distinct("lore_id")
    rows = {row["lore__id"]: row for row in first.values(*HIT_COLUMNS, *LORE_FIELDS)}
    hits = []
    for entry_id in dict.fromkeys(entry_ids):
        if row := rows.get(entry_id):
            columns = {name: row[name] for name in HIT_COLUMNS}
            fields = {name: row[name] for name in LORE_FIELDS}
            hits.append(Hit(**columns, score=0.0, legs={}, match="graph", fields=fields))
    return hits[:MOST_NEIGHBOURS]
