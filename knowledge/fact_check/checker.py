"""Judge a claim by the facts that an audience may know. Support makes it true; a fact that excludes it (an opposite,
the only one there can be, an end) makes it false; both, undecided by people, or neither: unknown."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from django.db.models import Q
from django.utils.translation import gettext as _

from knowledge.fact_check.claims import Claim
from knowledge.fact_check.lexicon import ClaimKind, Reading
from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.models import ConflictRule, GraphEdge, GraphNode, NodeKind
from knowledge.graph.protocol import View
from knowledge.graph.relations import Relations

TRUE, FALSE, UNKNOWN = "true", "false", "unknown"
OPPOSITE = {TRUE: FALSE, FALSE: TRUE, UNKNOWN: UNKNOWN}
SURE_ENOUGH = 0.5
DEEPEST_PLACE = 12


@dataclass(frozen=True)
class Verdict:
    result: str
    reason: str
    supporting: tuple[GraphEdge, ...] = ()
    opposing: tuple[GraphEdge, ...] = ()
    contested: bool = False
    ended: GraphNode | None = None


@dataclass
class FactChecker:
    """The facts as `view` shows them."""

    view: View
    relations: Relations = field(default_factory=Relations.load)

    def judge(self, claim: Claim) -> Verdict:
        verdict = self._judge(claim)
        return replace(verdict, result=OPPOSITE[verdict.result]) if claim.negated else verdict

    def _judge(self, claim: Claim) -> Verdict:
        if claim.b is None:
            return self._life(claim.a, claim.kinds[0])
        if claim.a == claim.b:
            return Verdict(UNKNOWN, _("Both names mean the same."))
        if claim.label:
            return self._labelled(claim)
        readings = list(self._readings(claim))
        verdicts = [self._weigh(reading, *ends, past=claim.past) for reading, ends in readings]
        decided = [
            verdict for verdict in verdicts if verdict.result != UNKNOWN or verdict.contested
        ]
        return next(
            iter(sorted(decided, key=lambda v: (v.result != TRUE, not v.contested))), no_evidence()
        )

    def _readings(self, claim: Claim) -> Iterator[tuple[Reading, tuple[GraphNode, GraphNode]]]:
        """Yield what the claim can mean for things of these kinds, each with its ends as the facts have them."""
        assert claim.b is not None
        for reading in (reading for kind in claim.kinds for reading in kind.readings):
            src, dst = (claim.b, claim.a) if reading.turned else (claim.a, claim.b)
            if (src.kind, dst.kind) in self.relations[reading.relation].joins:
                yield reading, (src, dst)

    def _weigh(self, reading: Reading, src: GraphNode, dst: GraphNode, *, past: bool) -> Verdict:
        ever = self._support(reading, src, dst)
        now = [edge for edge in ever if self._holds(edge)]
        against = self._against(reading, src, dst)
        if past and not reading.lasting:
            return Verdict(TRUE, _("It was so."), tuple(ever)) if ever else no_evidence()
        if now and (rivals := self._contested(now, against)):
            return Verdict(
                UNKNOWN,
                _("Two facts contradict each other here, and nobody has decided yet."),
                tuple(now),
                tuple(rivals),
                contested=True,
            )
        if now:
            return Verdict(TRUE, _("A fact says so."), tuple(now))
        if against:
            return Verdict(FALSE, _("A fact excludes it."), opposing=tuple(against))
        if over := [edge for edge in ever if self._is_over(edge)]:
            return Verdict(FALSE, _("It was so, and is so no longer."), opposing=tuple(over))
        return no_evidence()

    def _support(self, reading: Reading, src: GraphNode, dst: GraphNode) -> list[GraphEdge]:
        """Return the facts, of any time, that say it; for places, the steps that lead there today."""
        ways = Q(src=src, dst=dst)
        if reading.mutual or self.relations[reading.relation].symmetric:
            ways |= Q(src=dst, dst=src)
        said = [edge for edge in self._edges(ways, reading) if edge.confidence >= SURE_ENOUGH]
        return said or (
            self._way_up(src, dst) if reading.relation in ("LOCATED_IN", "PART_OF") else []
        )

    def _against(self, reading: Reading, src: GraphNode, dst: GraphNode) -> list[GraphEdge]:
        """Return the facts of the time in question that leave no room for it."""
        against = [*self._opposites(reading, src, dst), *self._others(reading, src, dst)]
        return [edge for edge in against if edge.confidence >= SURE_ENOUGH and self._holds(edge)]

    def _opposites(self, reading: Reading, src: GraphNode, dst: GraphNode) -> Iterable[GraphEdge]:
        rules = self._rules(ConflictRule.Form.EXCLUSIVE)
        codes = {rule.other_id for rule in rules if rule.relation_id == reading.relation}
        codes |= {rule.relation_id for rule in rules if rule.other_id == reading.relation}
        return (
            self._shown.filter(Q(src=src, dst=dst) | Q(src=dst, dst=src), relation__in=codes)
            if codes
            else ()
        )

    def _others(self, reading: Reading, src: GraphNode, dst: GraphNode) -> Iterable[GraphEdge]:
        """Return what takes the only place there is: another owner, another whereabouts, another leader."""
        if any(
            rule.relation_id == reading.relation for rule in self._rules(ConflictRule.Form.SINGLE)
        ):
            for edge in self._shown.filter(src=src, relation=reading.relation).exclude(dst=dst):
                if not self._nested(edge.dst, dst):
                    yield edge
        if reading.one:
            yield from self._edges(Q(dst=dst) & ~Q(src=src), reading)

    def _nested(self, place: GraphNode, other: GraphNode) -> bool:
        if place.kind != NodeKind.LOCATION or other.kind != NodeKind.LOCATION:
            return False
        return bool(self._way_up(place, other) or self._way_up(other, place))

    def _way_up(self, src: GraphNode, dst: GraphNode) -> list[GraphEdge]:
        """Return the facts by which `src` is, today, somewhere within `dst`; none if it is not."""
        if dst.kind not in (NodeKind.LOCATION, NodeKind.FACTION, NodeKind.QUEST):
            return []
        came: dict[object, GraphEdge] = {}
        frontier, inward = {src.pk}, _inward(src, dst)
        for _step in range(DEEPEST_PLACE):
            steps = self._shown.filter(inward, src__in=frontier, confidence__gte=SURE_ENOUGH)
            fresh = [
                edge
                for edge in steps
                if self._holds(edge) and edge.dst_id not in came and edge.dst_id != src.pk
            ]
            came |= {edge.dst_id: edge for edge in fresh}
            frontier = {edge.dst_id for edge in fresh}
            if dst.pk in came or not frontier:
                break
        return _trail(came, src, dst)

    def _contested(self, now: list[GraphEdge], against: list[GraphEdge]) -> list[GraphEdge]:
        """Return the other sides of open contradictions about these facts."""
        mine, rivals = {edge.pk for edge in now}, {edge.pk: edge for edge in against}
        found = open_contradictions(self.view.world, self.view.audience).filter(
            Q(first__in=mine) | Q(second__in=mine)
        )
        sides = [
            side
            for clash in found
            for side in (clash.first, clash.second)
            if side and side.pk not in mine
        ]
        return [rivals.get(side.pk, side) for side in sides]

    def _labelled(self, claim: Claim) -> Verdict:
        said = self._shown.filter(src=claim.a, dst=claim.b, label__iexact=claim.label)
        ever = [edge for edge in said if edge.confidence >= SURE_ENOUGH]
        if any(map(self._holds, ever)) or (ever and claim.past):
            return Verdict(TRUE, _("A fact says so."), tuple(ever))
        return (
            Verdict(FALSE, _("It was so, and is so no longer."), opposing=tuple(ever))
            if ever
            else no_evidence()
        )

    def _life(self, node: GraphNode, kind: ClaimKind) -> Verdict:
        if node.until is None or (self.view.at is not None and self.view.at < node.until):
            return no_evidence()
        return Verdict(TRUE if kind.ended else FALSE, _("Its end is recorded."), ended=node)

    def _edges(self, ways: Q, reading: Reading) -> list[GraphEdge]:
        found = self._shown.filter(ways, relation=reading.relation)
        return list(found.filter(label__in=reading.labels) if reading.labels else found)

    def _holds(self, edge: GraphEdge) -> bool:
        if self.view.at is None:
            return edge.until is None
        return (edge.since is None or edge.since <= self.view.at) and (
            edge.until is None or edge.until > self.view.at
        )

    def _is_over(self, edge: GraphEdge) -> bool:
        return edge.until is not None and (self.view.at is None or edge.until <= self.view.at)

    def _rules(self, form: ConflictRule.Form) -> list[ConflictRule]:
        return [rule for rule in self._active if rule.form == form]

    @cached_property
    def _active(self) -> list[ConflictRule]:
        return list(ConflictRule.objects.filter(active=True))

    @cached_property
    def _shown(self):  # type: ignore[no-untyped-def]
        """Facts between entities, all of which the view shows."""
        view, moment = self.view, self.view.believed_at
        believed = (
            Q(believed_until=None)
            if moment is None
            else (
                Q(believed_from__lte=moment)
                & (Q(believed_until=None) | Q(believed_until__gt=moment))
            )
        )
        nodes = GraphNode.objects.in_world(view.world).visible_to(view.audience).filter(believed)
        edges = GraphEdge.objects.in_world(view.world).visible_to(view.audience).filter(believed)
        return edges.filter(src__in=nodes, dst__in=nodes).select_related("src", "dst")


def no_evidence() -> Verdict:
    return Verdict(UNKNOWN, _("No fact speaks for or against it."))


def _inward(src: GraphNode, dst: GraphNode) -> Q:
    """Return the steps that lead further in. Where a group sits says nothing about where its members are."""
    parts = Q(relation="PART_OF", dst_kind=dst.kind)
    if dst.kind != NodeKind.LOCATION:
        return parts
    return (parts & Q(src_kind=NodeKind.LOCATION)) | Q(src=src, relation="LOCATED_IN")


def _trail(came: dict[object, GraphEdge], src: GraphNode, dst: GraphNode) -> list[GraphEdge]:
    trail: list[GraphEdge] = []
    node = dst.pk
    while node != src.pk:
        if node not in came:
            return []
        trail.append(came[node])
        node = came[node].src_id
    return trail[::-1]
