"""What of a rule or an entry is shown, and to whom: players get the fields of `Hit` and no others."""

from collections.abc import Sequence
from typing import Any

from knowledge.glossary.expanding import Found
from knowledge.models import Lore, Rule, RulePassage
from knowledge.schemas import LoreQuestion, RulesQuestion
from retrieval import hits
from retrieval.budgets import shortened, within
from retrieval.presets import preset
from retrieval.schemas import Answer, Explanation, GmHit, Hit, Leg, NearMiss, Source
from worlds.callers import Caller

ONLY_HIT = 1.0
"""The score of a row that was asked for by its id."""


def shown_rule(rule: Rule, caller: Caller, *, hit: hits.Hit | None = None, whole: Sequence[RulePassage] = ()) -> Hit:
    """Show a rule as the search found it, or as a whole: of all its passages that this caller may see."""
    document = rule.document
    text = "\n\n".join(passage.text for passage in whole)
    shown: dict[str, Any] = {
        "id": rule.key,
        "kind": rule.kind,
        "title": rule.title,
        "headings": rule.breadcrumb,
        "language": rule.language,
        "updated_at": hit.updated_at if hit else max((each.updated_at for each in whole), default=None),
        "source": Source(
            document=document.title,
            publisher=document.publisher or None,
            edition=document.edition or None,
            licence=document.licence or None,
            attribution=document.attribution or None,
        ),
        **_found(hit, text),
    }
    if not caller.audience.is_gm:
        return Hit(**shown)
    return GmHit(**shown, visibility=rule.visibility, known_to=rule.known_to, row=str(rule.pk), passage=_passage(hit))


def shown_lore(entry: Lore, caller: Caller, *, hit: hits.Hit) -> Hit:
    shown: dict[str, Any] = {
        "id": entry.slug,
        "kind": entry.kind,
        "title": entry.title,
        "headings": hit.payload.get("headings", []),
        "language": entry.language,
        "in_world_at": entry.in_world_at,
        "in_world_label": entry.in_world_label,
        "updated_at": hit.updated_at,
        "source": Source(document=entry.title, author=entry.author or None),
        **_found(hit, ""),
    }
    if not caller.audience.is_gm:
        return Hit(**shown)
    return GmHit(
        **shown,
        visibility=hit.fields["visibility"],
        known_to=hit.fields["known_to"],
        secret=hit.fields["secret"],
        status=entry.status,
        campaign=entry.campaign.slug if entry.campaign else None,
        row=str(entry.pk),
        passage=_passage(hit),
    )


def answer_of(
    shown: Sequence[Hit],
    question: RulesQuestion | LoreQuestion,
    caller: Caller,
    *,
    result: hits.SearchResult | None = None,
    terms: Sequence[Found] = (),
    rest: Sequence[Hit] = (),
) -> Answer:
    """Fit the hits into the budget, and explain how they came about if a game master asks."""
    kept, cut = within(shown, question.max_chars)
    answer = Answer(
        hits=list(kept), truncated=bool(cut) or shortened(kept), degraded=list(result.degraded if result else ())
    )
    if question.explain and caller.audience.is_gm:
        answer.explain = _explanation(question, caller, result, terms, cut, rest)
    return answer


def _explanation(
    question: RulesQuestion | LoreQuestion,
    caller: Caller,
    result: hits.SearchResult | None,
    terms: Sequence[Found],
    cut: Sequence[str],
    rest: Sequence[Hit],
) -> Explanation:
    domain = "srd" if isinstance(question, RulesQuestion) else "lore"
    settings = preset(domain)
    filters = question.model_dump(exclude_defaults=True, include={"kind", "filters", "rule_id", "expand"})
    missed = [NearMiss(id=hit.id, title=hit.title, score=hit.score, legs=hit.legs) for hit in rest]
    return Explanation(
        query=(question.term or question.rule_id or "") if isinstance(question, RulesQuestion) else question.query,
        expanded=[f"{found.name} → {found.term} ({found.weight:g})" for found in terms],
        mode=settings.mode.value if result else "id",
        fusion=settings.fusion.value if result else "",
        filters=filters,
        audience=str(caller.audience),
        near_misses=missed,
        cut_by_budget=list(cut),
        milliseconds=round(result.timings.get("total", 0.0), 2) if result else None,
    )


def _found(hit: hits.Hit | None, text: str) -> dict[str, Any]:
    if hit is None:
        return {"text": text, "score": ONLY_HIT, "match": "exact"}
    legs = {name: Leg(rank=leg.rank, score=leg.score) for name, leg in hit.legs.items() if leg.score is not None}
    return {"text": hit.text, "score": round(hit.score, 4), "match": hit.match, "legs": legs}


def _passage(hit: hits.Hit | None) -> str | None:
    return str(hit.id) if hit else None
