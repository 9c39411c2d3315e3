"""Verdicts: what follows from the facts for and against a claim, by the tense of the claim."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from knowledge.fact_check.bond_facts import Chain
from knowledge.fact_check.labelled_facts import is_over
from knowledge.fact_check.statement_parts import Tense
from knowledge.graph.models import GraphEdge

TRUE, FALSE, UNKNOWN = "true", "false", "unknown"


@dataclass(frozen=True)
class Judgement:
    result: str
    reason: str
    supporting: tuple[GraphEdge, ...] = ()
    opposing: tuple[GraphEdge, ...] = ()
    is_contested: bool = False


@dataclass(frozen=True)
class FactEvidence:
    """`ever` are the facts of any day that say it, `against` those that exclude it on the day in
    question, `rivals` the other sides of undecided contradictions about it. `is_permanent`: it
    never ends, so every tense asks the same."""

    ever: Sequence[Chain]
    against: Sequence[GraphEdge] = ()
    rivals: Sequence[GraphEdge] = ()
    is_permanent: bool = False


def no_evidence() -> Judgement:
    return Judgement(UNKNOWN, _("No fact supports or contradicts it."))


def decide(evidence: FactEvidence, tense: Tense, *, day: float | None) -> Judgement:
    """Return what the evidence says of a claim in this tense on this day. What begins later says
    nothing, neither of that day nor of what was before it."""
    if not evidence.is_permanent:
        evidence = replace(evidence, ever=[each for each in evidence.ever if has_begun(each, day)])
    ever = list(evidence.ever)
    now = [
        chain
        for chain in ever
        if evidence.is_permanent or all(is_valid_on(fact, day) for fact in chain)
    ]
    over = [chain for chain in ever if any(has_ended(fact, day) for fact in chain)]
    if tense == Tense.NEVER:
        return _decide_never(evidence)
    if tense == Tense.NO_LONGER:
        if now:
            return Judgement(FALSE, _("A known fact says that it still is so."), opposing=flat(now))
        return _true_in_the_past(over) if over else no_evidence()
    if tense == Tense.FORMERLY and not evidence.is_permanent:
        return _true_in_the_past(over) if over and not now else no_evidence()
    if tense == Tense.PAST and not evidence.is_permanent:
        return _true_in_the_past(ever) if ever else no_evidence()
    if now and evidence.rivals:
        reason = _(
            "Two facts contradict each other here, and the contradiction is not resolved yet."
        )
        return Judgement(UNKNOWN, reason, flat(now), tuple(evidence.rivals), is_contested=True)
    if now:
        return Judgement(TRUE, _("A known fact confirms it."), flat(now))
    if evidence.against:
        reason = _("A known fact rules it out.")
        return Judgement(FALSE, reason, opposing=tuple(evidence.against))
    if over:
        reason = _("It was true in the past and is no longer true.")
        return Judgement(FALSE, reason, opposing=flat(over))
    return no_evidence()


def _decide_never(evidence: FactEvidence) -> Judgement:
    if evidence.ever:
        reason = _("A known fact says that it is or was so.")
        return Judgement(FALSE, reason, opposing=flat(evidence.ever))
    if evidence.is_permanent and evidence.against:
        reason = _("A known fact rules it out.")
        return Judgement(TRUE, reason, tuple(evidence.against))
    return no_evidence()


def _true_in_the_past(chains: Sequence[Chain]) -> Judgement:
    return Judgement(TRUE, _("It was true in the past."), flat(chains))


def flat(chains: Sequence[Chain]) -> tuple[GraphEdge, ...]:
    """Return the facts of the chains, each once."""
    return tuple({fact.pk: fact for chain in chains for fact in chain}.values())


def deny(verdict: Judgement) -> Judgement:
    """Return the verdict on the contrary of what was judged; its reason is about the contrary."""
    if verdict.result == TRUE:
        reason, result = _("A known fact rules it out."), FALSE
    elif verdict.result == FALSE:
        reason, result = _("A known fact confirms it."), TRUE
    else:
        return verdict
    return replace(
        verdict,
        result=result,
        reason=reason,
        supporting=verdict.opposing,
        opposing=verdict.supporting,
    )


def join_verdicts(verdicts: Sequence[Judgement]) -> Judgement:
    """Return the verdict on all claims of a statement: false if one is, true if all are."""
    decisive = next((each for each in verdicts if each.result == FALSE), None)
    decisive = decisive or next((each for each in verdicts if each.result == UNKNOWN), None)
    if decisive or len(verdicts) == 1:
        return decisive or verdicts[0]
    supporting = {fact.pk: fact for each in verdicts for fact in each.supporting}
    opposing = {fact.pk: fact for each in verdicts for fact in each.opposing}
    return Judgement(TRUE, verdicts[0].reason, tuple(supporting.values()), tuple(opposing.values()))


def is_valid_on(fact: GraphEdge, day: float | None) -> bool:
    """Apply the rule of `FactQuerySet.valid_on` to a fetched fact."""
    if is_over(fact.label):
        return False
    if day is None:
        return fact.until is None
    return (fact.since is None or fact.since <= day) and (fact.until is None or fact.until > day)


def has_begun(chain: Chain, day: float | None) -> bool:
    return day is None or all(fact.since is None or fact.since <= day for fact in chain)


def has_ended(fact: GraphEdge, day: float | None) -> bool:
    has_end = fact.until is not None and (day is None or fact.until <= day)
    return has_end or bool(is_over(fact.label))
