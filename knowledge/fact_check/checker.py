"""Judge a claim by the facts that an audience may know.

A supporting fact makes it true. A fact that excludes it (an opposite, the only one there can be, an
end) makes it false. An undecided contradiction between the two, or no evidence, leaves it unknown.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from knowledge.fact_check.claims import Claim
from knowledge.fact_check.lexicon import ClaimKind, Reading
from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.models import ConflictRule, GraphEdge, GraphNode, NodeKind
from knowledge.graph.protocol import View
from knowledge.graph.querysets import FactQuerySet
from knowledge.graph.relations import Relations

TRUE, FALSE, UNKNOWN = "true", "false", "unknown"
OPPOSITE = {TRUE: FALSE, FALSE: TRUE, UNKNOWN: UNKNOWN}
MIN_CONFIDENCE = 0.5
"""Facts below this confidence decide nothing."""
MAX_NESTING = 12
"""How many levels of places within places are followed."""


@dataclass(frozen=True)
class Judgement:
    result: str
    reason: str
    supporting: tuple[GraphEdge, ...] = ()
    opposing: tuple[GraphEdge, ...] = ()
    is_contested: bool = False


@dataclass
class FactChecker:
    """Judges claims by the facts that `view` shows."""

    view: View
    relations: Relations = field(default_factory=Relations.load)

    def judge(self, claim: Claim) -> Judgement:
        verdict = self._judge_affirmative(claim)
        return replace(verdict, result=OPPOSITE[verdict.result]) if claim.is_negated else verdict

    def _judge_affirmative(self, claim: Claim) -> Judgement:
        if claim.b is None:
            return self._judge_end(claim.a, claim.kinds[0])
        if claim.a == claim.b:
            return Judgement(UNKNOWN, _("Both names refer to the same entity."))
        if claim.label:
            return self._judge_label(claim.a, claim.b, claim)
        verdicts = []
        for reading in (reading for kind in claim.kinds for reading in kind.readings):
            src, dst = (claim.b, claim.a) if reading.inverse else (claim.a, claim.b)
            # A reading whose relation cannot join these kinds is not what was meant.
            if (src.kind, dst.kind) in self.relations[reading.relation].joins:
                verdicts.append(self._judge_reading(reading, src, dst, is_past=claim.is_past))
        conclusive = (each for each in verdicts if each.result != UNKNOWN or each.is_contested)
        # One true reading is enough; a contested one outweighs a false one. min() keeps the order
        # of the lexicon.
        return min(
            conclusive,
            key=lambda verdict: (verdict.result != TRUE, not verdict.is_contested),
            default=no_evidence(),
        )

    def _judge_reading(
        self, reading: Reading, src: GraphNode, dst: GraphNode, *, is_past: bool
    ) -> Judgement:
        ends = Q(src=src, dst=dst)
        if reading.mutual or self.relations[reading.relation].symmetric:
            ends |= Q(src=dst, dst=src)
        ever = list(self.facts_of(reading, ends))
        if not ever and reading.relation in ("LOCATED_IN", "PART_OF"):
            ever = self.containment_path(src, dst)
        if is_past and not reading.permanent:
            return (
                Judgement(TRUE, _("It was true in the past."), tuple(ever))
                if ever
                else no_evidence()
            )
        now = [fact for fact in ever if self.is_valid(fact)]
        against = list(self._excluding_facts(reading, src, dst))
        if now and (rivals := self._contradicting_facts(now, against)):
            return Judgement(
                UNKNOWN,
                _(
                    "Two facts contradict each other here, and the contradiction is not "
                    "resolved yet."
                ),
                tuple(now),
                tuple(rivals),
                is_contested=True,
            )
        if now:
            return Judgement(TRUE, _("A known fact confirms it."), tuple(now))
        if against:
            return Judgement(FALSE, _("A known fact rules it out."), opposing=tuple(against))
        day = self.view.at
        over = [f for f in ever if f.until is not None and (day is None or f.until <= day)]
        if over:
            return Judgement(
                FALSE, _("It was true in the past and is no longer true."), opposing=tuple(over)
            )
        return no_evidence()

    def _judge_label(self, src: GraphNode, dst: GraphNode, claim: Claim) -> Judgement:
        """Judge a claim in free words by the facts that carry these words as their label."""
        ever = tuple(self.facts.filter(src=src, dst=dst, label__iexact=claim.label))
        if not ever:
            return no_evidence()
        if claim.is_past or any(map(self.is_valid, ever)):
            return Judgement(TRUE, _("A known fact confirms it."), ever)
        return Judgement(FALSE, _("It was true in the past and is no longer true."), opposing=ever)

    def _judge_end(self, node: GraphNode, kind: ClaimKind) -> Judgement:
        """Judge "is dead" and "is alive" by the recorded end of the entity."""
        if node.until is None or (self.view.at is not None and self.view.at < node.until):
            return no_evidence()
        return Judgement(TRUE if kind.asserts_end else FALSE, _("The facts record its end."))

    def _excluding_facts(
        self, reading: Reading, src: GraphNode, dst: GraphNode
    ) -> Iterator[GraphEdge]:
        """Yield the facts valid on the day of the view that cannot be true together with it."""
        relation = reading.relation
        rules = [r for r in self.active_rules if relation in (r.relation_id, r.other_id)]
        opposites = {
            code
            for rule in rules
            if rule.form == ConflictRule.Form.EXCLUSIVE
            for code in (rule.relation_id, rule.other_id)
        } - {relation}
        if opposites:
            ends = Q(src=src, dst=dst) | Q(src=dst, dst=src)
            yield from self.present_facts.filter(ends, relation__in=opposites)
        if any(rule.form == ConflictRule.Form.SINGLE for rule in rules):
            # Another owner or whereabouts; being in a part of the place, or in what contains it,
            # excludes nothing.
            for fact in self.present_facts.filter(src=src, relation=relation).exclude(dst=dst):
                places = {fact.dst.kind, dst.kind} == {NodeKind.LOCATION}
                if not places or not (
                    self.containment_path(fact.dst, dst) or self.containment_path(dst, fact.dst)
                ):
                    yield fact
        if reading.unique:
            others = self.facts_of(reading, Q(dst=dst) & ~Q(src=src))
            yield from others.valid_on(self.view.at)

    def containment_path(self, src: GraphNode, dst: GraphNode) -> list[GraphEdge]:
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
            facts = self.present_facts.filter(steps, src__in=frontier).exclude(dst__in=seen)
            new = {fact.dst_id: fact for fact in facts}
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

    def _contradicting_facts(
        self, facts: list[GraphEdge], against: list[GraphEdge]
    ) -> list[GraphEdge]:
        """Return the other sides of the open contradictions about `facts`."""
        ids, rivals = {fact.pk for fact in facts}, {fact.pk: fact for fact in against}
        contradictions = open_contradictions(self.view.world, self.view.audience).filter(
            Q(first__in=ids) | Q(second__in=ids)
        )
        sides = [side for row in contradictions for side in (row.first, row.second) if side]
        return [rivals.get(side.pk, side) for side in sides if side.pk not in ids]

    def facts_of(self, reading: Reading, ends: Q) -> FactQuerySet:
        facts = self.facts.filter(ends, relation=reading.relation)
        return facts.filter(label__in=reading.labels) if reading.labels else facts

    def is_valid(self, fact: GraphEdge) -> bool:
        """Apply the rule of `FactQuerySet.valid_on` to a fetched fact."""
        day = self.view.at
        if day is None:
            return fact.until is None
        return (fact.since is None or fact.since <= day) and (
            fact.until is None or fact.until > day
        )

    @cached_property
    def active_rules(self) -> list[ConflictRule]:
        return list(ConflictRule.objects.filter(active=True))

    @cached_property
    def facts(self) -> FactQuerySet:
        return self.view.facts().filter(confidence__gte=MIN_CONFIDENCE)

    @cached_property
    def present_facts(self) -> FactQuerySet:
        return self.facts.valid_on(self.view.at)


def no_evidence() -> Judgement:
    return Judgement(UNKNOWN, _("No fact supports or contradicts it."))
