"""The answer of a search, cut to a budget of characters, and what of a rule or a lore entry it
shows to whom: players get the fields of `HitOut` and no others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, Field

from knowledge.glossary.expansion import TermMatch
from knowledge.models import Lore, Rule, RulePassage
from knowledge.questions.values import AskedValues, with_values_first
from knowledge.schemas import LoreOut, LoreQuestion, LoreRow, RuleOut, RuleRow, RulesQuestion
from retrieval.search import Hit, SearchResult, get_preset
from retrieval.text import shown_names
from worlds.answer_dates import DATES
from worlds.audiences import Visibility
from worlds.base_schemas import DEFAULT_CHARS, PrivateMoment, ResponseModel
from worlds.callers import Caller

Match = Literal["exact", "alias", "fuzzy", "keyword", "vector", "graph"]

SHORTEST_TEXT = 120
"""A hit whose text would be cut to less than this is left out."""

RESPONSE_CONFIG = ConfigDict(extra="forbid")
"""Hits are plain dataclasses: Pydantic describes and serializes them, and does not validate our own
values, which took longer than writing the JSON."""


@dataclass(kw_only=True, slots=True)
class LegOut:
    """The place of a hit in one leg of the search."""

    __pydantic_config__ = RESPONSE_CONFIG

    rank: Annotated[int | None, Field(description="Empty: this leg alone does not return it.")]
    score: float | None


@dataclass(kw_only=True, slots=True)
class SourceOut:
    """Where a hit comes from, as far as it applies."""

    __pydantic_config__ = RESPONSE_CONFIG

    document: str | None = None
    publisher: str | None = None
    edition: str | None = None
    licence: str | None = None
    attribution: str | None = None
    author: str | None = None
    episode: str | None = None


@dataclass(kw_only=True, slots=True)
class HitOut:
    """What every audience may see: an allow-list, so a new field is hidden until it is added."""

    __pydantic_config__ = RESPONSE_CONFIG

    id: str
    kind: str
    title: str
    text: str
    score: float
    relevance: Annotated[float, Field(description="Probability that it answers, 0 to 1.")]
    match: Match
    legs: dict[str, LegOut] = field(default_factory=dict)
    headings: list[str] = field(default_factory=list)
    language: str = ""
    in_world_at: float | None = None
    in_world_label: str = ""
    in_world_date: str = ""
    overrides: Annotated[str | None, Field(description="The rule that this one replaces.")] = None
    source: SourceOut = field(default_factory=SourceOut)
    updated_at: PrivateMoment = None
    truncated: bool = False


@dataclass(kw_only=True, slots=True)
class GmHitOut(HitOut):
    """A hit with what only a game master may see."""

    visibility: str
    known_to: list[str] = field(default_factory=list)
    secret: bool = False
    status: str | None = None
    campaign: str | None = None
    row: Annotated[str | None, Field(description="Id of the database row, for reveals.")] = None
    passage: str | None = None


class NearMissOut(ResponseModel):
    id: str
    title: str
    score: float
    legs: dict[str, LegOut] = {}


class ExplanationOut(ResponseModel):
    """How an answer came about (game masters only)."""

    query: str
    expanded: list[str] = []
    mode: str = ""
    fusion: str = ""
    filters: dict[str, Any] = {}
    audience: str = ""
    near_misses: list[NearMissOut] = []
    cut_by_budget: list[str] = []
    milliseconds: float | None = None


class SearchAnswer(ResponseModel):
    """The hits, best first. `degraded` names failed legs; `truncated`: the budget cut something."""

    hits: list[GmHitOut | HitOut] = []
    truncated: bool = False
    degraded: list[str] = []
    explain: ExplanationOut | None = None


def fit_hits(hits: Sequence[HitOut], max_chars: int | None) -> tuple[list[HitOut], list[str]]:
    """Return the hits within the budget, the last one shortened, and the ids of the rest."""
    budget = max_chars or DEFAULT_CHARS
    fitting: list[HitOut] = []
    for hit in hits:
        # The first hit is always shown, cut if need be: an answer without any says "unknown".
        if len(hit.text) <= budget:
            fitting.append(hit)
        elif budget >= SHORTEST_TEXT or not fitting:
            fitting.append(replace(hit, text=shorten(hit.text, budget), truncated=True))
        else:
            break
        budget = max(budget - len(hit.text), 0)
    return fitting, [hit.id for hit in hits[len(fitting) :]]


def shorten(text: str, length: int) -> str:
    """Cut at the last white space before `length`, and add an ellipsis."""
    # One character is for the ellipsis; a space in the first half would lose too much text.
    cut = text[: max(length - 1, 0)]
    return (cut[: cut.rfind(" ")] if " " in cut[length // 2 :] else cut).rstrip() + "…"


SCORE_BY_ID = 1.0

RULE_COLUMNS = ("id", "key", "kind", "title", "breadcrumb", "language", "visibility", "known_to")
DOCUMENT_COLUMNS = ("title", "publisher", "edition", "licence", "attribution")
OVERRIDES_COLUMNS = ("key", "visibility", "known_to")
RULE_FIELDS = (
    *(f"rule__{name}" for name in RULE_COLUMNS),
    *(f"rule__document__{name}" for name in DOCUMENT_COLUMNS),
    *(f"rule__overrides__{name}" for name in OVERRIDES_COLUMNS),
)
"""What a search reads of a rule so that it can be shown."""

LORE_FIELDS = (
    *("lore__id", "lore__slug", "lore__kind", "lore__title", "lore__language", "lore__author"),
    *("lore__in_world_at", "lore__in_world_label", "lore__status", "lore__campaign__slug"),
    *("secret", "visibility", "known_to"),
)
"""What a search reads of a lore entry. Not its body, which may be long: the hit is the passage."""


def present_rule_hit(hit: Hit, caller: Caller, asked: AskedValues) -> HitOut:
    """Show a rule by the passage that the search found, the values that were asked for first."""
    match = {"updated_at": _moment(hit.updated_at, caller), **_match_fields(hit)}
    if hit.fields["rule__kind"] in asked.kinds:
        match["text"] = with_values_first(hit.text, asked)
    return _present_rule(hit.fields, caller, match, passage=str(hit.id))


def present_whole_rule(rule: Rule, caller: Caller, passages: Sequence[RulePassage]) -> HitOut:
    """Show a rule that was asked for by its id: `passages` are those that the caller may see."""
    document = rule.document
    columns = {f"rule__{name}": getattr(rule, name) for name in RULE_COLUMNS}
    columns |= {f"rule__document__{name}": getattr(document, name) for name in DOCUMENT_COLUMNS}
    columns |= {
        f"rule__overrides__{name}": getattr(rule.overrides, name, None)
        for name in OVERRIDES_COLUMNS
    }
    text = "\n\n".join(passage.text for passage in passages)
    updated_at = max((each.updated_at for each in passages), default=None)
    match = {
        "text": text,
        "score": SCORE_BY_ID,
        "relevance": 1.0,
        "match": "exact",
        "updated_at": _moment(updated_at, caller),
    }
    return _present_rule(columns, caller, match)


def _present_rule(
    rule: Mapping[str, Any], caller: Caller, match: dict[str, Any], passage: str | None = None
) -> HitOut:
    # Not every document has each of these; an empty one is left out of the answer.
    source = {name: rule[f"rule__document__{name}"] or None for name in DOCUMENT_COLUMNS[1:]}
    fields: dict[str, Any] = {
        "id": rule["rule__key"],
        "kind": rule["rule__kind"],
        "title": rule["rule__title"],
        "headings": rule["rule__breadcrumb"],
        "language": rule["rule__language"],
        "overrides": _overridden_id(rule, caller),
        "source": SourceOut(document=rule["rule__document__title"], **source),
        **match,
    }
    if not caller.audience.is_gm:
        return HitOut(**fields)
    return GmHitOut(
        **fields,
        visibility=rule["rule__visibility"],
        known_to=caller.shown_audiences(rule["rule__known_to"]),
        row=str(rule["rule__id"]),
        passage=passage,
    )


def _overridden_id(rule: Mapping[str, Any], caller: Caller) -> str | None:
    """The id of the rule that `rule` replaces, if the caller may know that one."""
    visibility, known_to = rule["rule__overrides__visibility"], rule["rule__overrides__known_to"]
    is_known = (
        caller.audience.is_gm
        or visibility == Visibility.PUBLIC
        or (visibility == Visibility.REVEALED and caller.audience.knows(known_to or ()))
    )
    key: str | None = rule["rule__overrides__key"]
    return key if is_known else None


def _moment(updated_at: datetime | None, caller: Caller) -> datetime | None:
    """Return the moment for game masters alone: a passage is changed too when a secret block moves
    it or when others learn of it."""
    return updated_at if caller.audience.is_gm else None


def present_lore_hit(hit: Hit, caller: Caller) -> HitOut:
    """Show a lore entry by the passage that the search found."""
    entry = hit.fields
    fields: dict[str, Any] = {
        "id": entry["lore__slug"],
        "kind": entry["lore__kind"],
        "title": entry["lore__title"],
        "headings": hit.payload.get("headings", []),
        "language": entry["lore__language"],
        "in_world_at": entry["lore__in_world_at"],
        "in_world_label": entry["lore__in_world_label"],
        "updated_at": _moment(hit.updated_at, caller),
        "source": SourceOut(document=entry["lore__title"], author=entry["lore__author"] or None),
        **_match_fields(hit),
    }
    if not caller.audience.is_gm:
        return HitOut(**fields)
    return GmHitOut(
        **fields,
        visibility=entry["visibility"],
        known_to=caller.shown_audiences(shown_names(entry["known_to"])),
        secret=entry["secret"],
        status=entry["lore__status"],
        campaign=entry["lore__campaign__slug"],
        row=str(entry["lore__id"]),
        passage=str(hit.id),
    )


def _match_fields(hit: Hit) -> dict[str, Any]:
    scored_legs = [(name, leg) for name, leg in hit.legs.items() if leg.score is not None]
    legs = {name: LegOut(rank=leg.rank, score=leg.score) for name, leg in scored_legs}
    return {
        "text": hit.text,
        "score": round(hit.score, 4),
        "relevance": round(hit.relevance or 0.0, 2),
        "match": hit.match,
        "legs": legs,
    }


def build_answer(
    hits: Sequence[HitOut],
    question: RulesQuestion | LoreQuestion,
    caller: Caller,
    *,
    result: SearchResult | None = None,
    terms: Sequence[TermMatch] = (),
    rest: Sequence[HitOut] = (),
) -> SearchAnswer:
    """Fit the hits into the budget of characters, and explain the search if a game master asks.
    `result` is None for a rule that was read by its id; `rest` are the near misses."""
    fitting, ids_left_out = fit_hits(hits, question.max_chars)
    answer = SearchAnswer(
        hits=list(fitting),
        truncated=bool(ids_left_out) or any(hit.truncated for hit in fitting),
        degraded=list(result.degraded if result is not None else ()),
    )
    if question.explain and caller.audience.is_gm:
        if isinstance(question, RulesQuestion):
            settings, query = get_preset("srd"), question.term or question.rule_id
        else:
            settings, query = get_preset("lore"), question.query
        filters = {"kind", "filters", "rule_id", "expand"}
        answer.explain = ExplanationOut(
            query=query or "",
            expanded=[f"{each.name} → {each.term} ({each.weight:g})" for each in terms],
            mode=settings.mode.value if result is not None else "id",
            fusion=settings.fusion.value if result is not None else "",
            filters=question.model_dump(exclude_defaults=True, include=filters),
            audience=str(caller.audience),
            near_misses=[NearMissOut.model_validate(hit, from_attributes=True) for hit in rest],
            cut_by_budget=ids_left_out,
            milliseconds=round(result.timings.get("total", 0.0), 2) if result is not None else None,
        )
    return answer


# --- entries as a game master's program reads them


Shown = TypeVar("Shown", bound=LoreRow)
ShownRule = TypeVar("ShownRule", bound=RuleRow)


def lore_to_out(row: Lore, caller: Caller) -> LoreOut:
    return _show_lore(row, LoreOut, caller)


def lore_to_row(row: Lore, caller: Caller) -> LoreRow:
    return _show_lore(row, LoreRow, caller)


def _show_lore(row: Lore, schema: type[Shown], caller: Caller) -> Shown:
    links: dict[str, Any] = {
        **row.related_slugs(),
        "known_to": caller.shown_audiences(row.known_to),
    }
    names = set(schema.model_fields) - set(links) - set(DATES)
    return schema(**{name: getattr(row, name) for name in names}, **links)


def rule_to_out(row: Rule, caller: Caller) -> RuleOut:
    return _show_rule(row, RuleOut, caller)


def rule_to_row(row: Rule, caller: Caller) -> RuleRow:
    return _show_rule(row, RuleRow, caller)


def _show_rule(row: Rule, schema: type[ShownRule], caller: Caller) -> ShownRule:
    document = row.document
    citation: dict[str, Any] = {"rule_id": row.key, "document": document.title}
    citation |= {"edition": document.edition, "licence": document.licence}
    citation["campaign"] = row.campaign.slug if row.campaign else None
    citation["overrides"] = row.overrides.key if row.overrides else None
    citation["known_to"] = caller.shown_audiences(row.known_to)
    names = set(schema.model_fields) - set(citation)
    return schema(**{name: getattr(row, name) for name in names}, **citation)
