"""The tool `lore_assert`: check a statement against the facts and the lore of a world."""

from opentelemetry import trace

from knowledge.fact_check.checker import FactChecker
from knowledge.fact_check.claims import Claim, UnparsedClaim, not_understood
from knowledge.fact_check.evidence import present_prose, to_fact_source
from knowledge.fact_check.labelled_facts import meanings_of
from knowledge.fact_check.lexicon import ClaimKind, Reading, claim_kinds
from knowledge.fact_check.paraphrase_claims import judge_by_meaning
from knowledge.fact_check.prose import judge_by_prose
from knowledge.fact_check.schemas import Assertion, LoreAssertResult, Triple
from knowledge.fact_check.statements import StatementReader
from knowledge.fact_check.verdicts import UNKNOWN, Judgement, join_verdicts
from knowledge.graph.caller_views import view_at
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphNode
from knowledge.graph.protocol import View
from knowledge.graph.read_metrics import POSTGRES, count_read
from knowledge.graph.relations import Relations
from retrieval.errors import Problem
from retrieval.text import fold_name
from worlds.callers import Caller
from worlds.lookup import misread

_tracer = trace.get_tracer("memory37.graph")


def lore_assert(ask: Assertion, caller: Caller) -> LoreAssertResult:
    """Check one statement about relations, kin, places, owners, dates or numbers against the
    world's facts and lore: true, false or unknown, with sources. Use before stating it as
    fact; not for open questions (lore_search).
    Example: {"fact": "Mira is allied with the Ferrymen's Guild"}"""
    with _tracer.start_as_current_span("graph.assert") as span:
        view = view_at(caller, ask.at, ask.believed_at)
        if isinstance(ask.fact, Triple):
            claims, result = _check_known(_claims_of_triple(ask.fact, view), view, caller)
            if not isinstance(claims, UnparsedClaim):
                result.read_as = _names_misread_in_triple(ask.fact, claims[0])
        else:
            reader = StatementReader(ask.fact, view)
            result = _check_statement(reader, view, caller)
            result.read_as = _names_misread(reader) if result.understood else {}
        span.set_attributes({"op": "assert", "result": result.result})
    count_read(POSTGRES, "assert", result.result)
    return result


def _names_misread(reader: StatementReader) -> dict[str, str]:
    """Return the misspelt names of a statement with what they were taken for."""
    misspelt = (
        each
        for each in reader.linker.mentions(reader.text)
        if not each.ambiguous and each.matches[0].how == "fuzzy"
    )
    return {each.text: each.matches[0].name for each in misspelt}


def _names_misread_in_triple(fact: Triple, claim: Claim) -> dict[str, str]:
    found: dict[str, str] = {}
    for ref, node in ((fact.subject, claim.a), (fact.object, claim.b)):
        found |= misread(ref, node.name, node.slug, *node.aliases) if node else {}
    return found


def _check_statement(reader: StatementReader, view: View, caller: Caller) -> LoreAssertResult:
    """Judge by the facts, then by the sentences of lore, then by what the words mean, then by what
    a language model reads in it."""
    claims, result = _first_understood(reader, view, caller)
    if result.result != UNKNOWN or result.contested:
        return result
    # Lore has no past versions to judge by what was believed then.
    is_now = view.believed_at is None and not result.candidates
    if is_now and (evidence := judge_by_prose(reader.text, reader.linker, caller)):
        return present_prose(evidence)
    if not isinstance(claims, UnparsedClaim):
        return result
    if verdict := judge_by_meaning(reader, caller):
        return _present_verdict(verdict, caller)
    if result.candidates:
        return result
    return _check_claims(reader.read_with_model(claims), view, caller)


def _first_understood(
    reader: StatementReader, view: View, caller: Caller
) -> tuple[list[Claim] | UnparsedClaim, LoreAssertResult]:
    """Return the first reading that is understood and what the facts say of it; if none is, the
    reading by the names alone."""
    first: tuple[list[Claim] | UnparsedClaim, LoreAssertResult] | None = None
    for claims in reader.readings():
        claims, result = _check_known(claims, view, caller)
        # Of a few that are meant another one may be whom the facts say it of.
        is_of_any = not isinstance(claims, UnparsedClaim) and any(c.is_of_any for c in claims)
        if is_of_any and result.result == UNKNOWN:
            first = first if first and not isinstance(first[0], UnparsedClaim) else (claims, result)
            continue
        if not isinstance(claims, UnparsedClaim):
            return claims, result
        first = first or (claims, result)
    assert first
    return first


def _check_known(
    claims: list[Claim] | UnparsedClaim, view: View, caller: Caller
) -> tuple[list[Claim] | UnparsedClaim, LoreAssertResult]:
    """Check the claims; words that are no fact's label are no relation that is known, so such a
    claim is not understood."""
    result = _check_claims(claims, view, caller)
    is_label = not isinstance(claims, UnparsedClaim) and bool(claims[0].label)
    if is_label and result.result == UNKNOWN:
        claims = not_understood()
        result = _check_claims(claims, view, caller)
    return claims, result


def _check_claims(
    claims: list[Claim] | UnparsedClaim, view: View, caller: Caller
) -> LoreAssertResult:
    if isinstance(claims, UnparsedClaim):
        return LoreAssertResult(
            result=UNKNOWN,
            understood=False,
            reason=claims.reason,
            candidates=list(claims.candidates),
            degraded=["llm"] if claims.is_model_down else [],
        )
    checker = FactChecker(view, caller=caller)
    return _present_verdict(join_verdicts([checker.judge(claim) for claim in claims]), caller)


def _present_verdict(verdict: Judgement, caller: Caller) -> LoreAssertResult:
    # `sources` are the facts that decided: those in favor, or those against it if there are none.
    deciding = verdict.supporting or verdict.opposing
    opposing = verdict.opposing if verdict.is_contested else ()
    return LoreAssertResult(
        result=verdict.result,
        reason=verdict.reason,
        sources=[to_fact_source(fact, caller) for fact in deciding],
        opposing=[to_fact_source(fact, caller) for fact in opposing],
        contested=verdict.is_contested,
    )


def _claims_of_triple(fact: Triple, view: View) -> list[Claim] | UnparsedClaim:
    linker = EntityLinker.for_view(view, [fact.subject, fact.object])
    try:
        a, b = linker.resolve(fact.subject), linker.resolve(fact.object)
    except Problem as problem:
        return UnparsedClaim(problem.detail, tuple(problem.candidates))
    return [_claim_of_relation(fact.relation, a, b)]


def _claim_of_relation(relation: str, a: GraphNode, b: GraphNode) -> Claim:
    """Return the claim named by a relation code, by its own name or by a label."""
    if row := Relations.load().get(relation.strip().upper().replace(" ", "_")):
        reading = Reading(row.stored_as or row.code, inverse=bool(row.stored_as))
        return Claim(a, b, (ClaimKind(row.code, (reading,)),))
    if kind := claim_kinds().get(fold_name(relation)):
        return Claim(a, b, (kind,))
    meanings = [
        m for m in meanings_of(relation) if not m.is_swapped and m.kind.allows(a.kind, b.kind)
    ]
    if meanings:
        return Claim(a, b, tuple(meaning.kind for meaning in meanings))
    return Claim(a, b, label=relation)
