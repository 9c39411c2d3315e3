"""Search rules and lore. The audience is part of every query."""

from collections.abc import Sequence
from dataclasses import replace

from knowledge.graph.protocol import View
from knowledge.graph_leg import add_graph_leg
from knowledge.models import Lore
from knowledge.name_matching import NamedRow, match_rows
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
from knowledge.rule_by_id import find_rule_and_override, texts_of
from knowledge.rule_questions import RuleReading, read_rule_question
from knowledge.schemas import LoreFilters, LoreQuestion, RulesQuestion
from knowledge.searched_rows import LoreRows, RuleRows
from knowledge.upsert import find_kind
from retrieval.errors import Forbidden, Invalid
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
from retrieval.text import guess_language
from worlds.callers import Caller
from worlds.lookup import find_campaign

MENTIONED_LORE = 0.3
"""Score of an entry whose name occurs in a longer question; both legs together give at most 1."""
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
    reading = read_rule_question(question.term or "", rows)
    result = search(rows.passages, rule_request(reading, question, rows, mode=mode))
    return build_answer(
        [present_rule_hit(hit, caller, reading.asked) for hit in result.hits],
        question,
        caller,
        result=result,
        terms=reading.terms,
        rest=[present_rule_hit(hit, caller, reading.asked) for hit in near_misses(result)],
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
    result = search(rows.passages, lore_request(question.query, question, rows, mode=mode))
    if question.expand:
        view = View(caller.world, caller.audience)
        result = add_graph_leg(result, question.query, rows.passages.queryset, view)
    rest = [*result.hits[question.k :], *near_misses(result)] if question.explain else []
    return build_answer(
        [present_lore_hit(hit, caller) for hit in result.hits[: question.k]],
        question,
        caller,
        result=result,
        rest=[present_lore_hit(hit, caller) for hit in rest],
    )


def lore_request(
    text: str, question: LoreQuestion, rows: LoreRows, *, mode: Mode | None
) -> SearchRequest:
    names = match_rows(rows.entries, text, weight=MENTIONED_LORE)
    return SearchRequest(
        query=text,
        scopes=[rows.caller.world.pk],
        hidden=rows.caller.audience.is_gm,
        # The graph leg can lift a hit from below the last one that is asked for.
        limit=question.k * (2 if question.expand else 1),
        language=guess_language(text),
        expansions=[Expansion(str(number)) for number in numbers_in(text)],
        name_hits=first_passages(rows.passages, "lore_id", names),
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
    campaign = find_campaign(caller.world, filters.campaign)
    if caller.campaign not in (None, campaign):
        bound = f"This key asks within the campaign {caller.campaign} alone"
        raise Invalid(f"{bound}: leave out the filter `campaign`.")
    return replace(caller, campaign=campaign)


# --- both


def near_misses(result: SearchResult) -> Sequence[Hit]:
    """The hits after the last one that was asked for; they are there if an explanation was."""
    hits: Sequence[Hit] = (result.explain or {}).get("near_misses", ())
    return hits


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
