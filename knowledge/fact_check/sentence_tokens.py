"""The words, numbers and names of a sentence, cut where a clause ends: at commas, conjunctions and
the linking endings of Korean verbs."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from knowledge.fact_check.lexicon import load_yaml
from knowledge.fact_check.prose_words import (
    AUXILIARIES,
    KOREAN_LINKS,
    TOKEN,
    counter_of,
    number_at,
    word_lists,
)
from retrieval.text import NameMention, fold_name, russian_analyzer

NAME = "·"
"""Stands for a name among the words of a sentence."""
KOREAN_PAST_MODIFIER = re.compile(r"[된진한운든탄난쓴간온린친킨낸른긴낀]$")
ENGLISH_PRESENT = re.compile(r"..[^su\W\d]s$")
NOT_VERBS = ("와", "과", "을", "를", "에", "에서", "의")
WORD_SETS = (
    "joining",
    "subordinating",
    "verbs",
    "determiners",
    "adverbs",
    "exclusive_roles",
    "after_verbs",
    "nouns",
)


@dataclass(frozen=True)
class ClauseWords:
    joining: frozenset[str]
    subordinating: frozenset[str]
    verbs: frozenset[str]
    determiners: frozenset[str]
    adverbs: frozenset[str]
    roles: dict[str, str]
    """The role that a preposition or particle says."""
    exclusive_roles: frozenset[str]
    after_verbs: frozenset[str]
    """Korean words such as `after`, before which a verb stands and after which a clause ends."""
    links: tuple[str, ...]
    """Ends of Korean verbs that are linked to the next clause, beside `KOREAN_LINKS`."""
    nouns: frozenset[str]
    """Korean nouns that look like linked verbs."""
    modifiers: tuple[str, ...]
    """Ends of Korean words that look like a topic and are none."""


@cache
def clause_words(language: str) -> ClauseWords:
    rows = load_yaml("clauses")[language]
    words = {name: frozenset(rows.get(name, ())) for name in WORD_SETS}
    return ClauseWords(
        **words,
        roles={word: name for name, words in rows["roles"].items() for word in words},
        links=tuple(rows.get("links", ())),
        modifiers=tuple(rows.get("modifiers", ())),
    )


@dataclass(frozen=True)
class Token:
    """Characters [start, end) of a sentence: a word, a punctuation mark, a number (`value`), or the
    name with the number `mention`."""

    word: str
    start: int
    end: int
    mention: int = -1
    value: int | None = None

    @property
    def is_word(self) -> bool:
        return self.mention < 0 and self.value is None and self.word[0].isalnum()

    @property
    def is_mark(self) -> bool:
        return self.mention < 0 and not self.word[0].isalnum()


def clause_tokens(
    sentence: str, mentions: Sequence[NameMention], language: str
) -> list[list[Token]]:
    """Return the tokens of each clause that says something."""
    tokens = _with_numbers(list(_raw_tokens(sentence, mentions)))
    light = word_lists(language).light
    clauses = [
        clause
        for clause in _clauses_of(tokens, language)
        if any(not token.is_word or token.word not in light for token in clause)
    ]
    return _with_first_words(clauses, language)


def _raw_tokens(sentence: str, mentions: Sequence[NameMention]) -> Iterator[Token]:
    last = -1
    for match in TOKEN.finditer(unicodedata.normalize("NFC", sentence)):
        at = next((n for n, m in enumerate(mentions) if m.start <= match.start() < m.end), -1)
        if at < 0:
            yield Token(fold_name(match.group()) or match.group(), match.start(), match.end())
        elif at != last:
            yield Token(NAME, mentions[at].start, mentions[at].end, at)
        last = at


def _with_numbers(raw: list[Token]) -> list[Token]:
    words = [token.word for token in raw]
    found: list[Token] = []
    at = 0
    while at < len(raw):
        value, length = number_at(words, at) if raw[at].is_word else (None, 0)
        length = length or 1
        found.append(replace(raw[at], end=raw[at + length - 1].end, value=value))
        at += length
    return found


def _clauses_of(tokens: list[Token], language: str) -> Iterator[list[Token]]:
    clause: list[Token] = []
    for place, token in enumerate(tokens):
        if _begins_clause(tokens, place, language):
            yield clause
            clause = []
        if not token.is_mark and not _joins(token, language):
            clause.append(token)
        if language == "ko" and _is_linked(tokens, place):
            yield clause
            clause = []
    yield clause


def _joins(token: Token, language: str) -> bool:
    return token.is_word and token.word in clause_words(language).joining


def _begins_clause(tokens: list[Token], place: int, language: str) -> bool:
    token = tokens[place]
    if token.is_mark or _joins(token, language):
        return True
    if place == 0 or not token.is_word or token.word not in clause_words(language).subordinating:
        return False
    rest: list[Token] = []
    for each in tokens[place + 1 :]:
        if each.is_mark or _joins(each, language):
            break
        rest.append(each)
    return verb_place(rest, language) is not None


def _is_linked(tokens: list[Token], place: int) -> bool:
    """Whether a Korean verb links its clause to the next one."""
    token, lists = tokens[place], clause_words("ko")
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if after is None or not token.is_word or token.word in lists.nouns:
        return False
    is_link = token.word.endswith(KOREAN_LINKS) and len(token.word) > 1
    if is_link or token.word in lists.after_verbs or token.word.endswith(lists.links):
        return not after.word.startswith(AUXILIARIES)
    return _is_modifier(tokens, place)


def _is_modifier(tokens: list[Token], place: int) -> bool:
    """Whether a Korean verb describes the word after it: `612년에 잠긴 굴은 660년에`. It
    has a clause of its own only where numbers or names stand on both of its sides."""
    word, after = tokens[place].word, tokens[place + 1].word
    if len(word) < 2 or not KOREAN_PAST_MODIFIER.search(word):
        return False
    if after in clause_words("ko").after_verbs or counter_of(after):
        return False
    is_name_or_number = [not (token.is_word or token.is_mark) for token in tokens]
    return any(is_name_or_number[:place]) and any(is_name_or_number[place + 2 :])


def _with_first_words(clauses: list[list[Token]], language: str) -> list[list[Token]]:
    """Join what stands before the subject to the first clause: `In 1120, Moth Hall burned down`."""
    while len(clauses) > 1 and verb_place(clauses[0], language) is None:
        if verb_place(clauses[1], language) is None:
            break
        first = clauses[0][0]
        is_name = first.mention >= 0
        if is_name or (first.word not in clause_words(language).roles and first.value is None):
            break
        clauses = [[*clauses[0], *clauses[1]], *clauses[2:]]
    return clauses


def verb_place(clause: Sequence[Token], language: str) -> int | None:
    """Return where the first word is that is a verb by its form or place; None without one."""
    if language == "ko":
        last = len(clause) - 1
        is_noun = last < 0 or clause[last].word.endswith(NOT_VERBS)
        return None if is_noun or not clause[last].is_word else last
    for place, token in enumerate(clause):
        if is_verb(token, language):
            return place
    if language == "en":
        return _present_verb(clause)
    # `Построенная в 1201 году` after a comma.
    return 0 if clause and clause[0].is_word and part_of_speech(clause[0].word) == "PRTF" else None


def is_verb(token: Token, language: str) -> bool:
    return token.is_word and _is_verb_form(token.word, language)


def _present_verb(clause: Sequence[Token]) -> int | None:
    """Return where `sells nails` has its verb: first, or after a name or pronoun, and not last."""
    lists = clause_words("en")
    said = [place for place, token in enumerate(clause) if token.word not in lists.adverbs]
    for place in said[:2]:
        token = clause[place]
        follows = place == said[0] or not clause[said[0]].is_word or clause[said[0]].word == "it"
        is_form = token.is_word and ENGLISH_PRESENT.search(token.word)
        is_other = token.word in lists.determiners or token.word in lists.roles
        if is_form and follows and not is_other and place < len(clause) - 1:
            return place
    return None


@cache
def _is_verb_form(word: str, language: str) -> bool:
    if word in clause_words(language).verbs:
        return True
    if language == "en":
        return len(word) > 3 and word.endswith("ed")
    if word in word_lists("ru").light:
        return False
    return part_of_speech(word) in ("VERB", "PRTS", "GRND")


@cache
def part_of_speech(word: str) -> str:
    """Return what the dictionary of Russian takes a word for: `NOUN`, `VERB`."""
    return str(russian_analyzer().parse(word)[0].tag.POS)
