"""What of a rule or an entry is shown, and to whom: players get the fields of `Hit` and no others."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from knowledge.answers import (
    ExplanationOut,
    GmHitOut,
    HitOut,
    LegOut,
    NearMissOut,
    SearchAnswer,
    SourceOut,
    fit_hits,
    is_truncated,
)
from knowledge.glossary.expansion import TermMatch
from knowledge.models import Rule, RulePassage
from knowledge.schemas import LoreQuestion, RulesQuestion
from retrieval.search import Hit, SearchResult, get_preset
from worlds.callers import Caller

ONLY_HIT = 1.0
"""The score of a row that was asked for by its id."""

OF_RULES = ("id", "key", "kind", "title", "breadcrumb", "language", "visibility", "known_to")
OF_DOCUMENTS = ("title", "publisher", "edition", "licence", "attribution")
RULE_FIELDS = (
    *(f"rule__{name}" for name in OF_RULES),
    *(f"rule__document__{name}" for name in OF_DOCUMENTS),
)
"""What the search must bring of a rule so that it can be shown."""

OF_LORE = (
    "id",
    "slug",
    "kind",
    "title",
    "language",
    "in_world_at",
    "in_world_label",
    "author",
    "status",
)
LORE_FIELDS = (
    *(f"lore__{name}" for name in OF_LORE),
    "lore__campaign__slug",
    "secret",
    "visibility",
    "known_to",
)
"""What it must bring of a lore entry: not its body, which may be long; the hit is the passage."""


def present_rule_hit(hit: Hit, caller: Caller) -> HitOut:
    """Show a rule by the passage that the search found."""
    return _shown_rule(hit.fields, caller, hit.updated_at, _found(hit), _passage(hit))


def present_whole_rule(rule: Rule, caller: Caller, passages: Sequence[RulePassage]) -> HitOut:
    """Show a rule that was asked for by its id: all its passages that this caller may see."""
    text = "\n\n".join(passage.text for passage in passages)
    fields = {f"rule__{name}": getattr(rule, name) for name in OF_RULES}
    fields |= {f"rule__document__{name}": getattr(rule.document, name) for name in OF_DOCUMENTS}
    updated_at = max((each.updated_at for each in passages), default=None)
    return _shown_rule(
        fields, caller, updated_at, {"text": text, "score": ONLY_HIT, "match": "exact"}, None
    )


def _shown_rule(
    rule: Mapping[str, Any],
    caller: Caller,
    updated_at: datetime | None,
    found: Mapping[str, Any],
    passage: str | None,
) -> HitOut:
    shown: dict[str, Any] = {
        "id": rule["rule__key"],
        "kind": rule["rule__kind"],
        "title": rule["rule__title"],
        "headings": rule["rule__breadcrumb"],
        "language": rule["rule__language"],
        "updated_at": updated_at,
        "source": SourceOut(
            document=rule["rule__document__title"],
            publisher=rule["rule__document__publisher"] or None,
            edition=rule["rule__document__edition"] or None,
            licence=rule["rule__document__licence"] or None,
            attribution=rule["rule__document__attribution"] or None,
        ),
        **found,
    }
    if not caller.audience.is_gm:
        return HitOut(**shown)
    guarded = {"visibility": rule["rule__visibility"], "known_to": rule["rule__known_to"]}
    return GmHitOut(**shown, **guarded, row=str(rule["rule__id"]), passage=passage)


def present_lore_hit(hit: Hit, caller: Caller) -> HitOut:
    """Show a lore entry by the passage that the search found."""
    entry = hit.fields
    shown: dict[str, Any] = {
        "id": entry["lore__slug"],
        "kind": entry["lore__kind"],
        "title": entry["lore__title"],
        "headings": hit.payload.get("headings", []),
        "language": entry["lore__language"],
        "in_world_at": entry["lore__in_world_at"],
        "in_world_label": entry["lore__in_world_label"],
        "updated_at": hit.updated_at,
        "source": SourceOut(document=entry["lore__title"], author=entry["lore__author"] or None),
        **_found(hit),
    }
    if not caller.audience.is_gm:
        return HitOut(**shown)
    return GmHitOut(
        **shown,
        visibility=entry["visibility"],
        known_to=entry["known_to"],
        secret=entry["secret"],
        status=entry["lore__status"],
        campaign=entry["lore__campaign__slug"],
        row=str(entry["lore__id"]),
        passage=_passage(hit),
    )


def build_answer(
    shown: Sequence[HitOut],
    question: RulesQuestion | LoreQuestion,
    caller: Caller,
    *,
    result: SearchResult | None = None,
    terms: Sequence[TermMatch] = (),
    rest: Sequence[HitOut] = (),
) -> SearchAnswer:
    """Fit the hits into the budget, and explain how they came about if a game master asks."""
    kept, cut = fit_hits(shown, question.max_chars)
    answer = SearchAnswer(
        hits=list(kept),
        truncated=bool(cut) or is_truncated(kept),
        degraded=list(result.degraded if result else ()),
    )
    if question.explain and caller.audience.is_gm:
        answer.explain = _explanation(question, caller, result, terms, cut, rest)
    return answer


def _explanation(
    question: RulesQuestion | LoreQuestion,
    caller: Caller,
    result: SearchResult | None,
    terms: Sequence[TermMatch],
    cut: Sequence[str],
    rest: Sequence[HitOut],
) -> ExplanationOut:
    domain = "srd" if isinstance(question, RulesQuestion) else "lore"
    settings = get_preset(domain)
    filters = question.model_dump(
        exclude_defaults=True, include={"kind", "filters", "rule_id", "expand"}
    )
    missed = [
        NearMissOut(id=hit.id, title=hit.title, score=hit.score, legs=hit.legs) for hit in rest
    ]
    return ExplanationOut(
        query=(question.term or question.rule_id or "")
        if isinstance(question, RulesQuestion)
        else question.query,
        expanded=[f"{found.name} → {found.term} ({found.weight:g})" for found in terms],
        mode=settings.mode.value if result else "id",
        fusion=settings.fusion.value if result else "",
        filters=filters,
        audience=str(caller.audience),
        near_misses=missed,
        cut_by_budget=list(cut),
        milliseconds=round(result.timings.get("total", 0.0), 2) if result else None,
    )


def _found(hit: Hit) -> dict[str, Any]:
    legs = {
        name: LegOut(rank=leg.rank, score=leg.score)
        for name, leg in hit.legs.items()
        if leg.score is not None
    }
    return {"text": hit.text, "score": round(hit.score, 4), "match": hit.match, "legs": legs}


def _passage(hit: Hit) -> str:
    return str(hit.id)
