"""Judge a statement by sentences of lore that the caller may read, for what no fact says.

A sentence decides if it has every word and every name of the statement: it confirms it, or, with
another number at the same word or with a negation more or less, it contradicts it. Sentences that
only suppose, and those in which the same names stand in another order, decide nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from uuid import UUID

from django.db.models import QuerySet

from knowledge.fact_check.clause_comparison import ClauseComparison
from knowledge.fact_check.lexicon import language_of
from knowledge.fact_check.name_order import NameOrder, orders_agree, read_order
from knowledge.fact_check.name_slots import (
    described_mentions,
    described_parts,
    joined_mentions,
)
from knowledge.fact_check.prose_words import (
    AGE,
    Number,
    SentenceWords,
    counter_of,
    has_concept,
    stem_of,
    words_of,
)
from knowledge.fact_check.relative_clauses import SentencePart, parts_of, relative_clauses
from knowledge.fact_check.sentence_clauses import (
    SentenceClause,
    clause_parts,
    clauses_of,
)
from knowledge.fact_check.verdicts import FALSE, TRUE
from knowledge.fact_check.word_comparison import compare
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphNode, NodeKind
from knowledge.models import LorePassage
from knowledge.presenters import GmHitOut
from knowledge.questions.numbers import value_of
from knowledge.schemas import LoreFilters, LoreQuestion
from knowledge.search import find_lore
from knowledge.searched_rows import LoreRows
from retrieval.search import Mode
from retrieval.text import WORD_OR_NUMBER, NameMention, fold_name, split_sentences
from worlds.callers import Caller

MOST_PASSAGES, MOST_HITS, MOST_SENTENCES = 24, 6, 12
HITS_OF_NAMES = 3
LONGEST_SENTENCE = 400
CLEFT = re.compile(r"it(?:[’']s| is| was)\b", re.IGNORECASE)
"""`It was Hale who carved the gate`; any other pronoun at the beginning means nobody knows whom."""
MARKUP = re.compile(
    r"\[\[(?:[^\]|]*\|)?([^\]]*)\]\]|^\s*(?:#+|[-*]|\d+\.)\s+|[*_`>]+", re.MULTILINE
)


@dataclass(frozen=True)
class AskedStatement:
    """What is asked, in words that can be compared."""

    text: str
    words: SentenceWords
    order: NameOrder
    clauses: tuple[SentenceClause, ...]
    has_relative: bool


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
        words = words_of(text, mentions, [node.pk for node in nodes], language)
        has_subject = not words.begins_with_pronoun or CLEFT.match(text)
        if words.is_supposing or not has_subject or not (words.words or words.numbers):
            continue
        order = read_order(text, mentions, nodes, language)
        has_relative = bool(relative_clauses(text, mentions, language))
        clauses = _said_clauses(clauses_of(text, mentions, nodes, language), words)
        statement = AskedStatement(text, words, order, clauses, has_relative)
        for passages in _passages(text, nodes, caller, searching=mentions is clear):
            found = list(_deciding(statement, passages, caller))
            if found:
                return found[0] if len({each.result for each in found}) == 1 else None
    return None


def _said_clauses(
    clauses: Iterable[SentenceClause], words: SentenceWords
) -> tuple[SentenceClause, ...]:
    """Return the clauses of a statement with those words alone that are compared."""
    said = words.words
    return tuple(
        replace(each, items=tuple(i for i in each.items if not i.stem or i.stem in said))
        for each in clauses
    )


def _clear(mentions: Iterable[NameMention], linker: EntityLinker) -> list[NameMention]:
    """Return those that name one entity, without a word such as `silver` or `nine` that is a name
    only with a capital."""
    return [
        mention
        for mention in mentions
        if not mention.ambiguous
        and not (
            mention.text[0].islower()
            and " " not in mention.text
            and _has_capital(mention, linker.node_of(mention))
        )
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
    yield list(_found_passages(rows, text, caller, MOST_HITS))
    # What the lore says in another language shares only names with the statement.
    language = language_of(text)
    for node in nodes[:1]:
        for name in (node.name, *node.aliases):
            if language_of(name) != language:
                yield list(_found_passages(rows, name, caller, HITS_OF_NAMES))


def _found_passages(
    rows: QuerySet[LorePassage], words: str, caller: Caller, most: int
) -> QuerySet[LorePassage]:
    """Return the passages that the search finds by words."""
    question = LoreQuestion(query=words[:300], k=most)
    hits = find_lore(question, caller, mode=Mode.KEYWORD).hits
    passages = [hit.passage for hit in hits if isinstance(hit, GmHitOut) and hit.passage]
    if passages:
        return rows.filter(pk__in=passages)
    entries = [hit.id for hit in hits]
    return rows.filter(lore__slug__in=entries).order_by("lore", "position")[:MOST_PASSAGES]


def _deciding(
    statement: AskedStatement, passages: list[LorePassage], caller: Caller
) -> Iterator[ProseEvidence]:
    sentences = _likely_sentences(statement.words, passages)
    found = {place.passage.pk: place.passage for place in sentences}
    linker = EntityLinker.for_texts(
        caller.world,
        [text for passage in found.values() for text in (passage.lore.title, passage.text)],
        caller.audience,
    )
    linker.typos = False
    subjects = _subjects_of({passage.lore_id for passage in found.values()})
    topics = {pk: Topics(passage, linker, subjects) for pk, passage in found.items()}
    for place in sentences:
        if is_same_sentence(statement, place.text):
            yield ProseEvidence(TRUE, place.text, place.passage)
            return
        mentions = _clear(linker.mentions(place.text), linker)
        comparison = SentenceComparison(statement, place, linker, topics[place.passage.pk])
        for part in _parts_to_compare(statement, place.text, mentions, comparison.language):
            if result := comparison.judge(part):
                yield ProseEvidence(result, place.text, place.passage)
                break


def is_same_sentence(statement: AskedStatement, sentence: str) -> bool:
    """Whether a sentence is the statement word for word."""
    one, other = (
        [fold_name(word) for word in WORD_OR_NUMBER.findall(text)]
        for text in (statement.text, sentence)
    )
    return one == other


def _parts_to_compare(
    statement: AskedStatement, sentence: str, mentions: list[NameMention], language: str
) -> list[SentencePart]:
    """Return the sentence, or without its relative clauses and those alone, unless the statement
    has one, too."""
    clauses = relative_clauses(sentence, mentions, language)
    said = statement.words.words
    if not statement.has_relative and not all(each.is_plain(sentence, said) for each in clauses):
        return parts_of(sentence, mentions, clauses, said)
    return [SentencePart(sentence, tuple(mentions))]


@dataclass(frozen=True)
class SentencePlace:
    """A sentence, and the number that it has in its passage."""

    text: str
    number: int
    passage: LorePassage


def sentences_of(passage: LorePassage) -> list[str]:
    raw = split_sentences(MARKUP.sub(r"\1", passage.text))
    return [sentence for each in raw if (sentence := " ".join(each.split()))]


def _likely_sentences(
    statement: SentenceWords, passages: Iterable[LorePassage]
) -> list[SentencePlace]:
    """Return the sentences that share most words with the statement."""
    found = []
    said = statement.words.union(*(number.units for number in statement.numbers))
    says_age = AGE in said
    for passage in passages:
        for number, sentence in enumerate(sentences_of(passage)):
            if len(sentence) > LONGEST_SENTENCE:
                continue
            stems = frozenset(stem_of(fold_name(w)) for w in WORD_OR_NUMBER.findall(sentence))
            stems |= frozenset(filter(None, map(counter_of, WORD_OR_NUMBER.findall(sentence))))
            if shared := says_age + sum(has_concept(word, stems) for word in said):
                found.append((shared, SentencePlace(sentence, number, passage)))
    found.sort(key=lambda each: -each[0])
    return [place for _shared, place in found[:MOST_SENTENCES]]


class Topics:
    """Whom the sentences of a passage are about that name nobody: the subject of its entry, else
    whom the title or the first name of the passage names; `he` is the last person named."""

    def __init__(
        self, passage: LorePassage, linker: EntityLinker, subjects: dict[UUID, GraphNode]
    ) -> None:
        self.subject = subjects.get(passage.lore_id)
        named = [
            self._nodes_in(each, linker) for each in (passage.lore.title, *sentences_of(passage))
        ]
        self.before = named[1:]
        self.first = next((nodes[0] for nodes in named if nodes), None)

    @staticmethod
    def _nodes_in(text: str, linker: EntityLinker) -> list[GraphNode]:
        mentions = [
            m for m in _clear(linker.mentions(text), linker) if value_of(m.text.lower()) is None
        ]
        if not mentions:
            mentions = described_parts(text, [], linker)
        return [linker.node_of(mention) for mention in mentions]

    def of(self, number: int, *, is_person: bool, is_thing_too: bool) -> GraphNode | None:
        """Return the topic of a sentence; `is_thing_too`: whether its `he` may be a thing."""
        if not is_person:
            return self.subject or self.first
        people = (
            {node.pk: node for node in nodes if node.kind == NodeKind.CHARACTER}
            for nodes in reversed(self.before[:number])
        )
        last = next((found for found in people if found), {})
        if len(last) == 1:
            return next(iter(last.values()))
        is_person_too = self.subject is not None and self.subject.kind == NodeKind.CHARACTER
        return self.subject if is_thing_too or is_person_too else None


def _subjects_of(entries: set[UUID]) -> dict[UUID, GraphNode]:
    """Return the entity that each entry is about."""
    nodes = GraphNode.objects.believed_now().filter(lore__in=entries)
    return {node.lore_id: node for node in nodes if node.lore_id}


@dataclass(frozen=True)
class SentenceComparison:
    """Compares a statement with a sentence, or with a part of one."""

    statement: AskedStatement
    place: SentencePlace
    linker: EntityLinker
    topics: Topics

    def judge(self, part: SentencePart) -> str:
        """Return what a part says of the statement, or one of its clauses alone; "" if nothing. A
        clause that says otherwise decides only if no other one may say it."""
        nodes = self._nodes(part)
        clauses = clauses_of(part.text, part.mentions, nodes, self.language)
        comparison = ClauseComparison(clauses, self.language)
        result = self._compare(part, comparison)
        if len(clauses) < 2 or result == TRUE:
            return result
        parts = clause_parts(part.text, part.mentions, nodes, clauses, self.language)
        found = [result] if result else []
        for place, alone in parts:
            if not self._has_known_verb(clauses[: place + 1]):
                continue
            alone = replace(alone, is_relative=part.is_relative)
            one = self._compare(alone, comparison, only=place)
            others = [*clauses[:place], *clauses[place + 1 :]]
            if one == TRUE or (one == FALSE and not self._may_be_said(others, part)):
                found.append(one)
        return TRUE if TRUE in found else next(iter(found), "")

    def _compare(
        self, part: SentencePart, clauses: ClauseComparison, *, only: int | None = None
    ) -> str:
        nodes = self._nodes(part)
        told = words_of(part.text, part.mentions, [node.pk for node in nodes], self.language)
        order = read_order(part.text, part.mentions, nodes, self.language)
        topic = self.topics.of(
            self.place.number,
            is_person=told.begins_with_person,
            is_thing_too=self.language == "ru",
        )
        subject = None if part.is_relative else topic
        if not orders_agree(self.statement.order, order, subject):
            return ""
        result = compare(self.statement.words, told, subject)
        tells = clauses.tells if result == TRUE else clauses.speaks_of
        return result if result and tells(self.statement.clauses, only=only) else ""

    def _has_known_verb(self, clauses: Sequence[SentenceClause]) -> bool:
        """Whether the last clause has a verb, or shares one that the statement has or that says
        nothing (`has`)."""
        said = self.statement.words.words
        governing = next((each for each in reversed(clauses) if each.has_verb), None)
        if governing is None or governing is clauses[-1]:
            return True
        return all(has_concept(i.stem, said) for i in governing.items if i.is_verb)

    def _may_be_said(self, clauses: Sequence[SentenceClause], part: SentencePart) -> bool:
        """Whether one of these clauses may say what the statement does of a number or word that it
        has: it has no other verb or subject, and does not count something else."""
        open_clauses = [clause for clause in clauses if not self._is_about_other(clause)]
        return any(
            number.value == item.number and not self._counts_other(number, clause, part)
            for number in self.statement.words.numbers
            for clause in open_clauses
            for item in clause.items
        )

    def _is_about_other(self, clause: SentenceClause) -> bool:
        said, names = self.statement.words.words, self.statement.words.names
        return any(
            item.name not in names if item.name else not has_concept(item.stem, said)
            for item in clause.items
            if item.is_subject or (item.is_verb and clause.has_verb)
        )

    def _counts_other(self, number: Number, clause: SentenceClause, part: SentencePart) -> bool:
        text = part.text[clause.start : clause.end]
        told = words_of(text, [], [], self.language).numbers
        same = [each for each in told if each.value == number.value]
        return bool(same) and all(each.units and not number.counts_same(each) for each in same)

    def _nodes(self, part: SentencePart) -> list[GraphNode]:
        return [self.linker.node_of(mention) for mention in part.mentions]

    @cached_property
    def language(self) -> str:
        return language_of(self.place.text)
