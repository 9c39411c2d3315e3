"""Verdicts on what a statement says more than its relation: which sibling is the elder, how much is
owed, in which years."""

from django.utils.translation import gettext as _

from knowledge.fact_check.claims import Claim
from knowledge.fact_check.labelled_facts import amount_of
from knowledge.fact_check.seniority import seniority_in_fact
from knowledge.fact_check.verdicts import FALSE, TRUE, Judgement, no_evidence
from knowledge.graph.models import GraphEdge
from worlds.calendars.date_parser import DateSpan


def judge_seniority(claim: Claim, verdict: Judgement) -> Judgement:
    """Judge which of two siblings is the elder, by the labels of the facts that make them so."""
    said = {seniority_in_fact(fact, claim.a) for fact in verdict.supporting} - {None}
    if said == {claim.seniority}:
        return verdict
    if len(said) == 1:
        return Judgement(FALSE, _("A known fact rules it out."), opposing=verdict.supporting)
    return no_evidence()


def judge_amount(claim: Claim, verdict: Judgement) -> Judgement:
    """Judge how much is owed by the sums in the labels."""
    sums = {amount_of(fact.label) for fact in verdict.supporting} - {None}
    if sums == {claim.amount}:
        return verdict
    if len(sums) == 1:
        return Judgement(FALSE, _("A known fact rules it out."), opposing=verdict.supporting)
    return no_evidence()


def judge_death(claim: Claim, told: tuple[GraphEdge, ...], span: DateSpan) -> Judgement:
    """Judge when somebody died by the beginnings of the facts by which somebody did."""
    days = [fact.since for fact in told if fact.since is not None]
    is_death = claim.kinds[0].asserts_end and claim.date and claim.date.role == "during"
    if not is_death or not days:
        return no_evidence()
    if any(is_in(day, span) for day in days):
        return Judgement(TRUE, _("A known fact confirms it."), told)
    return Judgement(FALSE, _("The facts record another date."), opposing=told)


def judge_outside(ever: list[GraphEdge], span: DateSpan) -> Judgement:
    """Judge it false if every fact that says it began after the days of `span` or ended before."""
    outside = [
        fact
        for fact in ever
        if (fact.since is not None and fact.since > span.last)
        or (fact.until is not None and fact.until <= span.first)
    ]
    if ever and len(outside) == len(ever):
        return Judgement(FALSE, _("The facts record another date."), opposing=tuple(ever))
    return no_evidence()


def excludes_end(fact: GraphEdge, claim: Claim, span: DateSpan) -> bool:
    """Whether something cannot have ended in `span`, though the end of its fact is not known: it
    began later."""
    assert claim.date
    began_later = fact.since is not None and fact.since >= span.first
    return claim.date.role == "until" and began_later


def is_in(day: float, span: DateSpan) -> bool:
    return span.first <= day < span.last + 1
