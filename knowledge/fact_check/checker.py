"""Judge a claim by the facts that an audience may know.

A supporting fact makes it true. A fact that excludes it (an opposite, the only one, an end) makes
it false. An undecided contradiction between the two, or no evidence, leaves it unknown."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from django.db.models import Q
from django.utils.translation import gettext as _

from knowledge.fact_check.bond_facts import BondFacts, Chain
from knowledge.fact_check.claim_dates import date_span, why_no_span
from knowledge.fact_check.claims import Claim
from knowledge.fact_check.deeds import (
    dated_facts,
    day_of,
    deaths_of,
    facts_in_words,
    facts_of_others,
    is_done_once,
)
from knowledge.fact_check.detail_verdicts import (
    excludes_end,
    is_in,
    judge_amount,
    judge_death,
    judge_outside,
    judge_seniority,
)
from knowledge.fact_check.durations import years_between, years_of_fact
from knowledge.fact_check.event_dates import days_of_event, event_span
from knowledge.fact_check.labelled_facts import labelled_facts, with_label
from knowledge.fact_check.lexicon import ClaimKind, Reading, bonds
from knowledge.fact_check.name_states import facts_of_state
from knowledge.fact_check.places import are_apart, containment_path, places_apart
from knowledge.fact_check.statement_parts import Tense
from knowledge.fact_check.verdicts import (
    FALSE,
    TRUE,
    UNKNOWN,
    FactEvidence,
    Judgement,
    decide,
    deny,
    is_valid_on,
    no_evidence,
)
from knowledge.graph.contradiction_models import ConflictRule
from knowledge.graph.contradictions import open_contradictions
from knowledge.graph.models import FREE_RELATION, GraphEdge, GraphNode, NodeKind
from knowledge.graph.protocol import View
from knowledge.graph.querysets import FactQuerySet
from knowledge.graph.relations import Relations
from retrieval.text import fold_name
from worlds.calendars.date_parser import DateSpan
from worlds.callers import Caller
from worlds.world_calendar import calendar_of

MIN_CONFIDENCE = 0.5
"""Facts below this confidence decide nothing."""


@dataclass
class FactChecker:
    """Judges claims by the facts that `view` shows."""

    view: View
    relations: Relations = field(default_factory=Relations.load)
    caller: Caller | None = None
    """Who may read the lore that dates an event; without one only facts do."""

    def judge(self, claim: Claim) -> Judgement:
        if claim.duration:
            return self._judge_duration(claim)
        is_open = claim.tense in (Tense.PRESENT, Tense.PAST)
        if is_open and any(kind.is_over for kind in claim.kinds):
            claim = replace(claim, tense=Tense.NO_LONGER)
        if claim.state:
            verdict = self._judge_state(claim)
            return deny(verdict) if claim.is_negated else verdict
        if claim.b is None and claim.kinds and claim.kinds[0].readings:
            led = self._led_by(claim)
            if led is None:
                return no_evidence()
            claim = replace(claim, b=led)
        verdict = self._judge_dated(claim) if claim.date else self._judge_affirmative(claim)
        if claim.is_of_any and verdict.result == FALSE:
            return no_evidence()
        if claim.seniority and verdict.result == TRUE:
            verdict = judge_seniority(claim, verdict)
        if claim.amount and verdict.result == TRUE:
            verdict = judge_amount(claim, verdict)
        if claim.says_more and (claim.is_negated or verdict.result == TRUE):
            return no_evidence()
        return deny(verdict) if claim.is_negated else verdict

    def _judge_duration(self, claim: Claim) -> Judgement:
        """Judge how long something lasted, by the facts that say that it did: true if all lasted so
        long, false if none did or if it is not so at all."""
        calendar = calendar_of(self.view.world)
        if calendar is None or claim.is_negated or claim.duration is None:
            return no_evidence()
        if claim.kinds and claim.kinds[0].is_dated:
            span = event_span(claim.a, self.facts)
            told: tuple[GraphEdge, ...] = tuple(self.facts.filter(src=claim.a, since__isnull=False))
            years = [years_between(span, calendar)] if span else []
        else:
            plain = self.judge(replace(claim, duration=None))
            if plain.result != TRUE:
                return plain
            told = plain.supporting
            known = [years_of_fact(fact, calendar, self.view.at) for fact in told]
            years = [each for each in known if each is not None] if None not in known else []
        fitting = {claim.duration.fits(each) for each in years}
        if fitting == {True}:
            return Judgement(TRUE, _("A known fact confirms it."), told)
        if fitting == {False}:
            return Judgement(FALSE, _("The facts record another date."), opposing=told)
        return no_evidence()

    def _judge_state(self, claim: Claim) -> Judgement:
        assert claim.state
        ever = [(fact,) for fact in facts_of_state(self.facts, claim.a, claim.state)]
        return decide(FactEvidence(ever), claim.tense, day=self.view.at)

    def _judge_succession(self, a: GraphNode, b: GraphNode) -> Judgement:
        """Judge which of the two led first what both have led, by the beginnings."""
        edges = with_label(self.facts.filter(src__in=[a, b], since__isnull=False))
        facts = [fact.edge for fact in labelled_facts(edges) if fact.bond == "leads"]
        pairs = [
            (one, other)
            for one in facts
            for other in facts
            if (one.src_id, other.src_id) == (a.pk, b.pk) and one.dst_id == other.dst_id
        ]
        orders = {one.since < other.since for one, other in pairs if one.since and other.since}
        if len(orders) != 1:
            return no_evidence()
        deciding = tuple(fact for pair in pairs for fact in pair)
        if orders == {True}:
            return Judgement(TRUE, _("A known fact confirms it."), deciding)
        return Judgement(FALSE, _("The facts record another date."), opposing=deciding)

    def _led_by(self, claim: Claim) -> GraphNode | None:
        """Return the only one that `claim.a` leads or led whose name has the word of the claim."""
        facts = labelled_facts(with_label(self.facts.filter(src=claim.a)))
        led = {
            fact.edge.dst.pk: fact.edge.dst
            for fact in facts
            if fact.bond == "leads" and fact.first == claim.a.pk
        }
        named = [
            node
            for node in led.values()
            if claim.led in " ".join(map(fold_name, (node.name, *node.aliases)))
        ]
        return named[0] if len(named) == 1 else None

    def _judge_dated(self, claim: Claim) -> Judgement:
        assert claim.date
        span = date_span(self.view.world, claim.date)
        if span is None:
            return Judgement(UNKNOWN, why_no_span(self.view.world))
        if claim.kinds and claim.kinds[0].is_dated:
            return self._judge_event(claim.a, span)
        if claim.b is None:
            if claim.kinds and claim.kinds[0].asserts_end is not None:
                return judge_death(claim, deaths_of(claim.a, self.facts), span)
            if claim.label:
                return self._judge_deed(claim, span)
            return self._judge_during(claim, span)
        ever = facts_in_words(self.facts, claim) if claim.label else self._single_facts(claim)
        if claim.date.role == "during":
            verdict = self._judge_during(claim, span)
            if verdict.result == UNKNOWN and not verdict.is_contested:
                return judge_outside(ever, span)
            return verdict
        ends = [(f, f.since if claim.date.role == "since" else f.until) for f in ever]
        if matching := tuple(f for f, day in ends if day is not None and is_in(day, span)):
            return Judgement(TRUE, _("A known fact confirms it."), matching)
        if ends and all(day is not None or excludes_end(f, claim, span) for f, day in ends):
            return Judgement(FALSE, _("The facts record another date."), opposing=tuple(ever))
        if not ends and not claim.label:
            return self._judge_beside(claim, span)
        return no_evidence()

    def _judge_beside(self, claim: Claim, span: DateSpan) -> Judgement:
        """Judge what no fact says: false if it was excluded on the last day before its end, or on
        the first one after its beginning."""
        assert claim.date
        day = span.first - 1 if claim.date.role == "until" else span.last
        present = replace(claim, tense=Tense.PRESENT, date=None, is_negated=False)
        verdict = FactChecker(replace(self.view, at=day), self.relations).judge(present)
        is_dated = all(fact.since is not None for fact in verdict.opposing)
        return verdict if verdict.result == FALSE and is_dated else no_evidence()

    def _single_facts(self, claim: Claim) -> list[GraphEdge]:
        """Return the facts of any day each of which says it alone."""
        return [
            chain[0]
            for reading, a, b in self._readings_of(claim)
            for chain in self._evidence_for(reading, a, b, claim).ever
            if len(chain) == 1
        ]

    def _judge_event(self, event: GraphNode, span: DateSpan) -> Judgement:
        caller = self.caller or Caller(world=self.view.world, audience=self.view.audience)
        # Lore has no past versions to judge by what was believed then.
        reader = caller if self.view.believed_at is None else None
        days = days_of_event(event, self.facts, reader)
        if days is None:
            return no_evidence()
        told = tuple(self.facts.filter(src=event, since__gte=days.first, since__lte=days.last))
        if days.first <= span.last and span.first <= days.last:
            return Judgement(TRUE, _("The dates of the event agree."), told)
        return Judgement(FALSE, _("The event has another date."), opposing=told)

    def _judge_deed(self, claim: Claim, span: DateSpan) -> Judgement:
        """Judge when something was built, signed or the like by the facts whose labels say it."""
        facts = dated_facts(self.facts, claim.a, claim.label)
        days = [(fact, day) for fact in facts if (day := day_of(fact, self.view.world))]
        told = tuple(fact for fact, _day in days)
        agree = {day.first <= span.last and span.first <= day.last for _fact, day in days}
        if agree == {True}:
            return Judgement(TRUE, _("A known fact confirms it."), told)
        if agree == {False}:
            return Judgement(FALSE, _("The facts record another date."), opposing=told)
        return no_evidence()

    def _judge_during(self, claim: Claim, span: DateSpan) -> Judgement:
        """Judge a claim of the days of `span`: true if it held on its first or last day, false if
        it is excluded on both. Facts without days do not say that it held already then."""
        days = [replace(self.view, at=day) for day in (span.first, span.last)]
        present = replace(claim, tense=Tense.PRESENT, date=None, is_negated=False)
        verdicts = [FactChecker(v, self.relations).judge(present) for v in days]
        for verdict in verdicts:
            if verdict.is_contested:
                return verdict
            if verdict.result == TRUE:
                is_dated = any(
                    f.since is not None or f.until is not None for f in verdict.supporting
                )
                return verdict if is_dated else no_evidence()
        both = all(verdict.result == FALSE for verdict in verdicts)
        return verdicts[-1] if both else no_evidence()

    def _judge_affirmative(self, claim: Claim) -> Judgement:
        if claim.b is None:
            return self._judge_end(claim.a, claim.kinds[0])
        if claim.a == claim.b:
            return Judgement(UNKNOWN, _("Both names refer to the same entity."))
        if claim.kinds and claim.kinds[0].name == "preceded":
            return self._judge_succession(claim.a, claim.b)
        if claim.label:
            against = list(facts_of_others(self.facts, claim))
            ever = [(fact,) for fact in facts_in_words(self.facts, claim)]
            evidence = FactEvidence(ever, against, is_permanent=is_done_once(claim.label))
            verdict = decide(evidence, claim.tense, day=self.view.at)
            # Of what is over, `sailed with` is true and no statement about the present.
            is_open = claim.tense == Tense.PRESENT and not claim.is_now
            is_over = is_open and not against and verdict.result == FALSE
            return no_evidence() if is_over else verdict
        verdicts = []
        for reading, a, b in self._readings_of(claim):
            evidence = self._evidence_for(reading, a, b, claim)
            verdicts.append(decide(evidence, claim.tense, day=self.view.at))
        conclusive = (each for each in verdicts if each.result != UNKNOWN or each.is_contested)
        # One true reading is enough; a contested one outweighs a false one. min() keeps the order
        # of the lexicon.
        return min(
            conclusive,
            key=lambda verdict: (verdict.result != TRUE, not verdict.is_contested),
            default=no_evidence(),
        )

    def _readings_of(self, claim: Claim) -> Iterator[tuple[Reading, GraphNode, GraphNode]]:
        """Yield the readings with the names that they are about. A reading whose relation cannot
        join these kinds is not what was meant."""
        assert claim.b
        for reading in (reading for kind in claim.kinds for reading in kind.readings):
            src, dst = (claim.b, claim.a) if reading.inverse else (claim.a, claim.b)
            relation = reading.relation or FREE_RELATION
            if (src.kind, dst.kind) in self.relations[relation].joins:
                yield reading, claim.a, claim.b

    def _evidence_for(
        self, reading: Reading, a: GraphNode, b: GraphNode, claim: Claim
    ) -> FactEvidence:
        refuted_by = {name for kind in claim.kinds for name in kind.refuted_by}
        refuting = self._refuting_facts(refuted_by, a, b)
        if reading.bond:
            return self._bond_evidence(reading, a, b, refuting)
        src, dst = (b, a) if reading.inverse else (a, b)
        ends = Q(src=src, dst=dst)
        if reading.mutual or self.relations[reading.relation].symmetric:
            ends |= Q(src=dst, dst=src)
        ever: list[Chain] = [(fact,) for fact in self.facts.filter(ends, relation=reading.relation)]
        if not ever and reading.relation in ("LOCATED_IN", "PART_OF"):
            path = containment_path(self.present_facts, src, dst)
            ever = [tuple(path)] if path else []
        # Where something happened never ends.
        is_event = src.kind == NodeKind.EVENT
        facts = self.facts if is_event else self.present_facts
        excluding = self._excluding_facts(reading.relation, src, dst, facts)
        against = [*(() if reading.implies else excluding), *refuting]
        return FactEvidence(ever, against, self._rivals_of(ever, against), is_permanent=is_event)

    def _bond_evidence(
        self, reading: Reading, a: GraphNode, b: GraphNode, refuting: list[GraphEdge]
    ) -> FactEvidence:
        bond = bonds()[reading.bond]
        around = BondFacts(self.facts, a, b, reading)
        ever = around.confirming()
        others = () if reading.implies else around.excluding()
        excluding = [f for f in others if bond.permanent or self.is_valid(f)]
        against = list({fact.pk: fact for fact in (*excluding, *refuting)}.values())
        rivals = self._rivals_of(ever, against)
        return FactEvidence(ever, against, rivals, is_permanent=bond.permanent)

    def _refuting_facts(self, names: set[str], a: GraphNode, b: GraphNode) -> list[GraphEdge]:
        """Return the facts of these relations and bonds between the two on the day of the view."""
        if not names:
            return []
        facts = list(self.present_facts.filter(_joins(a, b)))
        by_bond = [fact.edge for fact in labelled_facts(facts) if fact.bond in names]
        return [fact for fact in facts if fact.relation_id in names] + by_bond

    def _judge_end(self, node: GraphNode, kind: ClaimKind) -> Judgement:
        """Judge "is dead" and "is alive" by the recorded end of the entity."""
        if kind.asserts_end is None:
            return no_evidence()
        if node.until is None:
            told = deaths_of(node, self.present_facts)
            result = TRUE if kind.asserts_end else FALSE
            return (
                Judgement(result, _("The facts record its end."), told) if told else no_evidence()
            )
        if self.view.at is not None and self.view.at < node.until:
            return no_evidence()
        return Judgement(TRUE if kind.asserts_end else FALSE, _("The facts record its end."))

    def _excluding_facts(
        self, relation: str, src: GraphNode, dst: GraphNode, facts: FactQuerySet
    ) -> Iterator[GraphEdge]:
        """Yield those of `facts` that cannot be true together with it."""
        rules = [r for r in self.active_rules if relation in (r.relation_id, r.other_id)]
        opposites = {
            code
            for rule in rules
            if rule.form == ConflictRule.Form.EXCLUSIVE
            for code in (rule.relation_id, rule.other_id)
        } - {relation}
        if opposites:
            ends = Q(src=src, dst=dst) | Q(src=dst, dst=src)
            yield from facts.filter(ends, relation__in=opposites)
        if relation == "PART_OF":
            yield from places_apart(self.present_facts, src, dst)
        if any(rule.form == ConflictRule.Form.SINGLE for rule in rules):
            # Another owner or whereabouts; being in a place that may contain the other one excludes
            # nothing.
            for fact in facts.filter(src=src, relation=relation).exclude(dst=dst):
                places = {fact.dst.kind, dst.kind} == {NodeKind.LOCATION}
                if not places or are_apart(self.present_facts, fact.dst, dst):
                    yield fact

    def _rivals_of(self, ever: list[Chain], against: list[GraphEdge]) -> list[GraphEdge]:
        """Return the other sides of the open contradictions about the facts that hold."""
        facts = [fact for chain in ever for fact in chain if self.is_valid(fact)]
        if not facts:
            return []
        ids, rivals = {fact.pk for fact in facts}, {fact.pk: fact for fact in against}
        contradictions = open_contradictions(self.view.world, self.view.audience).filter(
            Q(first__in=ids) | Q(second__in=ids)
        )
        sides = [side for row in contradictions for side in (row.first, row.second) if side]
        # What is over by now contests nothing that is said of the present.
        present = [side for side in sides if side.pk not in ids and self.is_valid(side)]
        return [rivals.get(side.pk, side) for side in present]

    def is_valid(self, fact: GraphEdge) -> bool:
        return is_valid_on(fact, self.view.at)

    @cached_property
    def active_rules(self) -> list[ConflictRule]:
        return list(ConflictRule.objects.filter(active=True))

    @cached_property
    def facts(self) -> FactQuerySet:
        return self.view.facts().filter(confidence__gte=MIN_CONFIDENCE)

    @cached_property
    def present_facts(self) -> FactQuerySet:
        return self.facts.valid_on(self.view.at)


def _joins(a: GraphNode, b: GraphNode) -> Q:
    return Q(src=a, dst=b) | Q(src=b, dst=a)
