"""The decision whether the memories found answer a question: by the signs where they are sure, by
the language model where they are not, by the signs again without a model or when it fails. A memory
about what the question names answers as far as signs can tell. The signs were fitted to statements:
whether turns of a conversation answer, their relevance says."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from memories.buckets.abstention import support_of
from memories.buckets.answer_check import MAX_MEMORIES, AnswerChecker, CheckerFailed
from memories.buckets.long_memories import with_sentences
from memories.buckets.question_fit import Candidate, rank_candidates
from retrieval.embedders import get_embedder

logger = logging.getLogger(__name__)
EXCERPT_CHARACTERS = 60
TURNS_READ, LEAST_OF_TURNS = 3, 0.25
"""The probability that one of the first so many turns of a conversation answers, below which none
is shown. Measured with LoCoMo, REALTALK and BEAM (docs/agent-memory.md)."""


class Decider(StrEnum):
    SIGNS = "signs"
    RELEVANCE = "relevance"
    MODEL = "model"
    NAMES = "names"
    NOBODY = "nobody"


@dataclass(frozen=True)
class AnswerDecision:
    """`why_not`: why the pipeline abstains; empty if it does not. `answering_position`: of the
    memory that the model named. `explanation`: one line."""

    support: float
    decided_by: Decider = Decider.NOBODY
    why_not: str = ""
    answering_position: int | None = None
    explanation: str = ""
    degraded: Sequence[str] = ()


def decide(
    question: str,
    candidates: Sequence[Candidate],
    *,
    abstains: bool = True,
    least: float | None = None,
    checker: AnswerChecker | None = None,
    is_named: bool = False,
    reads_sentences: bool = True,
    turns: Sequence[float] = (),
) -> AnswerDecision:
    """Decide whether `candidates` answer. With the caller's `least` support the signs decide, even
    if there is a checker. `is_named`: the question names what the first candidate is about.
    `reads_sentences`: their cosines are the embedder's, so that long ones are judged by those of
    their sentences. `turns`: the relevances of the candidates, best first, if the first of them is
    a turn of a conversation; the support is the probability that one of the first answers."""
    if turns and least is None and not is_named:
        support = 1 - prod(1 - each for each in turns[:TURNS_READ])
        if not abstains:
            return AnswerDecision(support)
        return _decide_by_relevance(question, candidates, support, checker)
    embedder = get_embedder("memory")
    judged = with_sentences(question, candidates) if reads_sentences else candidates
    support, threshold = support_of(
        question, judged, embedder=embedder.name, words=embedder.embed_words
    )
    if not abstains:
        return AnswerDecision(support)
    explanation, failed_parts = "decided by signs", []
    least_is_given = least is not None
    if least is None:
        least = threshold.least
        if checker is not None and not threshold.is_unclear(support):
            explanation = "decided by signs, which are sure"
        elif checker is not None:
            by_model, failure = _ask_model(question, candidates, support, checker)
            if by_model:
                return by_model
            explanation, failed_parts = f"decided by signs: {failure}", ["llm"]
    if is_named and not least_is_given:
        explanation = "the question names what the memory is about"
        return AnswerDecision(
            support, Decider.NAMES, explanation=explanation, degraded=failed_parts
        )
    why_not = f"Nothing found answers this well enough (support {support:.2f} of {least:.2f})."
    return AnswerDecision(
        support,
        Decider.SIGNS,
        "" if support >= least else why_not,
        explanation=explanation,
        degraded=failed_parts,
    )


def _decide_by_relevance(
    question: str,
    candidates: Sequence[Candidate],
    relevance: float,
    checker: AnswerChecker | None,
) -> AnswerDecision:
    explanation, failed_parts, why_not = "decided by the relevance of what was said", [], ""
    if relevance < LEAST_OF_TURNS:
        why_not = f"Nothing said is about this (relevance {relevance:.2f} of {LEAST_OF_TURNS:.2f})."
    elif checker is not None:
        by_model, failure = _ask_model(question, candidates, relevance, checker)
        if by_model:
            return by_model
        explanation, failed_parts = f"{explanation}: {failure}", ["llm"]
    return AnswerDecision(
        relevance, Decider.RELEVANCE, why_not, explanation=explanation, degraded=failed_parts
    )


def _ask_model(
    question: str, candidates: Sequence[Candidate], support: float, checker: AnswerChecker
) -> tuple[AnswerDecision | None, str]:
    """Return the decision of the model, or None and why it failed."""
    try:
        return _decide_by_model(question, candidates, support, checker), ""
    except CheckerFailed as error:
        logger.warning("abstention decided without the language model: %s", error)
        return None, str(error)


def _decide_by_model(
    question: str, candidates: Sequence[Candidate], support: float, checker: AnswerChecker
) -> AnswerDecision:
    positions = rank_candidates(question, candidates)[:MAX_MEMORIES]
    number = checker.find_answer(question, [candidates[position].text for position in positions])
    explanation = "decided by the language model"
    if number is None:
        why_not = "The language model sees no answer in what was found."
        explanation = f"{explanation}: no memory answers"
        return AnswerDecision(support, Decider.MODEL, why_not, explanation=explanation)
    position = positions[number]
    excerpt = " ".join(candidates[position].text.split())[:EXCERPT_CHARACTERS]
    return AnswerDecision(
        support,
        Decider.MODEL,
        answering_position=position,
        explanation=f"{explanation}: this answers: {excerpt}",
    )
