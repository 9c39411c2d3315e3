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

from django.db.models import QuerySet

from knowledge.fact_check.concepts import concepts_of, opposites_of
from knowledge.fact_check.lexicon import language_of
from knowledge.fact_check.name_order import NameOrder, orders_agree, read_order
from knowledge.fact_check.name_slots import (
    described_mentions,
    described_parts,
    joined_mentions,
)
from knowledge.fact_check.prose_words import (
    AGE,
    Clause,
    SentenceWords,
    counter_of,
    excludes,
    has_concept,
    stem_of,
    words_of,
)
from knowledge.fact_check.relative_clauses import SentencePart, parts_of, relative_clauses
from knowledge.fact_check.verdicts import FALSE, TRUE
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
MOST_OTHER_WORDS, MOST_NUMBERS = 1, 2
LONGEST_SENTENCE = 400
PARTS = frozenset(["단", "칸", "채", "권", "층", "그루"])
"""Korean counters of what a thing consists of: `백 단이다` says no more than the number."""
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
        statement = AskedStatement(text, words, order, has_relative)
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
        language = language_of(place.text)
        for part in _parts_to_compare(statement, place.text, mentions, language):
            nodes = [linker.node_of(mention) for mention in part.mentions]
            ids = [node.pk for node in nodes]
            told = words_of(part.text, part.mentions, ids, language)
            order = read_order(part.text, part.mentions, nodes, language)
            topic = topics[place.passage.pk].of(
                place.number, is_person=told.begins_with_person, is_thing_too=language == "ru"
            )
            subject = None if part.is_relative else topic
            if orders_agree(statement.order, order, subject) and (
                result := compare(statement.words, told, subject)
            ):
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
    counted = frozenset().union(*(number.units for number in statement.numbers))
    is_bare = not numbers and not statement.words - counted
    if is_bare and not _counts_its_subject(statement, told, subject):
        return ""
    return TRUE if numbers and negative == asserted else FALSE


def _counts_its_subject(
    statement: SentenceWords, told: SentenceWords, subject: GraphNode | None
) -> bool:
    """Whether a sentence with another number can only count the same: it is about the same, and of
    people it says little else. `The Abbey holds one seat on the Bench` counts no seats of it."""
    is_of_subject = subject is not None and subject.pk in statement.names
    if not is_of_subject and (set(told.names) != set(statement.names) or subject is not None):
        return False
    units = frozenset().union(*(number.units for number in statement.numbers))
    return not has_concept(stem_of("people"), units) or len(told.words) <= MOST_OTHER_WORDS


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
    if any(AGE in number.units for number in statement.numbers):
        return True
    if said == 1 and statement.words:
        (word,) = statement.words
        if statement.denies_having:
            return True
        return any(len(part) == 1 and has_concept(word, part) for part in told.parts)
    if said == 1 and not statement.numbers[0].units.isdisjoint(PARTS):
        return len(told.numbers) == 1
    return said >= 2 or (said == 1 and len(told.words) + len(told.numbers) == 1)


def _names_agree(statement: SentenceWords, told: SentenceWords, subject: GraphNode | None) -> bool:
    """Whether the sentence is about the names of the statement. One that names nobody else is about
    the subject of its entry."""
    if set(statement.names) <= set(told.names):
        return True
    if subject is None:
        return False
    if told.begins_with_pronoun and set(statement.names) == {subject.pk}:
        return True
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
        # `Seven of them, though one of the seven seats is empty` does not say how many there are.
        is_said = any(each.value == number.value for each in told.numbers)
        if len(counted) != 1 or is_said or len(told.numbers) > MOST_NUMBERS:
            return None
        same = False
    return same
