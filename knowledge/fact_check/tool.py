"""The tool `lore_assert`: check a statement against the facts of a world."""

from dataclasses import replace

from opentelemetry import metrics, trace

from knowledge.fact_check.checker import UNKNOWN, FactChecker
from knowledge.fact_check.claims import Claim, UnparsedClaim, parse_claim
from knowledge.fact_check.evidence import to_fact_source
from knowledge.fact_check.lexicon import ClaimKind, Reading, claim_kinds
from knowledge.fact_check.model_claims import parse_claim_with_model
from knowledge.fact_check.schemas import Assertion, LoreAssertResult, Triple
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.protocol import View
from knowledge.graph.relations import Relations
from retrieval.errors import LanguageModelDown, Problem
from retrieval.llm import get_llm
from retrieval.text import fold_name
from worlds.callers import Caller

_tracer = trace.get_tracer("memory37.graph")
_request_counter = metrics.get_meter("memory37").create_counter("memory37.graph.requests")


def lore_assert(ask: Assertion, caller: Caller) -> LoreAssertResult:
    """Check one statement about who is allied, hostile, related, where, owner or leader against
    the world's facts: true, false or unknown, with sources. Use before stating a relation as
    fact; not for open questions (lore_search).
    Example: {"fact": "Mira is allied with the Ferrymen's Guild"}"""
    with _tracer.start_as_current_span("graph.assert") as span:
        view = View(caller.world, caller.audience, ask.at)
        if isinstance(ask.fact, Triple):
            claim = _claim_of_triple(ask.fact, view)
        else:
            claim = _claim_of_sentence(ask.fact, view)
        result = _check_claim(claim, view)
        span.set_attributes({"op": "assert", "result": result.result})
    _request_counter.add(1, {"op": "assert"})
    return result


def _check_claim(claim: Claim | UnparsedClaim, view: View) -> LoreAssertResult:
    if isinstance(claim, UnparsedClaim):
        return LoreAssertResult(
            result=UNKNOWN,
            reason=claim.reason,
            candidates=list(claim.candidates),
            degraded=["llm"] if claim.is_model_down else [],
        )
    verdict = FactChecker(view).judge(claim)
    # `sources` are the facts that decided: those in favor, or those against it if there are none.
    deciding = verdict.supporting or verdict.opposing
    opposing = verdict.opposing if verdict.is_contested else ()
    return LoreAssertResult(
        result=verdict.result,
        reason=verdict.reason,
        sources=[to_fact_source(fact, view) for fact in deciding],
        opposing=[to_fact_source(fact, view) for fact in opposing],
        contested=verdict.is_contested,
    )


def _claim_of_sentence(text: str, view: View) -> Claim | UnparsedClaim:
    """Parse by the lexicons, else by the language model if there is one."""
    linker = EntityLinker.for_texts(view.world, [text], view.audience)
    claim = parse_claim(text, linker)
    # Candidates mean that a name was ambiguous; a model could only guess which one was meant.
    if isinstance(claim, Claim) or claim.candidates or (model := get_llm()) is None:
        return claim
    try:
        return parse_claim_with_model(text, linker, model) or claim
    except LanguageModelDown:
        return replace(claim, is_model_down=True)


def _claim_of_triple(fact: Triple, view: View) -> Claim | UnparsedClaim:
    linker = EntityLinker.for_texts(view.world, [fact.subject, fact.object], view.audience)
    try:
        a, b = linker.resolve(fact.subject), linker.resolve(fact.object)
    except Problem as problem:
        return UnparsedClaim(problem.detail, tuple(problem.candidates))
    kind = _claim_kind_of(fact.relation)
    return Claim(a, b, (kind,)) if kind else Claim(a, b, label=fact.relation)


def _claim_kind_of(relation: str) -> ClaimKind | None:
    """Return the claim named by a relation code, by its own name or by a label."""
    if row := Relations.load().get(relation.strip().upper().replace(" ", "_")):
        reading = Reading(row.stored_as or row.code, inverse=bool(row.stored_as))
        return ClaimKind(row.code, (reading,))
    name = fold_name(relation)
    for kind in claim_kinds().values():
        labels = {fold_name(label) for reading in kind.readings for label in reading.labels}
        if name == kind.name or name in labels:
            return kind
    return None
