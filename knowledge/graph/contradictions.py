"""Facts that cannot both be: found when they are written, kept side by side, decided by people."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.utils import timezone

from knowledge.graph.ancestry import ancestors
from knowledge.graph.models import ConflictRule, Contradiction, GraphEdge, GraphNode, NodeKind
from knowledge.graph.schemas import ContradictionOut
from worlds.audiences import Audience
from worlds.models import World

ALWAYS = float("inf")
MOST_FLAGGED = 50


@dataclass(frozen=True)
class Clash:
    """An edge against another edge, or against the end of one of its nodes."""

    rule: ConflictRule
    first: GraphEdge
    second: GraphEdge | None = None
    ended: GraphNode | None = None


def record_contradictions(
    world: World, *, edges: Sequence[UUID] = (), nodes: Sequence[UUID] = ()
) -> list[ContradictionOut]:
    """Open a contradiction for each clash of these edges (and of the edges of these nodes, if those have ended)."""
    touched = (
        Q(pk__in=edges)
        | Q(src__in=nodes, src__until__isnull=False)
        | Q(dst__in=nodes, dst__until__isnull=False)
    )
    fresh = list(_believed(world).filter(touched))
    clashes = [
        clash
        for rule in ConflictRule.objects.filter(active=True)
        for clash in FORMS[rule.form](rule, fresh)
    ]
    return [
        to_out(found) for found in _kept(world, clashes) if found.state == Contradiction.State.OPEN
    ]


def _believed(world: World) -> models.QuerySet[GraphEdge]:
    return GraphEdge.objects.believed().in_world(world).select_related("src", "dst")


def _singles(rule: ConflictRule, fresh: list[GraphEdge]) -> Iterable[Clash]:
    """The same entity in the same relation to two others at one time. Being in a part of a place is being in it."""
    mine = [edge for edge in fresh if edge.relation_id == rule.relation_id]
    if not mine:
        return
    others = _believed(mine[0].world).filter(
        relation=rule.relation_id, src__in={edge.src_id for edge in mine}
    )
    pairs = [
        (a, b)
        for a in mine
        for b in others
        if a.src_id == b.src_id and a.dst_id != b.dst_id and overlap(a, b)
    ]
    within = ancestors(
        list(
            {side.dst_id for pair in pairs for side in pair if side.dst_kind == NodeKind.LOCATION}
        ),
        "PART_OF",
    )
    for a, b in pairs:
        if b.dst_id not in within.get(a.dst_id, ()) and a.dst_id not in within.get(b.dst_id, ()):
            yield _clash(rule, a, b)


def _exclusives(rule: ConflictRule, fresh: list[GraphEdge]) -> Iterable[Clash]:
    """Two relations between the same two entities at one time."""
    both = {rule.relation_id: rule.other_id, rule.other_id: rule.relation_id}
    mine = [edge for edge in fresh if edge.relation_id in both]
    if not mine:
        return
    near = {edge.src_id for edge in mine} | {edge.dst_id for edge in mine}
    others = list(_believed(mine[0].world).filter(relation__in=both, src__in=near, dst__in=near))
    for a in mine:
        for b in others:
            if (
                b.relation_id == both[a.relation_id]
                and {a.src_id, a.dst_id} == {b.src_id, b.dst_id}
                and overlap(a, b)
            ):
                yield _clash(rule, a, b)


def _after_ends(rule: ConflictRule, fresh: list[GraphEdge]) -> Iterable[Clash]:
    """A character who begins something, or goes on to a later day, after their death."""
    for edge in fresh:
        for node in (edge.src, edge.dst):
            if (
                edge.relation_id != rule.relation_id
                or node.kind != NodeKind.CHARACTER
                or node.until is None
            ):
                continue
            if (edge.since is not None and edge.since >= node.until) or (
                edge.until or -ALWAYS
            ) > node.until:
                yield Clash(rule, edge, ended=node)


FORMS: dict[str, Any] = {
    ConflictRule.Form.SINGLE: _singles,
    ConflictRule.Form.EXCLUSIVE: _exclusives,
    ConflictRule.Form.AFTER_END: _after_ends,
}


def overlap(a: GraphEdge, b: GraphEdge) -> bool:
    """Whether both held on some day; a day that nobody named may be any day."""
    return _since(a) < _until(b) and _since(b) < _until(a)


def _since(edge: GraphEdge) -> float:
    return -ALWAYS if edge.since is None else edge.since


def _until(edge: GraphEdge) -> float:
    return ALWAYS if edge.until is None else edge.until


def _clash(rule: ConflictRule, a: GraphEdge, b: GraphEdge) -> Clash:
    """The earlier fact goes first: earlier in the world, else earlier believed."""
    first, second = sorted((a, b), key=lambda edge: (_since(edge), edge.believed_from, edge.pk))
    return Clash(rule, first, second)


def _kept(world: World, clashes: Iterable[Clash]) -> list[Contradiction]:
    """One row per pair, ever: what a person has decided is not opened again."""
    rows = {}
    for clash in clashes:
        row, _new = Contradiction.objects.get_or_create(
            rule=clash.rule,
            first=clash.first,
            second=clash.second,
            ended=clash.ended,
            defaults={"world": world},
        )
        rows[row.pk] = row
    return list(rows.values())


def to_out(found: Contradiction) -> ContradictionOut:
    return ContradictionOut(
        id=found.pk,
        rule=found.rule_id,
        says=found.rule.says,
        first=found.first_id,
        second=found.second_id,
        ended=found.ended_id,
    )


def close_contradictions_of(edges: Sequence[UUID]) -> None:
    """Close what was open about facts that are no longer believed."""
    about = Contradiction.objects.filter(
        Q(first__in=edges) | Q(second__in=edges), state=Contradiction.State.OPEN
    )
    about.update(
        state=Contradiction.State.RESOLVED, how=Contradiction.How.GONE, resolved_at=timezone.now()
    )


def flagged_facts(world: World) -> list[GraphEdge]:
    """Return the facts that a person should look at again, the newest first."""
    return list(_believed(world).exclude(flag="").order_by("-believed_from")[:MOST_FLAGGED])


def world_days_of(
    clashes: Iterable[Contradiction], facts: Iterable[GraphEdge]
) -> list[float | None]:
    """Return every world day that a page about these names."""
    sides = [side for clash in clashes for side in (clash.first, clash.second, clash.ended) if side]
    return [day for each in (*sides, *facts) for day in (each.since, each.until)]


def open_contradictions(
    world: World, audience: Audience | None = None
) -> models.QuerySet[Contradiction]:
    """Return the open contradictions of `world`; for an audience, those both sides of which it may know."""
    found = Contradiction.objects.filter(
        world=world, state=Contradiction.State.OPEN
    ).select_related("rule", "first__src", "first__dst", "second__src", "second__dst", "ended")
    if audience is None or audience.is_gm:
        return found
    edges = GraphEdge.objects.in_world(world).visible_to(audience)
    nodes = GraphNode.objects.in_world(world).visible_to(audience)
    return found.filter(
        Q(second=None) | Q(second__in=edges),
        Q(ended=None) | Q(ended__in=nodes),
        first__in=edges,
        first__src__in=nodes,
        first__dst__in=nodes,
    )
