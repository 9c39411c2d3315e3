"""What each clause of a sentence says, and of whom: `Moth Hall burned down in 1120 and was rebuilt
in 1123` has two, both about Moth Hall. What only shares the verb before it (`nails and bowls`) is
a clause without a verb."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any
from uuid import UUID

from knowledge.fact_check.name_slots import inflection_of
from knowledge.fact_check.prose_words import counter_of, is_one_of, stem_of, word_lists
from knowledge.fact_check.relative_clauses import SentencePart
from knowledge.fact_check.sentence_tokens import (
    ClauseWords,
    Token,
    clause_tokens,
    clause_words,
    is_verb,
    part_of_speech,
    verb_place,
)
from knowledge.graph.models import GraphNode, NodeKind
from retrieval.text import NameMention, russian_analyzer

KOREAN_PARTICLE = re.compile(r"(?:부터|까지|에게서|한테서|에게|한테|께서|[이가을를])$")
KOREAN_TOPIC = re.compile(r"(?<![에서로])[은는]$")
KOREAN_BEING = ("아니", "아닌", "되", "된", "됐")
"""Before these verbs `이` does not mark who acts."""
LIKELY = 0.1
"""Readings of a Russian word that are less probable are left out."""
FIRST_YEAR = 100
"""From here on a number is taken for a year, which ends what a preposition begins."""


@dataclass(frozen=True)
class Item:
    """A word, number or name that says something. `role`: what the preposition before it or its
    Korean particle says of it. `is_subject`: whether its clause may be about it."""

    token: Token
    stem: str = ""
    name: UUID | None = None
    role: str = ""
    is_verb: bool = False
    is_subject: bool = False

    @property
    def number(self) -> int | None:
        return self.token.value


@dataclass(frozen=True)
class SentenceClause:
    """Characters [start, end) of a sentence. `pronoun`: the one that it begins with."""

    start: int
    end: int
    items: tuple[Item, ...]
    has_verb: bool
    pronoun: Token | None = None


def clauses_of(
    sentence: str, mentions: Sequence[NameMention], nodes: Sequence[GraphNode], language: str
) -> list[SentenceClause]:
    """Return the clauses of a sentence in which `mentions` name `nodes`."""
    return [
        _read_clause(tokens, mentions, nodes, language)
        for tokens in clause_tokens(sentence, mentions, language)
    ]


def _read_clause(
    tokens: list[Token],
    mentions: Sequence[NameMention],
    nodes: Sequence[GraphNode],
    language: str,
) -> SentenceClause:
    lists = clause_words(language)
    verb = verb_place(tokens, language)
    items = []
    for place, role in enumerate(_roles(tokens, lists, mentions, language)):
        token = tokens[place]
        if role is None or (token.is_word and _says_nothing(token.word, language)):
            continue
        item = Item(
            token,
            stem=stem_of(counter_of(token.word) or token.word) if token.is_word else "",
            name=nodes[token.mention].pk if token.mention >= 0 else None,
            role=role or "",
            is_verb=place == verb or (language != "ko" and is_verb(token, language)),
        )
        is_subject = _may_be_subject(item, tokens, verb, mentions, nodes, language)
        items.append(replace(item, is_subject=is_subject))
    pronoun = _first_pronoun(tokens, verb, language)
    return SentenceClause(tokens[0].start, tokens[-1].end, tuple(items), verb is not None, pronoun)


def _says_nothing(word: str, language: str) -> bool:
    lists = word_lists(language)
    if word in lists.light or word in clause_words(language).adverbs:
        return True
    return is_one_of(word, lists.negations, language)


def _roles(
    tokens: Sequence[Token], lists: ClauseWords, mentions: Sequence[NameMention], language: str
) -> Iterator[str | None]:
    """Yield the role of each token; None for the prepositions."""
    role, before = "", ""
    for token, after in zip_longest(tokens, tokens[1:]):
        if language == "ko":
            yield _korean_role(token, after, mentions)
            continue
        if token.is_word and token.word in lists.roles:
            role = lists.roles[token.word]
            yield None
        else:
            is_new = token.word in lists.determiners and before not in lists.roles
            if is_new or is_verb(token, language):
                role = ""
            yield role
            is_year = token.value is not None and token.value >= FIRST_YEAR
            if is_year or token.mention >= 0 or (language == "ru" and _is_noun(token)):
                role = ""
        before = token.word


def _korean_role(token: Token, after: Token | None, mentions: Sequence[NameMention]) -> str:
    if token.value is not None or (after and after.word.startswith(KOREAN_BEING)):
        return ""
    text = mentions[token.mention].text if token.mention >= 0 else token.word
    particle = KOREAN_PARTICLE.search(text)
    return clause_words("ko").roles.get(particle[0], "") if particle else ""


def _is_noun(token: Token) -> bool:
    return token.is_word and part_of_speech(token.word) in ("NOUN", "NPRO")


def _may_be_subject(
    item: Item,
    tokens: Sequence[Token],
    verb: int | None,
    mentions: Sequence[NameMention],
    nodes: Sequence[GraphNode],
    language: str,
) -> bool:
    token = item.token
    is_counted = any(t.value is not None and t.end + 1 == token.start for t in tokens)
    if token.value is not None or item.is_verb or (is_counted and language == "ru"):
        return False
    text = mentions[token.mention].text if token.mention >= 0 else token.word
    if language == "ko":
        is_noun = not text.endswith(clause_words("ko").modifiers) and not counter_of(text)
        is_topic = is_noun and bool(KOREAN_TOPIC.search(text))
        return item.role == "agent" or is_topic
    if verb is None or item.role:
        return False
    is_before = token.start < tokens[verb].start
    if language == "en":
        return is_before and not text.endswith(("'s", "’s", "ly"))
    if token.mention >= 0:
        is_plain = not inflection_of(mentions[token.mention], nodes[token.mention])
        return is_plain and (is_before or not _is_transitive(tokens[verb].word))
    return _is_russian_subject(token.word, tokens[verb].word, is_before=is_before)


def _is_russian_subject(word: str, verb: str, *, is_before: bool) -> bool:
    cases = {
        reading.tag.case
        for reading in _likely_readings(word)
        if reading.tag.POS in ("NOUN", "NPRO")
    }
    if is_before:
        # `Крышу починили` is about the roof, too.
        return not cases.isdisjoint(("nomn", "accs"))
    return "nomn" in cases and ("accs" not in cases or not _is_transitive(verb))


def _is_transitive(verb: str) -> bool:
    reading = russian_analyzer().parse(verb)[0]
    return bool(reading.tag.POS != "PRTS" and reading.tag.transitivity == "tran")


def _likely_readings(word: str) -> list[Any]:
    return [each for each in russian_analyzer().parse(word) if each.score >= LIKELY]


def _first_pronoun(tokens: Sequence[Token], verb: int | None, language: str) -> Token | None:
    """Return the pronoun that stands for the subject."""
    pronouns = word_lists(language).pronouns - clause_words(language).determiners
    before = [t for t in tokens[: verb or 0] if t.is_word and t.word in pronouns]
    return before[0] if before else None


def clause_parts(
    sentence: str,
    mentions: Sequence[NameMention],
    nodes: Sequence[GraphNode],
    clauses: Sequence[SentenceClause],
    language: str,
) -> Iterator[tuple[int, SentencePart]]:
    """Yield the number of each clause and the clause as a sentence of its own, with the subject of
    those before it. None can be made of a clause whose pronoun may mean one of two names."""
    subject = first_subject(clauses[0], language)
    for place, clause in enumerate(clauses):
        own = next((item for item in clause.items if item.is_subject and item.name), None)
        is_alone = place == 0 or own is not None
        subject = own or subject
        pronoun = clause.pronoun
        if is_alone or not (subject and pronoun):
            yield (
                place,
                _part_of(sentence, mentions, clause, None if is_alone else subject, language),
            )
        elif _can_mean(pronoun, subject, clauses[:place], nodes, language):
            yield place, _part_of(sentence, mentions, clause, subject, language)


def first_subject(clause: SentenceClause, language: str) -> Item | None:
    """Return the name that the clause is about, or may be about where its verb is not recognized;
    none if it is about something else (`The gate guards Hollow Forge`)."""
    named = [item for item in clause.items if item.name]
    if subject := next((item for item in named if item.is_subject), None):
        return subject
    # An English verb in -s may be taken for a noun, so what stands before it decides.
    bare = [item for item in clause.items if not item.role and item.number is None]
    is_about_other = language == "en" and bool(bare) and not bare[0].name
    return None if is_about_other else next(iter(named), None)


def _can_mean(
    pronoun: Token,
    subject: Item,
    before: Sequence[SentenceClause],
    nodes: Sequence[GraphNode],
    language: str,
) -> bool:
    """Whether a pronoun can only mean the subject of the clauses before it."""
    is_person = pronoun.word in word_lists(language).persons
    rivals = {
        item.name
        for clause in before
        for item in clause.items
        if item.name
        and (
            language == "ru" or is_person == (nodes[item.token.mention].kind == NodeKind.CHARACTER)
        )
    }
    return rivals == {subject.name}


def _part_of(
    sentence: str,
    mentions: Sequence[NameMention],
    clause: SentenceClause,
    subject: Item | None,
    language: str,
) -> SentencePart:
    start = clause.start
    beginning, placed = "", []
    if subject:
        mention = mentions[subject.token.mention]
        before = sentence[: mention.start].split()
        role = before[-1] if before and before[-1].lower() in clause_words(language).roles else ""
        beginning = f"{role} {mention.text} ".lstrip()
        shift = len(beginning) - 1 - len(mention.text) - mention.start
        placed = [replace(mention, start=mention.start + shift, end=mention.end + shift)]
        if clause.pronoun and clause.pronoun.start == start:
            start = clause.pronoun.end + 1
    shift = len(beginning) - start
    placed += [
        replace(m, start=m.start + shift, end=m.end + shift)
        for m in mentions
        if start <= m.start and m.end <= clause.end
    ]
    return SentencePart(beginning + sentence[start : clause.end], tuple(placed))
