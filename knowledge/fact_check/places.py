"""Which place is within which, by the facts of the day in question."""

from collections.abc import Iterator
from uuid import UUID

from django.db.models import Q

from knowledge.fact_check.lexicon import load_yaml
from knowledge.graph.models import GraphEdge, GraphNode, NodeKind
from knowledge.graph.querysets import FactQuerySet
from retrieval.text import fold_name

MAX_NESTING = 12
"""How many levels of places within places are followed."""


def places_apart(facts: FactQuerySet, src: GraphNode, dst: GraphNode) -> Iterator[GraphEdge]:
    """Yield by which facts one place is part of another one than `dst`, beside it in a place
    that has both."""
    if {src.kind, dst.kind} != {NodeKind.LOCATION}:
        return
    for fact in facts.filter(src=src, relation="PART_OF").exclude(dst=dst):
        if fact.dst.kind != NodeKind.LOCATION:
            continue
        if not lies_within_either(facts, fact.dst, dst) and _are_side_by_side(facts, fact.dst, dst):
            yield fact


def are_apart(facts: FactQuerySet, one: GraphNode, other: GraphNode) -> bool:
    """Whether it is known that neither of two places is within the other: facts have both in one
    place or as allies or enemies, or both are of one kind: two villages, two inns. Where nobody
    says where a mill is, it may be in the city. What is no place is apart."""
    if {one.kind, other.kind} != {NodeKind.LOCATION}:
        return True
    if lies_within_either(facts, one, other):
        return False
    return bool(_groups_of(one) & _groups_of(other)) or _are_side_by_side(facts, one, other)


def _are_side_by_side(facts: FactQuerySet, one: GraphNode, other: GraphNode) -> bool:
    around = [places_around(facts, place) for place in (one, other)]
    return bool(around[0] & around[1]) or _are_neighbours(facts, one, other)


def _groups_of(place: GraphNode) -> frozenset[int]:
    """Return the numbers of the groups of `data/places.yaml` that have a word of its names."""
    words = {word for name in (place.name, *place.aliases) for word in fold_name(name).split()}
    groups = load_yaml("places")["one_level"]
    return frozenset(n for n, group in enumerate(groups) if not words.isdisjoint(group.split()))


def _are_neighbours(facts: FactQuerySet, one: GraphNode, other: GraphNode) -> bool:
    """Whether the two are allies or enemies: neither is within the other."""
    ends = Q(src=one, dst=other) | Q(src=other, dst=one)
    return facts.filter(ends, relation__in=("ALLY_WITH", "ENEMY_OF")).exists()


def places_around(facts: FactQuerySet, place: GraphNode) -> set[UUID]:
    """Return the places within which a place is."""
    found: set[UUID] = set()
    frontier = {place.pk}
    for _level in range(MAX_NESTING):
        parts = facts.filter(relation="PART_OF", src__in=frontier)
        new = {fact.dst_id for fact in parts if fact.dst.kind == NodeKind.LOCATION} - found
        found |= new
        frontier = new
        if not new:
            break
    return found


def containment_path(facts: FactQuerySet, src: GraphNode, dst: GraphNode) -> list[GraphEdge]:
    """Return the facts by which `src` is, on the day of the view, somewhere within `dst`; none
    if it is not. Breadth-first search."""
    if dst.kind not in (NodeKind.LOCATION, NodeKind.FACTION, NodeKind.QUEST):
        return []
    steps = Q(relation="PART_OF", dst_kind=dst.kind)
    if dst.kind == NodeKind.LOCATION:
        # Where a group is says nothing about where its members are: parts of places only.
        steps = (steps & Q(src_kind=NodeKind.LOCATION)) | Q(src=src, relation="LOCATED_IN")
    reached_by: dict[UUID, GraphEdge] = {}
    frontier = {src.pk}
    for _level in range(MAX_NESTING):
        seen = {src.pk, *reached_by}
        parts = facts.filter(steps, src__in=frontier).exclude(dst__in=seen)
        new = {fact.dst_id: fact for fact in parts}
        reached_by |= new
        frontier = set(new)
        if dst.pk in new or not new:
            break
    path: list[GraphEdge] = []
    node = dst.pk
    while node != src.pk:
        if node not in reached_by:
            return []
        path.insert(0, reached_by[node])
        node = reached_by[node].src_id
    return path


def lies_within_either(facts: FactQuerySet, one: GraphNode, other: GraphNode) -> bool:
    """Whether one of two places is within the other."""
    return bool(containment_path(facts, one, other) or containment_path(facts, other, one))
