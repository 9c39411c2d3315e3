"""Judge a statement by sentences of lore that the caller may read, for what no fact says.

A sentence decides if it has every word and every name of the statement: it confirms it, or, with
another number at the same word or with a negation more or less, it contradicts it. Sentences that
only suppose, and those in which the same names stand in another order, decide nothing.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from knowledge.fact_check.concepts import concepts_of, opposites_of
from knowledge.fact_check.lexicon import language_of
from knowledge.fact_check.name_slots import described_mentions, joined_mentions
from knowledge.fact_check.prose_words import (
    Clause,
    SentenceWords,
    counter_of,
    excludes,
    has_concept,
    stem_of,
    words_of,
)
from knowledge.fact_check.verdicts import FALSE, TRUE
from knowledge.graph.entity_linking import EntityLinker, parse_uuid
from knowledge.graph.models import GraphNode, NodeKind
from knowledge.models import LorePassage
from knowledge.schemas import LoreFilters, LoreQuestion
from knowledge.search import find_lore
from knowledge.searched_rows import LoreRows
from retrieval.search import Mode
from retrieval.text import WORD_OR_NUMBER, NameMention, fold_name, split_sentences
from worlds.callers import Caller

MOST_PASSAGES, MOST_HITS, MOST_SENTENCES = 24, 6, 12
LONGEST_SENTENCE = 400
PARTS = frozenset(["단", "칸", "채", "권", "층", "그루"])
"""Korean counters of what a thing consists of: `백 단이다` says no more than the number."""
MARKUP = re.compile(
    r"\[\[(?:[^\]|]*\|)?([^\]]*)\]\]|^\s*(?:#+|[-*]|\d+\.)\s+|[*_`>]+", re.MULTILINE
)


@dataclass(frozen=True)
class ProseEvidence:
    """The sentence of a passage that decides, as it is written there."""

    result: str
    sentence: str
    passage: LorePassage


def judge_by_prose(text: str, linker: EntityLinker, caller: Caller) -> ProseEvidence | None:
    """Return the first sentence that decides, of the entries of the names in the statement or of
    what the search finds; None if none does, or if two contradict each other."""
    language = language_of(text)
    clear = _clear(joined_mentions(text, linker), linker)
    readings = [clear, *islice(described_mentions(text, clear, linker), 1)]
    for mentions in reversed(readings):
        nodes = [linker.node_of(mention) for mention in mentions]
        statement = words_of(text, mentions, [node.pk for node in nodes], language)
        if statement.is_supposing or not (statement.words or statement.numbers):
            continue
        for passages in _passages(text, nodes, caller, searching=mentions is clear):
            found = list(_deciding(statement, passages, caller))
            if found:
                return found[0] if len({each.result for each in found}) == 1 else None
    return None


def _clear(mentions: Iterable[NameMention], linker: EntityLinker) -> list[NameMention]:
    """Return those that name one entity, without a word such as `silver` or `nine` that is a name
    only with a capital."""
    return [
        mention
        for mention in mentions
        if not mention.ambiguous
        and not (mention.text[0].islower() and _has_capital(mention, linker.node_of(mention)))
    ]


def _has_capital(mention: NameMention, node: GraphNode) -> bool:
    return not any(mention.text in name for name in (node.name, *node.aliases))


def _passages(
    text: str, nodes: list[GraphNode], caller: Caller, *, searching: bool
) -> Iterator[list[LorePassage]]:
    rows = LoreRows(caller, LoreFilters(), with_drafts=False).passages.queryset
    rows = rows.select_related("lore").defer("embedding", "search_vector")
    entries = [node.lore_id for node in nodes if node.lore_id]
    yield list(rows.filter(lore__in=entries).order_by("lore", "position")[:MOST_PASSAGES])
    if not searching:
        return
    question = LoreQuestion(query=text[:300], k=MOST_HITS)
    hits = find_lore(question, caller, mode=Mode.KEYWORD).hits
    found = [passage for hit in hits if (passage := parse_uuid(hit.id))]
    yield list(rows.filter(pk__in=found))


def _deciding(
    statement: SentenceWords, passages: list[LorePassage], caller: Caller
) -> Iterator[ProseEvidence]:
    sentences = _likely_sentences(statement, passages)
    texts = [sentence for sentence, _passage in sentences]
    linker = EntityLinker.for_texts(caller.world, texts, caller.audience)
    linker.typos = False
    subjects = _subjects_of({passage.lore_id for _sentence, passage in sentences})
    for sentence, passage in sentences:
        mentions = _clear(linker.mentions(sentence), linker)
        ids = [linker.node_of(mention).pk for mention in mentions]
        told = words_of(sentence, mentions, ids, language_of(sentence))
        if result := compare(statement, told, subjects.get(passage.lore_id)):
            yield ProseEvidence(result, sentence, passage)


def _likely_sentences(
    statement: SentenceWords, passages: Iterable[LorePassage]
) -> list[tuple[str, LorePassage]]:
    """Return the sentences that share most words with the statement."""
    found = []
    for passage in passages:
        for raw in split_sentences(MARKUP.sub(r"\1", passage.text)):
            sentence = " ".join(raw.split())
            if not sentence or len(sentence) > LONGEST_SENTENCE:
                continue
            stems = frozenset(stem_of(fold_name(w)) for w in WORD_OR_NUMBER.findall(sentence))
            stems |= frozenset(filter(None, map(counter_of, WORD_OR_NUMBER.findall(sentence))))
            said = statement.words.union(*(number.units for number in statement.numbers))
            if shared := sum(has_concept(word, stems) for word in said):
                found.append((shared, sentence, passage))
    found.sort(key=lambda each: -each[0])
    return [(sentence, passage) for _shared, sentence, passage in found[:MOST_SENTENCES]]


def _subjects_of(entries: set[UUID]) -> dict[UUID, GraphNode]:
    """Return the entity that each entry is about."""
    nodes = GraphNode.objects.believed_now().filter(lore__in=entries)
    return {node.lore_id: node for node in nodes if node.lore_id}


def compare(statement: SentenceWords, told: SentenceWords, subject: GraphNode | None) -> str:
    """Return what a sentence of an entry about `subject` says of the statement; "" if nothing."""
    if told.is_supposing or not _names_agree(statement, told, subject):
        return ""
    clauses = [
        clause
        for clause in told.clauses
        if any(has_concept(word, clause.words) for word in statement.words)
    ]
    if _limits(statement.clauses) != _limits(clauses):
        return ""
    counted = frozenset().union(*(number.units for number in told.numbers))
    missing = [word for word in statement.words if not has_concept(word, told.words | counted)]
    numbers = _compare_numbers(statement, told)
    if numbers is None or not _is_enough(statement, told):
        return ""
    negative = sum(clause.is_negative for clause in clauses) % 2 == 1
    asserted = sum(clause.is_negative for clause in statement.clauses) % 2 == 1
    if missing:
        if not numbers:
            return ""
        if negative != asserted:
            return TRUE if _is_opposite(missing, statement, told) else ""
        return FALSE if _is_excluded(missing, statement, clauses) else ""
    if statement.denies_having and not negative:
        (noun,) = statement.words if len(statement.words) == 1 else ("",)
        return FALSE if has_concept(noun, [told.first]) else ""
    if not numbers and negative != asserted:
        return ""
    return TRUE if numbers and negative == asserted else FALSE


def _is_excluded(missing: list[str], statement: SentenceWords, clauses: list[Clause]) -> bool:
    """Whether the statement differs by one word, for which a clause has another of a group of which
    there can be only one: red cloaks for grey ones."""
    if len(missing) > 1 or len(statement.words) < 2 or len(clauses) != 1:
        return False
    return excludes(missing[0], clauses[0].words)


def _is_opposite(missing: list[str], statement: SentenceWords, told: SentenceWords) -> bool:
    """Whether `does not like sweets` is said as `dislikes sweets`."""
    opposites = opposites_of(missing[0]) if len(missing) == 1 and len(statement.words) > 1 else ()
    return any(not concepts_of(word).isdisjoint(opposites) for word in told.words)


def _limits(clauses: Iterable[Clause]) -> frozenset[str]:
    return frozenset().union(*(clause.limits for clause in clauses))


def _is_enough(statement: SentenceWords, told: SentenceWords) -> bool:
    """One common word is a coincidence, unless the sentence says nothing else, or nothing else
    between two commas or conjunctions. Without a name it takes three words."""
    said = len(statement.words) + len(statement.numbers)
    if not statement.names:
        return said >= 3
    if said == 1 and statement.words:
        (word,) = statement.words
        if statement.denies_having:
            return True
        return any(len(part) == 1 and has_concept(word, part) for part in told.parts)
    if said == 1 and not statement.numbers[0].units.isdisjoint(PARTS):
        return len(told.numbers) == 1
    return said >= 2 or (said == 1 and len(told.words) + len(told.numbers) == 1)


def _names_agree(statement: SentenceWords, told: SentenceWords, subject: GraphNode | None) -> bool:
    """Whether the sentence is about the names of the statement, in their order. A sentence that
    names nobody else is about the subject of its entry."""
    if set(statement.names) <= set(told.names):
        order = [name for name in told.names if name in statement.names]
        return order == list(statement.names)
    if subject is None or (told.begins_with_person and subject.kind != NodeKind.CHARACTER):
        return False
    return set(statement.names) - set(told.names) == {subject.pk} and set(told.names) <= set(
        statement.names
    )


def _compare_numbers(statement: SentenceWords, told: SentenceWords) -> bool | None:
    """Return whether the numbers are the same; None if they count different things."""
    if not statement.numbers or statement.denies_having:
        return True
    same = True
    for number in statement.numbers:
        counted = [each for each in told.numbers if number.counts_same(each)]
        if any(each.value == number.value for each in counted):
            continue
        if len(counted) != 1:
            return None
        same = False
    return same
