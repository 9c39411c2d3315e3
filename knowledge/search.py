"""Search rules and lore. The audience is part of every query."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from rapidfuzz import fuzz, process

from knowledge.glossary.expansion import Glossary, get_glossary
from knowledge.graph.protocol import View
from knowledge.graph_leg import add_graph_leg
from knowledge.house_rules import rule_in_force, rules_in_force
from knowledge.models import Lore, LorePassage, Rule, RulePassage
from knowledge.name_matching import (
    CERTAIN,
    NamedRow,
    best_of_each,
    match_rows,
    match_rules,
    name_index,
    shared_names,
)
from knowledge.presenters import (
    LORE_FIELDS,
    RULE_FIELDS,
    SearchAnswer,
    build_answer,
    present_lore_hit,
    present_rule_hit,
    present_whole_rule,
)
from knowledge.questions.everyday import Saying, everyday_speech
from knowledge.questions.levels import rules_of_levels
from knowledge.questions.misspellings import Spelling, correct_spelling, words_of_system
from knowledge.questions.numbers import numbers_in
from knowledge.schemas import LoreFilters, LoreQuestion, RulesQuestion
from knowledge.translated_names import find_translated
from knowledge.upsert import find_kind
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
"""Score of a row whose name occurs in a longer question; both legs together give at most 1."""
OTHER_READING = 0.9
"""What a name counts that a misspelled question means less likely."""

MEANT_RULE = 0.4
"""Score of a rule that everyday speech certainly means, without its name."""
MOST_SAYINGS = 5
MOST_EXPANSIONS = 12
CANDIDATES = 5
# DISTINCT ON keeps the row with the lowest position of each entry; one round trip for all of them.
FIRST_PASSAGES = """
SELECT DISTINCT ON ({owner}) id, {owner} FROM ({rows}) AS row WHERE {owner} = ANY(%(named)s)
ORDER BY {owner}, position
"""
OCCURRING = """
SELECT word FROM unnest(%(words)s::text[]) AS word WHERE EXISTS (
  SELECT FROM ({rows}) AS row WHERE row.search_vector @@ (
    SELECT string_agg(memory37_quoted(part), '&')::tsquery
    FROM unnest(tsvector_to_array(memory37_words(%(language)s, word))) AS part))
"""

RowCache = Callable[[str, Callable[[], "QuerySet[Any]"]], CompiledRows]


class GmOnly(Forbidden):
    code, title = "for_gm_only", "Only a game master may ask for this"


# --- rules


def find_rules(
    question: RulesQuestion, caller: Caller, *, mode: Mode | None = None
) -> SearchAnswer:
    """Answer `rules_lookup`. `mode` searches with one leg alone; by default the preset decides.
    Raises `NotFound` or `Ambiguous` for a rule id."""
    if question.rule_id:
        chain = _find_rule_and_override(question, caller, question.rule_id)
        hits = [present_whole_rule(rule, caller, _texts_of(rule, caller)) for rule in chain]
        return build_answer(hits, question, caller)
    term = question.term or ""
    language = guess_language(term)
    glossary = get_glossary(caller.world.system_id) if language != "en" else None
    rows = _row_cache(caller, question.kind)
    passages = rows("rule passages", lambda: visible_rules(RulePassage, question, caller))
    spelling = correct_rule_question(term, caller, glossary, passages)
    # The glossary compares every name with the text; a longer text is a paste, not a question.
    terms = glossary.find(spelling.text[:2000])[:MOST_EXPANSIONS] if glossary else []
    rules = rows("rules", lambda: known_rules(Rule, question, caller))
    # An index shared by all worlds has the names of shared rules, so only the others are read.
    own = rows("own rules", lambda: known_rules(Rule, question, caller).not_shared())
    match = partial(
        match_rules,
        *(rules, own, caller.world),
        weight=MENTIONED_RULE,
        answers=partial(answers_of, caller),
    )
    names = names_in_readings(spelling, match)
    known = [row.name for row in names] + [each.term for each in terms]
    sayings = [
        *rules_of_levels(spelling.text, known),
        *everyday_speech(language).find(spelling.text)[:MOST_SAYINGS],
    ]
    names = best_of_each(
        [
            # As it was written, too: a translation that nobody knows is no slip of the finger.
            *(
                row
                for text in dict.fromkeys((term, spelling.text))
                for row in _add_translated(names, text, caller)
            ),
            *names_of_sayings(sayings, match),
        ]
    )
    request = SearchRequest(
        query=spelling.text,
        scopes=[scope for scope in (caller.world.system_id, caller.world.pk) if scope],
        hidden=caller.audience.is_gm,
        limit=question.k,
        language=language,
        expansions=[
            *(Expansion(each.term, each.weight) for each in terms),
            *(Expansion(each.term, each.weight) for each in sayings),
        ],
        name_hits=_first_passages(passages, "rule_id", names),
        fields=RULE_FIELDS,
        one_of="rule_id",
        mode=mode,
        rerank=question.rerank,
        least=question.least,
        explain=question.explain,
    )
    result = search(passages, request)
    hits = [present_rule_hit(hit, caller) for hit in result.hits]
    rest = [present_rule_hit(hit, caller) for hit in _near_misses(result)]
    return build_answer(hits, question, caller, result=result, terms=terms, rest=rest)


def _add_translated(names: list[NamedRow], term: str, caller: Caller) -> list[NamedRow]:
    """Add the rules that a question in another language may name; each keeps its higher score."""
    rows = {row.id: row for row in names}
    translated = find_translated(caller.world, term)
    replaced = answers_of(caller) if translated else {}
    for row in translated:
        row = replace(row, id=replaced.get(row.id, row.id))
        if row.id not in rows or rows[row.id].score < row.score:
            rows[row.id] = row
    return list(rows.values())


def visible_rules(model: Any, question: RulesQuestion, caller: Caller) -> Any:
    """The rows of `model` (rules or passages) of the asked kind that the caller may know."""
    rows = model.objects.in_force(caller.world, caller.campaign, caller.audience)
    return of_kind(rows.visible_to(caller.audience), question)


def known_rules(model: Any, question: RulesQuestion, caller: Caller) -> Any:
    """The same with those that a house rule replaces: their names mean the house rule."""
    rows = model.objects.in_world(caller.world).in_campaign(caller.campaign)
    return of_kind(rows.visible_to(caller.audience), question)


def answers_of(caller: Caller) -> dict[UUID, UUID]:
    return rules_in_force(caller.world, campaign=caller.campaign, audience=caller.audience)


def of_kind(rows: Any, question: RulesQuestion) -> Any:
    if not question.kind:
        return rows
    # A passage has the kind in its metadata, so that the search needs no join.
    kind: dict[str, Any] = {"kind": question.kind}
    return rows.filter(**kind) if rows.model is Rule else rows.filter(metadata__contains=kind)


def _find_rule_and_override(question: RulesQuestion, caller: Caller, reference: str) -> list[Rule]:
    """Return the rule that answers for `reference`; after it the rule it replaces, if `reference`
    is the id of that one."""
    known = Rule.objects.in_world(caller.world).in_campaign(caller.campaign)
    known = known.visible_to(caller.audience).select_related("document", "overrides")
    rule = _find_rule(known, known_rules(Rule, question, caller), answers_of(caller), reference)
    answer = rule_in_force(caller.world, rule, campaign=caller.campaign, audience=caller.audience)
    return [rule] if answer == rule else [answer, rule]


def _texts_of(rule: Rule, caller: Caller) -> list[RulePassage]:
    visible = RulePassage.objects.visible_to(caller.audience).filter(rule=rule)
    return list(visible.order_by("position").only("text", "updated_at"))


def _find_rule(
    known: "QuerySet[Rule]", rules: "QuerySet[Rule]", answers: Mapping[UUID, UUID], reference: str
) -> Rule:
    """Return the rule of `known` with this id, with or without its document, else the one of
    `rules` with this name; the name of a replaced rule means the one that answers."""
    rules = rules.select_related("document", "overrides")
    with_id = Q(key__iexact=reference) | Q(key__iendswith=f"/{reference}")
    rows = list(known.filter(with_id)[: CANDIDATES + 1])
    # A full id wins over longer ids that end with it.
    rows = [rule for rule in rows if rule.key.lower() == reference.lower()] or rows
    if len(rows) == 1:
        return rows[0]
    if rows:
        message = f"{reference!r} fits several rules: name one of them in full."
        raise Ambiguous(message, candidates=[rule.key for rule in rows[:CANDIDATES]])
    matches = name_index(rules, reference).find(reference)
    certain = {answers.get(match.key, match.key) for match in matches if match.how in CERTAIN}  # type: ignore[call-overload]
    if len(certain) == 1:
        return known.get(pk=certain.pop())
    tail = reference.rsplit("/", 1)[-1]
    tails = {key: key.rsplit("/", 1)[-1] for key in rules.values_list("key", flat=True)}
    similar = process.extract(tail, tails, scorer=fuzz.ratio, limit=CANDIDATES, score_cutoff=60)
    message = f"There is no rule {reference!r}. Look it up by `term`."
    raise NotFound(message, candidates=[key for _tail, _score, key in similar])


def correct_rule_question(
    text: str, caller: Caller, glossary: Glossary | None, passages: CompiledRows
) -> Spelling:
    """Return the question with misspelled words corrected, by the words of the game's rules."""
    system, language = caller.world.system_id, guess_language(text)
    if not system:
        return Spelling(text)
    names = shared_names(system)
    known = words_of_system(system, language, names, glossary)
    find = partial(_find_occurring, passages, language)
    return correct_spelling(text, known, names, find_occurring=find)


def _find_occurring(passages: CompiledRows, language: str, words: list[str]) -> set[str]:
    found = passages.fetch(OCCURRING, ("search_vector",), words=words, language=language)
    return {word for (word,) in found}


def names_in_readings(spelling: Spelling, match: Callable[[str], list[NamedRow]]) -> list[NamedRow]:
    """Return what the question names, then what its other readings name, as far as it is
    misspelled."""
    names = match(spelling.text)
    if not spelling:
        return names
    others = [row for text in spelling.others for row in match(text)]
    weaker = [replace(row, score=row.score * OTHER_READING) for row in others]
    return best_of_each(replace(row, kind="fuzzy") for row in (*names, *weaker))


def names_of_sayings(
    sayings: Sequence[Saying], match: Callable[[str], list[NamedRow]]
) -> list[NamedRow]:
    """Return the rules that everyday speech means. One look-up finds the names of all of them."""
    weights = {saying.term: saying.weight for saying in reversed(sayings)}
    rows = match(". ".join(weights)) if weights else []
    return [
        replace(row, kind="alias", score=MEANT_RULE * weights[row.name])
        for row in rows
        if row.name in weights
    ]


# --- lore


def find_lore(
    question: LoreQuestion,
    caller: Caller,
    *,
    mode: Mode | None = None,
    with_drafts: bool = False,
) -> SearchAnswer:
    """Answer `lore_search`; `mode` as for `find_rules`. `with_drafts` finds what is published and
    drafts in one search. Raises `GmOnly` for what only a game master may ask for."""
    filters = question.filters
    caller = narrow_caller(caller, filters)
    if with_drafts and not caller.audience.is_gm:
        raise GmOnly("Drafts are for game masters.")
    rows = _row_cache(caller, filters.model_dump_json(), "drafts" if with_drafts else None)
    passages = rows(
        "lore passages",
        lambda: filter_passages(_known_lore(LorePassage, caller), filters, with_drafts=with_drafts),
    )
    entries = rows("lore", lambda: _known_lore(Lore, caller))
    names = match_rows(entries, question.query, weight=MENTIONED_LORE)
    request = SearchRequest(
        query=question.query,
        scopes=[caller.world.pk],
        hidden=caller.audience.is_gm,
        # The graph leg can lift a hit from below the last one that is asked for.
        limit=question.k * (2 if question.expand else 1),
        language=guess_language(question.query),
        expansions=[Expansion(str(number)) for number in numbers_in(question.query)],
        name_hits=_first_passages(passages, "lore_id", names),
        fields=LORE_FIELDS,
        one_of="lore_id",
        mode=mode,
        rerank=question.rerank,
        least=question.least,
        explain=question.explain,
    )
    result = search(passages, request)
    if question.expand:
        view = View(caller.world, caller.audience)
        result = add_graph_leg(result, question.query, passages.queryset, view)
    rest = [*result.hits[question.k :], *_near_misses(result)] if question.explain else []
    hits = [present_lore_hit(hit, caller) for hit in result.hits[: question.k]]
    misses = [present_lore_hit(hit, caller) for hit in rest]
    return build_answer(hits, question, caller, result=result, rest=misses)


def _known_lore(model: Any, caller: Caller) -> Any:
    """The rows of `model` (entries or their passages) that the caller may know."""
    rows = model.objects.in_world(caller.world).visible_to(caller.audience)
    return rows.known_in(caller.campaign, caller.audience)


def narrow_caller(caller: Caller, filters: LoreFilters) -> Caller:
    """Return the caller within the campaign of the filters. Raises `GmOnly` or `Invalid` for a
    filter that the caller may not use, `NotFound` for an unknown kind."""
    if (filters.status or filters.campaign) and not caller.audience.is_gm:
        raise GmOnly(
            "Leave out the filters `status` and `campaign`: they are for game masters, "
            "others see the canon of their own campaign."
        )
    # For a game master only: another audience must not learn which kinds there are.
    if filters.kind and filters.kind not in Lore.Kind and caller.audience.is_gm:
        find_kind(caller.world, filters.kind)
    if not filters.campaign:
        return caller
    campaign = find_campaign(caller.world, filters.campaign)
    if caller.campaign not in (None, campaign):
        bound = f"This key asks within the campaign {caller.campaign} alone"
        raise Invalid(f"{bound}: leave out the filter `campaign`.")
    return replace(caller, campaign=campaign)


def filter_passages(passages: Any, filters: LoreFilters, *, with_drafts: bool = False) -> Any:
    """Apply the filters of a question; drafts are left out unless a game master asks for them."""
    conditions = Q() if with_drafts else Q(published=filters.status != "draft")
    kind = "kind" if filters.kind in Lore.Kind else "custom_kind"
    metadata = {kind: filters.kind, "tags": filters.tags}
    if metadata := {name: value for name, value in metadata.items() if value}:
        conditions &= Q(metadata__contains=metadata)
    if filters.language:
        conditions &= Q(language=filters.language)
    if (last := filters.in_world_to) is not None:
        conditions &= Q(lore__in_world_at__lte=last)
    # An entry with an end lasts until then; one without is a single day.
    if (first := filters.in_world_from) is not None:
        conditions &= Q(lore__in_world_at__gte=first) | Q(lore__in_world_until__gte=first)
    return passages.filter(conditions)


# --- both


def _row_cache(caller: Caller, *filters: str | None) -> RowCache:
    """Return a function that caches the compiled rows of a name. Which rows there are depends on
    nothing but the caller and the filters, so these are the key."""
    world, campaign = caller.world, caller.campaign
    key = (world.pk, world.system_id, campaign.pk if campaign else None, caller.audience, *filters)
    return lambda name, make: get_compiled_rows((name, *key), make)


def _near_misses(result: SearchResult) -> Sequence[Hit]:
    """The hits after the last one that was asked for; they are there if an explanation was."""
    hits: Sequence[Hit] = (result.explain or {}).get("near_misses", ())
    return hits


def _first_passages(
    passages: CompiledRows, owner: str, rows: Sequence[NamedRow]
) -> list[NamedPassage]:
    """The first visible passage of each named row."""
    if not rows:
        return []
    rows_by_id = {row.id: row for row in rows}
    statement = FIRST_PASSAGES.replace("{owner}", owner)
    ids = passages.fetch(statement, ("id", "position", owner), named=list(rows_by_id))
    return [
        NamedPassage(id=pk, kind=rows_by_id[row_id].kind, score=rows_by_id[row_id].score)
        for pk, row_id in ids
    ]
