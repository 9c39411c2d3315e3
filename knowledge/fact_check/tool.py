"""`lore_assert`: is this true here?"""

from opentelemetry import metrics, trace

from knowledge.fact_check.checker import UNKNOWN, FactChecker
from knowledge.fact_check.claims import Claim, UnparsedClaim, parse_claim
from knowledge.fact_check.evidence import to_fact_sources
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
_requests = metrics.get_meter("memory37").create_counter("memory37.graph.requests")


def lore_assert(ask: Assertion, caller: Caller) -> LoreAssertResult:
    """Check one statement about who is allied, hostile, related, where, owner or leader against the world's facts:
    true, false or unknown, with sources. Use before stating a relation as fact; not for open questions (lore_search).
    Example: {"fact": "Mira is allied with the Ferrymen's Guild"}"""
    with _tracer.start_as_current_span("graph.assert") as span:
        view = View(caller.world, caller.audience, ask.at)
        answer = _answer(ask, view)
        span.set_attributes({"op": "assert", "result": answer.result})
    _requests.add(1, {"op": "assert"})
    return answer


def _answer(ask: Assertion, view: View) -> LoreAssertResult:
    claim, degraded = (
        (_triple(ask.fact, view), []) if isinstance(ask.fact, Triple) else _sentence(ask.fact, view)
    )
    if isinstance(claim, UnparsedClaim):
        candidates = list(claim.candidates)
        return LoreAssertResult(
            result=UNKNOWN, reason=claim.reason, candidates=candidates, degraded=degraded
        )
    verdict = FactChecker(view).judge(claim)
    return LoreAssertResult(
        result=verdict.result,
        reason=verdict.reason,
        sources=to_fact_sources(
            verdict.supporting or ((), verdict.opposing)[not verdict.contested], view
        ),
        opposing=to_fact_sources(verdict.opposing, view) if verdict.contested else [],
        contested=verdict.contested,
        degraded=degraded,
    )


def _sentence(text: str, view: View) -> tuple[Claim | UnparsedClaim, list[str]]:
    """Read by the lexicons, else by the language model if there is one; and name what was down."""
    names = EntityLinker.for_texts(view.world, [text], view.audience)
    claim = parse_claim(text, names)
    model = get_llm() if isinstance(claim, UnparsedClaim) and not claim.candidates else None
    if model is None:
        return claim, []
    try:
        return parse_claim_with_model(text, names, model) or claim, []
    except LanguageModelDown:
        return claim, ["llm"]


def _triple(fact: Triple, view: View) -> Claim | UnparsedClaim:
    names = EntityLinker.for_texts(view.world, [fact.subject, fact.object], view.audience)
    try:
        a, b = names.resolve(fact.subject), names.resolve(fact.object)
    except Problem as problem:
        return UnparsedClaim(problem.detail, tuple(problem.candidates))
    if kind := _kind(fact.relation):
        return Claim(a, b, (kind,))
    return Claim(a, b, label=fact.relation)


def _kind(relation: str) -> ClaimKind | None:
    """Return what a relation's code, the name of a claim, or a known label asks."""
    known = Relations.load().get(relation.strip().upper().replace(" ", "_"))
    if known:
        return ClaimKind(
            known.code, (Reading(known.stored_as or known.code, turned=bool(known.stored_as)),)
        )
    said = fold_name(relation)
    for kind in claim_kinds().values():
        if said == kind.name or any(
            said in map(fold_name, reading.labels) for reading in kind.readings
        ):
            return kind
    return None
