"""Search rules and lore. The audience is part of every query."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from knowledge.graph.protocol import View
from knowledge.graph_leg import add_graph_leg
from knowledge.links.hidden_targets import without_hidden_matches
from knowledge.lore_questions import read_lore_question
from knowledge.models import Lore
from knowledge.name_matching import NamedRow
from knowledge.presenters import (
    LORE_FIELDS,
    RULE_FIELDS,
    SearchAnswer,
    build_answer,
    present_lore_hit,
    present_rule_hit,
    present_whole_rule,
)
from knowledge.questions.numbers import numbers_in
from knowledge.questions.parts import QuestionReading, interleave, parts_of
from knowledge.rule_by_id import find_rule_and_override, texts_of
from knowledge.rule_questions import RuleReading, read_rule_question
from knowledge.schemas import LoreFilters, LoreQuestion, RulesQuestion
from knowledge.searched_rows import LoreRows, RuleRows
from knowledge.upsert import find_kind
from retrieval.errors import Forbidden
from retrieval.search import (
    CompiledRows,
    Expansion,
    Hit,
    Mode,
    NamedPassage,
    SearchRequest,
    SearchResult,
    search,
)
from worlds.callers import Caller
from worlds.lookup import find_campaign

# DISTINCT ON keeps the row with the lowest position of each entry; one round trip for all of them.
FIRST_PASSAGES = """
SELECT DISTINCT ON ({owner}) id, {owner} FROM ({rows}) AS row WHERE {owner} = ANY(%(named)s)
ORDER BY {owner}, position
"""


class GmOnly(Forbidden):
    code, title = "for_gm_only", "Only a game master may ask for this"


# --- rules


def find_rules(
    question: RulesQuestion, caller: Caller, *, mode: Mode | None = None
) -> SearchAnswer:
    """Answer `rules_lookup`. `mode` searches with one leg alone; by default the preset decides.
    Raises `NotFound` or `Ambiguous` for a rule id."""
    rows = RuleRows(caller, question.kind)
    if question.rule_id:
        chain = find_rule_and_override(rows, question.rule_id)
        whole = [present_whole_rule(rule, caller, texts_of(rule, caller)) for rule in chain]
        return build_answer(whole, question, caller)
    read = partial(read_rule_question, rows=rows)
    parts = parts_of(question.term or "", read)
    results = [
        search(rows.passages, rule_request(part, question, rows, mode=mode)) for part in parts
    ]
    result = merge_results(results, owner="rule__id")
    rest = hits_after(question.k, result)
    asked = {
        hit.id: part.asked
        for part, own in zip(parts, results, strict=True)
        for hit in (*own.hits, *hits_after(question.k, own))
    }
    return build_answer(
        [present_rule_hit(hit, caller, asked[hit.id]) for hit in result.hits[: question.k]],
        question,
        caller,
        result=result,
        terms=[term for part in parts for term in part.terms],
        rest=[present_rule_hit(hit, caller, asked[hit.id]) for hit in rest],
    )


def rule_request(
    reading: RuleReading, question: RulesQuestion, rows: RuleRows, *, mode: Mode | None
) -> SearchRequest:
    world = rows.caller.world
    return SearchRequest(
        query=reading.text,
        scopes=[scope for scope in (world.system_id, world.pk) if scope],
        hidden=rows.caller.audience.is_gm,
        limit=question.k,
        language=reading.language,
        expansions=reading.expansions,
        name_hits=first_passages(rows.passages, "rule_id", reading.names),
        fields=RULE_FIELDS,
        one_of="rule_id",
        mode=mode,
        rerank=question.rerank,
        least=question.least,
        explain=question.explain,
    )


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
    caller = narrow_caller(caller, question.filters)
    if with_drafts and not caller.audience.is_gm:
        raise GmOnly("Drafts are for game masters.")
    rows = LoreRows(caller, question.filters, with_drafts=with_drafts)
    read = partial(read_lore_question, rows=rows)
    parts = parts_of(question.query, read)
    results = [
        search(rows.passages, lore_request(part, question, rows, mode=mode)) for part in parts
    ]
    if question.expand:
        view = View(caller.world, caller.audience)
        results = [
            add_graph_leg(result, part.text, rows.passages.queryset, view)
            for part, result in zip(parts, results, strict=True)
        ]
    result = merge_results(results, owner="lore__id")
    hits = without_hidden_matches(question.query, result.hits[: question.k], caller)
    rest = without_hidden_matches(question.query, hits_after(question.k, result), caller)
    return build_answer(
        [present_lore_hit(hit, caller) for hit in hits],
        question,
        caller,
        result=result,
        rest=[present_lore_hit(hit, caller) for hit in rest],
    )


def lore_request(
    reading: QuestionReading, question: LoreQuestion, rows: LoreRows, *, mode: Mode | None
) -> SearchRequest:
    text = reading.text
    return SearchRequest(
        query=text,
        scopes=[rows.caller.world.pk],
        hidden=rows.caller.audience.is_gm,
        # The graph leg can lift a hit from below the last one that is asked for.
        limit=question.k * (2 if question.expand else 1),
        language=reading.language,
        expansions=[Expansion(str(number)) for number in numbers_in(text)],
        name_hits=first_passages(rows.passages, "lore_id", reading.names),
        fields=LORE_FIELDS,
        one_of="lore_id",
        mode=mode,
        rerank=question.rerank,
        least=question.least,
        explain=question.explain,
    )


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
    campaign = find_campaign(caller.world, filters.campaign, only=caller.campaign)
    return replace(caller, campaign=campaign)


# --- both


def merge_results(results: Sequence[SearchResult], *, owner: str) -> SearchResult:
    """Return the hits of the parts of a question by turns, each row of the column `owner` once."""
    if len(results) == 1:
        return results[0]
    hits = interleave((result.hits for result in results), key=lambda hit: hit.fields[owner])
    names = dict.fromkeys(name for result in results for name in result.timings)
    return SearchResult(
        hits=hits,
        degraded=list(dict.fromkeys(leg for result in results for leg in result.degraded)),
        notices=list(dict.fromkeys(each for result in results for each in result.notices)),
        timings={name: sum(each.timings.get(name, 0.0) for each in results) for name in names},
        explain=results[0].explain and {**results[0].explain, "near_misses": ()},
    )


def hits_after(number: int, result: SearchResult) -> Sequence[Hit]:
    """The hits after those that were asked for, if an explanation was."""
    if result.explain is None:
        return ()
    return [*result.hits[number:], *result.explain["near_misses"]]


def first_passages(
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
