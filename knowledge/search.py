"""Find rules and lore for somebody: what they may not know of is never fetched."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from rapidfuzz import fuzz, process

from knowledge.answers import SearchAnswer
from knowledge.glossary.expansion import TermMatch, get_glossary
from knowledge.graph.protocol import View
from knowledge.graph_leg import add_graph_leg
from knowledge.models import Lore, LorePassage, Rule, RulePassage
from knowledge.name_matching import NamedRow, exclude_shared, match_rows, match_rules, name_index
from knowledge.presenters import (
    LORE_FIELDS,
    RULE_FIELDS,
    build_answer,
    present_lore_hit,
    present_rule_hit,
    present_whole_rule,
)
from knowledge.schemas import LoreFilters, LoreQuestion, RulesQuestion
from retrieval.errors import Ambiguous, Forbidden, Invalid, NotFound
from retrieval.search import (
    CompiledRows,
    Expansion,
    Hit,
    Mode,
    NamedPassage,
    SearchRequest,
    SearchResult,
    get_compiled_rows,
    search,
)
from retrieval.text import guess_language
from worlds.callers import Caller
from worlds.lookup import find_campaign

MENTIONED_RULE, MENTIONED_LORE = 0.1, 0.3
"""What a row gains whose name stands in a longer question; 1 is what both legs together can give."""
MOST_EXPANSIONS = 12
CANDIDATES = 5


class GmOnly(Forbidden):
    code, title = "for_gm_only", "Only a game master may ask for this"


# --- rules


def find_rules(
    question: RulesQuestion, caller: Caller, *, mode: Mode | None = None
) -> SearchAnswer:
    """Answer `rules_lookup`; `mode` asks one leg alone (the preset decides otherwise)."""
    if question.rule_id and (rule := _rule_called(_rules(question, caller), question.rule_id)):
        return build_answer(
            [present_whole_rule(rule, caller, _whole(rule, caller))], question, caller
        )
    return _searched_rules(question, caller, mode)


def _rules(question: RulesQuestion, caller: Caller) -> "QuerySet[Rule]":
    rules = Rule.objects.in_world(caller.world).visible_to(caller.audience)
    return rules.filter(kind=question.kind) if question.kind else rules


def _rule_passages(question: RulesQuestion, caller: Caller) -> "QuerySet[RulePassage]":
    passages = RulePassage.objects.in_world(caller.world).visible_to(caller.audience)
    return (
        passages.filter(metadata__contains={"kind": question.kind}) if question.kind else passages
    )


def _rule_called(rules: "QuerySet[Rule]", reference: str) -> Rule | None:
    """Return the rule with this id, with or without its document, or with this name; raises `NotFound`, `Ambiguous`."""
    rules = rules.select_related("document")
    found = list(
        rules.filter(Q(key__iexact=reference) | Q(key__iendswith=f"/{reference}"))[: CANDIDATES + 1]
    )
    exact = [rule for rule in found if rule.key.lower() == reference.lower()] or found
    if len(exact) == 1:
        return exact[0]
    if exact:
        keys = [rule.key for rule in exact[:CANDIDATES]]
        raise Ambiguous(
            f"{reference!r} fits several rules: name one of them in full.", candidates=keys
        )
    named = [
        match
        for match in name_index(rules, reference).find(reference)
        if match.how in ("exact", "alias", "ending")
    ]
    if len(named) == 1:
        return rules.get(pk=str(named[0].key))
    raise NotFound(
        f"There is no rule {reference!r}. Look it up by `term`.",
        candidates=_similar_keys(rules, reference),
    )


def _whole(rule: Rule, caller: Caller) -> list[RulePassage]:
    passages = (
        RulePassage.objects.visible_to(caller.audience).filter(rule=rule).order_by("position")
    )
    return list(passages.only("text", "updated_at"))


def _similar_keys(rules: "QuerySet[Any]", reference: str) -> list[str]:
    tail = reference.rsplit("/", 1)[-1]
    keys = {key: key.rsplit("/", 1)[-1] for key in rules.values_list("key", flat=True)}
    near = process.extract(tail, keys, scorer=fuzz.ratio, limit=CANDIDATES, score_cutoff=60)
    return [key for _name, _score, key in near]


def _searched_rules(question: RulesQuestion, caller: Caller, mode: Mode | None) -> SearchAnswer:
    term = question.term or ""
    terms = glossary_terms(term, caller)
    rows = _shelf(caller, question.kind)
    passages = rows("rule passages", lambda: _rule_passages(question, caller))
    rules = rows("rules", lambda: _rules(question, caller))
    own = rows("own rules", lambda: exclude_shared(_rules(question, caller)))
    names = match_rules(rules, own, caller.world, term, within=MENTIONED_RULE)
    result = search(
        passages,
        SearchRequest(
            query=term,
            scopes=_rule_scopes(caller),
            hidden=caller.audience.is_gm,
            limit=question.k,
            language=guess_language(term),
            expansions=[Expansion(found.term, found.weight) for found in terms],
            named=_named(passages, "rule_id", names),
            fields=RULE_FIELDS,
            one_of="rule_id",
            mode=mode,
            explain=question.explain,
        ),
    )
    hits, rest = (
        [present_rule_hit(hit, caller) for hit in some]
        for some in (result.hits, _near_misses(result))
    )
    return build_answer(hits, question, caller, result=result, terms=terms, rest=rest)


def glossary_terms(text: str, caller: Caller) -> list[TermMatch]:
    """Return the English game terms behind a Russian or Korean question."""
    if guess_language(text) == "en":
        return []
    return get_glossary(caller.world.system_id).find(text[:2000])[:MOST_EXPANSIONS]


def _rule_scopes(caller: Caller) -> list[UUID]:
    return [scope for scope in (caller.world.system_id, caller.world.pk) if scope]


# --- lore


def find_lore(question: LoreQuestion, caller: Caller, *, mode: Mode | None = None) -> SearchAnswer:
    filters = question.filters
    if (filters.status or filters.campaign) and not caller.audience.is_gm:
        raise GmOnly(
            "Leave out the filters `status` and `campaign`: this audience sees its own campaign's canon."
        )
    if filters.campaign:
        caller = _in_campaign(caller, filters.campaign)
    rows = _shelf(caller, filters.model_dump_json())
    passages = rows(
        "lore passages", lambda: filter_passages(_known_lore(LorePassage, caller), filters)
    )
    entries = rows("lore", lambda: _known_lore(Lore, caller))
    names = match_rows(entries, question.query, within=MENTIONED_LORE)
    result = search(
        passages,
        SearchRequest(
            query=question.query,
            scopes=[caller.world.pk],
            hidden=caller.audience.is_gm,
            limit=question.k * (2 if question.expand else 1),
            language=guess_language(question.query),
            named=_named(passages, "lore_id", names),
            fields=LORE_FIELDS,
            one_of="lore_id",
            mode=mode,
            explain=question.explain,
        ),
    )
    if question.expand:
        result = add_graph_leg(
            result, question.query, passages.queryset, View(caller.world, caller.audience)
        )
    rest = [*result.hits[question.k :], *_near_misses(result)] if question.explain else []
    hits, missed = (
        [present_lore_hit(hit, caller) for hit in some]
        for some in (result.hits[: question.k], rest)
    )
    return build_answer(hits, question, caller, result=result, rest=missed)


def _known_lore(model: Any, caller: Caller) -> Any:
    """The lore of `model` (entries or their passages) that the caller may know of."""
    rows = model.objects.in_world(caller.world).visible_to(caller.audience)
    return rows.known_in(caller.campaign, caller.audience)


def _in_campaign(caller: Caller, reference: str) -> Caller:
    campaign = find_campaign(caller.world, reference)
    if caller.campaign not in (None, campaign):
        raise Invalid(
            f"This key asks within the campaign {caller.campaign} alone: leave out the filter `campaign`."
        )
    return replace(caller, campaign=campaign)


def filter_passages(passages: Any, filters: LoreFilters) -> Any:
    """Narrow lore passages by what was asked for; drafts are left out unless a game master asks for them."""
    passages = passages.filter(published=filters.status != "draft")
    holds: dict[str, Any] = {"kind": filters.kind} if filters.kind else {}
    if filters.tags:
        holds["tags"] = filters.tags
    if holds:
        passages = passages.filter(metadata__contains=holds)
    if filters.language:
        passages = passages.filter(language=filters.language)
    if filters.in_world_to is not None:
        passages = passages.filter(lore__in_world_at__lte=filters.in_world_to)
    if filters.in_world_from is not None:
        begins, ends = (
            Q(lore__in_world_at__gte=filters.in_world_from),
            Q(lore__in_world_until__gte=filters.in_world_from),
        )
        passages = passages.filter(begins | ends)
    return passages


# --- both


def _shelf(
    caller: Caller, *filters: str | None
) -> "Callable[[str, Callable[[], QuerySet[Any]]], CompiledRows]":
    """Return a function that keeps the rows of a name for whoever asks like this caller: who they are and what they
    filter by is all that decides which rows there are to search."""
    world, campaign = caller.world, caller.campaign
    who = (world.pk, world.system_id, campaign.pk if campaign else None, caller.audience, *filters)
    return lambda name, make: get_compiled_rows((name, *who), make)


def _near_misses(result: SearchResult) -> Sequence[Hit]:
    """What came next, if an explanation was asked for."""
    missed: Sequence[Hit] = (result.explain or {}).get("near_misses", ())
    return missed


FIRST_OF_EACH = """
SELECT DISTINCT ON ({owner}) id, {owner} FROM ({rows}) AS row WHERE {owner} = ANY(%(named)s)
ORDER BY {owner}, position
"""


def _named(passages: CompiledRows, owner: str, rows: Sequence[NamedRow]) -> list[NamedPassage]:
    """The first passage that may be seen of each named row."""
    if not rows:
        return []
    by_row = {row.id: row for row in rows}
    ids = passages.read(
        FIRST_OF_EACH.replace("{owner}", owner), ("id", "position", owner), named=list(by_row)
    )
    return [NamedPassage(id=pk, kind=by_row[row].kind, score=by_row[row].score) for pk, row in ids]
