"""The third leg of a search of lore: entries one step along the graph from what the question
names."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from knowledge.graph.adjacency import neighbor_lore_ids
from knowledge.graph.protocol import View
from knowledge.models import LorePassage
from knowledge.presenters import LORE_FIELDS
from retrieval.search import HIT_COLUMNS, Hit, Leg, SearchResult

MOST_NEIGHBOURS = 10
WEIGHT, RANK_K = 0.05, 10
"""The first neighbour gains a twentieth of what both other legs together can give, the others
less, by rank. More than that cost nDCG (`bench.graph_leg`)."""


def add_graph_leg(
    result: SearchResult, question: str, passages: "QuerySet[LorePassage]", view: View
) -> SearchResult:
    """Return `result` with the graph leg fused in. `passages` is what the search looked through:
    a neighbour whose entry it does not hold takes no rank, so a hidden entry changes nothing."""
    near = _first_passages(passages, neighbor_lore_ids(question, view))
    return replace(result, hits=fuse_graph_leg(result.hits, near)) if near else result


def fuse_graph_leg(hits: Sequence[Hit], near: Sequence[Hit]) -> list[Hit]:
    """Return `hits` and, where no hit is of the same entry, `near`, best first. `near` is in the
    order of its ranks."""
    legs = {hit.fields["lore__id"]: Leg(rank, gain(rank)) for rank, hit in enumerate(near, 1)}
    known = {hit.fields["lore__id"] for hit in hits}
    both = [*hits, *(hit for hit in near if hit.fields["lore__id"] not in known)]
    return sorted(
        (_with(hit, legs.get(hit.fields["lore__id"])) for hit in both), key=lambda hit: -hit.score
    )


def gain(rank: int) -> float:
    return WEIGHT * (RANK_K + 1) / (RANK_K + rank)


def _with(hit: Hit, leg: Leg | None) -> Hit:
    if leg is None:
        return hit
    return replace(hit, score=hit.score + (leg.score or 0.0), legs={**hit.legs, "graph": leg})


def _first_passages(passages: "QuerySet[LorePassage]", entries: Sequence[UUID]) -> list[Hit]:
    """The first passage that may be seen of each of `entries`, in their order."""
    of_each = passages.filter(lore__in=entries).order_by("lore_id", "position").distinct("lore_id")
    rows = {row["lore__id"]: row for row in of_each.values(*HIT_COLUMNS, *LORE_FIELDS)}
    return [_hit(rows[pk]) for pk in dict.fromkeys(entries) if pk in rows][:MOST_NEIGHBOURS]


def _hit(row: Mapping[str, Any]) -> Hit:
    shown = {name: row[name] for name in HIT_COLUMNS}
    return Hit(
        **shown, score=0.0, legs={}, match="graph", fields={name: row[name] for name in LORE_FIELDS}
    )
