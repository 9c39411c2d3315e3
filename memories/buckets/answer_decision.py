"""Whether what was found is an answer, and who says so: the signs where they are sure, the language model where they
are not, the signs again where there is no model or it fails."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from memories.buckets.abstention import Candidate, rank_candidates, support_of
from memories.buckets.answer_check import MAX_MEMORIES, AnswerChecker, CheckerFailed
from retrieval.embedders import get_embedder

logger = logging.getLogger(__name__)
SHORT = 60
"""Characters of the answering memory in the explanation."""


class Decider(StrEnum):
    SIGNS = "signs"
    MODEL = "model"
    NOBODY = "nobody"


@dataclass(frozen=True)
class AnswerDecision:
    """`why_not`: why nothing is shown; empty if something is. `answering`: the place of the memory that the model
    named. `how`: a line for the explanation."""

    support: float
    decided_by: Decider = Decider.NOBODY
    why_not: str = ""
    answering_position: int | None = None
    explanation: str = ""
    degraded: Sequence[str] = ()


def decide(
    question: str,
    found: Sequence[Candidate],
    *,
    abstains: bool = True,
    least: float | None = None,
    checker: AnswerChecker | None = None,
) -> AnswerDecision:
    """Decide on what was found. With a `least` of the caller's the signs decide, whatever model there is."""
    embedder = get_embedder("memory")
    support, fitted = support_of(
        question, found, embedder=embedder.name, words=embedder.embed_words
    )
    if not abstains:
        return AnswerDecision(support)
    if least is not None or checker is None:
        return _by_signs(support, fitted.least if least is None else least, how="decided by signs")
    if not fitted.is_unclear(support):
        return _by_signs(support, fitted.least, how="decided by signs, which are sure")
    try:
        return _by_model(question, found, support, checker)
    except CheckerFailed as silent:
        logger.warning("abstaining by signs: %s", silent)
        return _by_signs(
            support, fitted.least, how=f"decided by signs: {silent}", degraded=("llm",)
        )


def _by_signs(
    support: float, least: float, *, how: str, degraded: Sequence[str] = ()
) -> AnswerDecision:
    enough = support >= least
    why_not = (
        ""
        if enough
        else f"Nothing found answers this well enough (support {support:.2f} of {least:.2f})."
    )
    return AnswerDecision(support, Decider.SIGNS, why_not, explanation=how, degraded=degraded)


def _by_model(
    question: str, found: Sequence[Candidate], support: float, checker: AnswerChecker
) -> AnswerDecision:
    shown = rank_candidates(question, found)[:MAX_MEMORIES]
    named = checker.find_answer(question, [found[place].text for place in shown])
    if named is None:
        why_not = "The language model sees no answer in what was found."
        return AnswerDecision(
            support,
            Decider.MODEL,
            why_not,
            explanation="decided by the language model: no memory answers",
        )
    answering = shown[named]
    how = f"decided by the language model: this answers: {' '.join(found[answering].text.split())[:SHORT]}"
    return AnswerDecision(support, Decider.MODEL, answering_position=answering, explanation=how)
