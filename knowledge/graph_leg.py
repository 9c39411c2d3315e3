"""The graph leg of a lore search: entries one edge away from the named entities."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.db.models import QuerySet

from knowledge.graph.adjacency import neighbor_lore
from knowledge.graph.protocol import View
from knowledge.models import LorePassage
from knowledge.name_matching import LONGEST_QUESTION
from knowledge.presenters import LORE_FIELDS
from retrieval.search import HIT_COLUMNS, Hit, Leg, SearchResult

MAX_NEIGHBORS = 10
WEIGHT, RANK_K = 0.05, 10
"""The first neighbor gains `WEIGHT`, where 1 is what both other legs together can give; the
others gain less, by rank. Higher weights cost nDCG (`bench.graph_leg`)."""


def add_graph_leg(
    result: SearchResult, question: str, passages: "QuerySet[LorePassage]", view: View
) -> SearchResult:
    """Return `result` with the graph leg fused in. `passages` are those that the search covered:
    an entry without a visible passage takes no rank, so a hidden entry changes nothing."""
    neighbors = neighbor_lore(question[:LONGEST_QUESTION], view)
    result = replace(result, degraded=[*result.degraded, *neighbors.degraded])
    near = _first_passage_hits(passages, neighbors.entries)
    if not near:
        return result
    legs = {hit.fields["lore__id"]: Leg(rank, gain(rank)) for rank, hit in enumerate(near, 1)}
    entries = {hit.fields["lore__id"] for hit in result.hits}
    # An entry that both have keeps its hit, and gains the score of its rank among the neighbors.
    hits = [*result.hits, *(hit for hit in near if hit.fields["lore__id"] not in entries)]
    for position, hit in enumerate(hits):
        if leg := legs.get(hit.fields["lore__id"]):
            score = hit.score + (leg.score or 0.0)
            hits[position] = replace(hit, score=score, legs={**hit.legs, "graph": leg})
    return replace(result, hits=sorted(hits, key=lambda hit: -hit.score))


def gain(rank: int) -> float:
    """Reciprocal rank, scaled so that rank 1 gains `WEIGHT`."""
    return WEIGHT * (RANK_K + 1) / (RANK_K + rank)


def _first_passage_hits(passages: "QuerySet[LorePassage]", entries: Sequence[UUID]) -> list[Hit]:
    """Return the first of `passages` of each entry as a hit without a score, in the order of
    `entries`."""
    of_each = passages.filter(lore__in=entries).order_by("lore_id", "position").distinct("lore_id")
    rows = {row["lore__id"]: row for row in of_each.values(*HIT_COLUMNS, *LORE_FIELDS)}
    return [
        Hit(
            **{name: rows[pk][name] for name in HIT_COLUMNS},
            score=0.0,
            legs={},
            match="graph",
            fields={name: rows[pk][name] for name in LORE_FIELDS},
        )
        for pk in dict.fromkeys(entries)
        if pk in rows
    ][:MAX_NEIGHBORS]
