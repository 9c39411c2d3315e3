"""Facts that cannot both be true: detected when facts are written, kept side by side until a
person decides."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.utils import timezone

from knowledge.graph.ancestry import ancestors
from knowledge.graph.contradiction_models import ConflictRule, Contradiction
from knowledge.graph.models import GraphEdge, GraphNode, NodeKind
from knowledge.graph.presenters import to_contradiction_out
from knowledge.graph.schemas import ContradictionOut
from worlds.audiences import Audience
from worlds.models import World

MOST_FLAGGED = 50


@dataclass(frozen=True)
class Clash:
    """An edge against another edge, or against the end of one of its nodes."""

    rule: ConflictRule
    first: GraphEdge
    second: GraphEdge | None = None
    ended_node: GraphNode | None = None


def record_contradictions(
    world: World, *, edges: Sequence[UUID] = (), nodes: Sequence[UUID] = ()
) -> list[ContradictionOut]:
    """Check these edges, and the edges of those of these nodes that have ended, against the
    active rules. Create a `Contradiction` for each new clash, and return all that are open."""
    in_question = (
        Q(pk__in=edges)
        | Q(src__in=nodes, src__until__isnull=False)
        | Q(dst__in=nodes, dst__until__isnull=False)
    )
    facts = list(believed_facts(world).filter(in_question))
    contradictions = {}
    for rule in ConflictRule.objects.filter(active=True):
        for clash in CLASHES_BY_FORM[rule.form](rule, facts):
            # One row per pair, whatever its state: what a person has decided is not opened again.
            row, _new = Contradiction.objects.get_or_create(
                rule=rule,
                first=clash.first,
                second=clash.second,
                ended=clash.ended_node,
                defaults={"world": world},
            )
            contradictions[row.pk] = row
    return [
        to_contradiction_out(row)
        for row in contradictions.values()
        if row.state == Contradiction.State.OPEN
    ]


def believed_facts(world: World) -> models.QuerySet[GraphEdge]:
    """Facts that are believed now, between entities that are not in the trash."""
    facts = GraphEdge.objects.believed_now().in_world(world)
    facts = facts.filter(src__believed_until=None, dst__believed_until=None)
    return facts.select_related("src", "dst")


def _single_clashes(rule: ConflictRule, facts: list[GraphEdge]) -> Iterator[Clash]:
    """One entity in the same relation to two others at the same time."""
    mine = [fact for fact in facts if fact.relation_id == rule.relation_id]
    if not mine:
        return
    others = believed_facts(mine[0].world).filter(
        relation=rule.relation_id, src__in={fact.src_id for fact in mine}
    )
    pairs = [
        (a, b)
        for a, b in product(mine, others)
        if a.src_id == b.src_id and a.dst_id != b.dst_id and overlap(a, b)
    ]
    # Whoever is in a part of a place is in the place as well: no clash.
    sides = (side for pair in pairs for side in pair)
    places = {side.dst_id for side in sides if side.dst_kind == NodeKind.LOCATION}
    within = ancestors(list(places), "PART_OF")
    for a, b in pairs:
        if b.dst_id not in within.get(a.dst_id, ()) and a.dst_id not in within.get(b.dst_id, ()):
            yield clash_of(rule, a, b)


def _exclusive_clashes(rule: ConflictRule, facts: list[GraphEdge]) -> Iterator[Clash]:
    """Two relations between the same two entities at the same time, in either direction."""
    opposite = {rule.relation_id: rule.other_id, rule.other_id: rule.relation_id}
    mine = [fact for fact in facts if fact.relation_id in opposite]
    if not mine:
        return
    ends = {fact.src_id for fact in mine} | {fact.dst_id for fact in mine}
    world_facts = believed_facts(mine[0].world)
    others = world_facts.filter(relation__in=opposite, src__in=ends, dst__in=ends)
    for a, b in product(mine, others):
        same_ends = {a.src_id, a.dst_id} == {b.src_id, b.dst_id}
        if b.relation_id == opposite[a.relation_id] and same_ends and overlap(a, b):
            yield clash_of(rule, a, b)


def _after_end_clashes(rule: ConflictRule, facts: list[GraphEdge]) -> Iterator[Clash]:
    """A fact about a character that begins after their death, or ends on a later day."""
    for fact in facts:
        for node in (fact.src, fact.dst):
            if (
                fact.relation_id == rule.relation_id
                and node.kind == NodeKind.CHARACTER
                and node.until is not None
                and (first_day(fact) >= node.until or (fact.until or -inf) > node.until)
            ):
                yield Clash(rule, fact, ended_node=node)


CLASHES_BY_FORM: dict[str, Callable[[ConflictRule, list[GraphEdge]], Iterator[Clash]]] = {
    ConflictRule.Form.SINGLE: _single_clashes,
    ConflictRule.Form.EXCLUSIVE: _exclusive_clashes,
    ConflictRule.Form.AFTER_END: _after_end_clashes,
}


def clashes_of(facts: list[GraphEdge]) -> Iterator[Clash]:
    """Yield what these facts, which need not be saved, contradict by the active rules."""
    for rule in ConflictRule.objects.filter(active=True) if facts else ():
        yield from CLASHES_BY_FORM[rule.form](rule, facts)


def overlap(a: GraphEdge, b: GraphEdge) -> bool:
    """Whether both were valid on some day. A missing beginning or end is unlimited."""
    return first_day(a) < last_day(b) and first_day(b) < last_day(a)


def first_day(fact: GraphEdge) -> float:
    return -inf if fact.since is None else fact.since


def last_day(fact: GraphEdge) -> float:
    return inf if fact.until is None else fact.until


def clash_of(rule: ConflictRule, a: GraphEdge, b: GraphEdge) -> Clash:
    """The fact that began earlier in the world is the first one, else the one that was believed
    earlier."""
    first, second = sorted((a, b), key=lambda fact: (first_day(fact), fact.believed_from, fact.pk))
    return Clash(rule, first, second)


def close_contradictions_of(facts: Sequence[UUID]) -> None:
    """Close the open contradictions about facts that are no longer believed."""
    rows = Contradiction.objects.filter(state=Contradiction.State.OPEN)
    rows.filter(Q(first__in=facts) | Q(second__in=facts)).update(
        state=Contradiction.State.RESOLVED, how=Contradiction.How.GONE, resolved_at=timezone.now()
    )


def flagged_facts(world: World) -> list[GraphEdge]:
    """Return the newest `MOST_FLAGGED` facts that a person should check again."""
    return list(believed_facts(world).exclude(flag="").order_by("-believed_from")[:MOST_FLAGGED])


def world_days_of(
    contradictions: Iterable[Contradiction], facts: Iterable[GraphEdge]
) -> list[float | None]:
    """Return every world day that a page about these shows."""
    sides = [side for row in contradictions for side in (row.first, row.second, row.ended) if side]
    return [day for each in (*sides, *facts) for day in (each.since, each.until)]


def contradictions_of(world: World) -> models.QuerySet[Contradiction]:
    """Return the contradictions of `world`, decided ones too, between entities that are there."""
    rows = Contradiction.objects.filter(world=world).select_related(
        "rule", "first__src", "first__dst", "second__src", "second__dst", "ended"
    )
    # Entities in the trash are believed no more; a missing second fact or entity is null as well.
    ends = ("first__src", "first__dst", "second__src", "second__dst", "ended")
    return rows.filter(**{f"{end}__believed_until": None for end in ends})


def open_contradictions(
    world: World, audience: Audience | None = None
) -> models.QuerySet[Contradiction]:
    """Return the open contradictions of `world`; for an audience, those of which it may know
    both sides."""
    rows = contradictions_of(world).filter(state=Contradiction.State.OPEN)
    if audience is None or audience.is_gm:
        return rows
    edges = GraphEdge.objects.in_world(world).known_to(audience)
    nodes = GraphNode.objects.in_world(world).visible_to(audience)
    return rows.filter(
        Q(second=None) | Q(second__in=edges),
        Q(ended=None) | Q(ended__in=nodes),
        first__in=edges,
        first__src__in=nodes,
        first__dst__in=nodes,
    )
