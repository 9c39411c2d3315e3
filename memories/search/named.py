"""Names as a key of their own: which memories a question names, and what else may be shown then.

When a question names what some memories are about, only those are shown, and of the memories
without a name those whose text holds it, too. Two kinds of names are looked up. Those that a caller
gave (`names`, `subject`) are found as in any text: whole, inflected, by a part, by a short form, or
misspelt. The words of a label (`memories.similarity.own_names`) are found whatever their case.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q
from rapidfuzz.distance import OSA

from memories.found_memory import FoundMemory
from memories.querysets import MemoryQuerySet
from memories.similarity.own_names import (
    given_names,
    is_label,
    label_names,
    proper_words,
    words_of_identifiers,
)
from memories.similarity.question_type import stem, stop_words
from retrieval.search import NamedPassage
from retrieval.text import (
    WORD,
    KnownName,
    NameIndex,
    NameMention,
    fold_name,
    misspelt_keys,
    name_words,
    text_phrase_keys,
)

MOST_READ = 400
"""Names, and labels, whose keys fit that are compared in full."""
MOST_SHOWN = 100
"""Memories of given names that a search is told of; more are found by words and vectors."""
FORM_OF_LABEL = r"^[a-z0-9]\S*(\s.*)?[^.!?…\s]$"
"""What `is_label` accepts has this form, and most sentences do not."""
MOST_SHARING = 3
"""A word that more labels share, such as *style*, names none of them."""
MOST_QUERY = 2_000
"""Characters of a question that are read for names."""
SAME_BEGINNING = 2
"""Letters that a misspelt name has in common with the name: `Postgers` is Postgres, but neither
`trust` Rust nor `mango` Mongo."""
MOST_TYPOS = 2
LONG_WORD = 7
"""Letters from which a word of a label that is no proper name may be misspelt: `court` is no count.
"""
LABEL_LEAST = 0.5
"""The relevance from which a label is shown to a question that names none: it holds nothing that
could answer but names."""


@dataclass(frozen=True)
class NamedMemories:
    """What a question names: labels, of which `certain` with a proper name or several words in a
    row; the given `names`, some of their memories, and the stems of all names."""

    labels: frozenset[UUID] = frozenset()
    certain: frozenset[UUID] = frozenset()
    names: frozenset[str] = frozenset()
    others: frozenset[UUID] = frozenset()
    stems: frozenset[str] = frozenset()

    def holds(self, memory: FoundMemory) -> bool:
        """Whether the question names what `memory` is about."""
        own = given_names(memory.subject, memory.metadata)
        return memory.id in self.labels or not self.names.isdisjoint(own)

    def narrow(self, rows: MemoryQuerySet) -> MemoryQuerySet:
        """Return those of `rows` that are named or, without a name of their own, hold one of the
        names."""
        if not (self.labels or self.names):
            return rows
        wanted = Q(pk__in=self.labels) | with_names(self.names)
        if self.stems:
            word = rf"\m({'|'.join(map(re.escape, sorted(self.stems)))})"
            mentions = Q(text__iregex=word) | Q(speaker__iregex=word) | Q(context__iregex=word)
            wanted |= Q(name_keys=[]) & mentions
        return rows.filter(wanted)

    def passages(self) -> list[NamedPassage]:
        """Return what a search is told: a label of a certain name answers. Of other memories a name
        says only what they are about, and the words of the question tell which of them answers."""
        named = [*sorted(self.labels), *sorted(self.others - self.labels)]
        return [NamedPassage(pk, "alias", float(pk in self.certain)) for pk in named]

    def leave_out_labels(self, memories: Sequence[FoundMemory]) -> list[FoundMemory]:
        """Return `memories` without labels that a question does not name, unless one is relevant
        all the same, or how relevant it is cannot be said."""
        return [
            memory
            for memory in memories
            if memory.relevance is None
            or memory.relevance >= LABEL_LEAST
            or not is_label(memory.text)
            or self.holds(memory)
        ]


def with_names(names: Collection[str]) -> Q:
    """Memories to which one of these names was given."""
    wanted = Q(subject__in=names)
    for name in names:
        wanted |= Q(metadata__names__contains=[name])
    return wanted


def find_named(rows: MemoryQuerySet, query: str) -> NamedMemories:
    """Return which of `rows` the question names."""
    query = words_of_identifiers(query[:MOST_QUERY])
    keys = keys_of_question(query)
    if not keys:
        return NamedMemories()
    rows = rows.exclude(name_keys=[]).filter(name_keys__overlap=keys).order_by()
    # Many memories may be about the same thing: its names are read once.
    about = rows.values_list("subject", "metadata__names").distinct()[:MOST_READ]
    if not about:
        return NamedMemories()
    given = {name for subject, own in about for name in given_names(subject, {"names": own})}
    names = named_names(query, given)
    like_labels = rows.filter(text__regex=FORM_OF_LABEL).values_list("pk", "text")[:MOST_READ]
    labels, certain = named_labels(query, {pk: text for pk, text in like_labels if is_label(text)})
    others = rows.filter(with_names(names)).values_list("pk", flat=True) if names else rows.none()
    words = (word for own in (*labels.values(), *names.values()) for word in own)
    return NamedMemories(
        frozenset(labels),
        frozenset(certain),
        frozenset(names),
        frozenset(others[:MOST_SHOWN]),
        frozenset(map(stem, words)),
    )


def keys_of_question(query: str) -> list[str]:
    """Return the keys to look for: of the names in `query`, also misspelt."""
    phrases = text_phrase_keys(query)
    words = {word.norm for word in name_words(query)} - stop_words()
    misspelt = {key for word in words for key in misspelt_keys(word)}
    return sorted({*phrases.whole, *phrases.parts, *misspelt})


def named_names(query: str, names: Collection[str]) -> dict[str, set[str]]:
    """Return which of these given names stand in the question, with their words there. A name that
    is written small is found whatever the question's case."""
    proper = {name: [name] for name in names if not name[0].islower()}
    small = {name: [proper_case(name)] for name in names if name[0].islower()}
    found: dict[str, set[str]] = defaultdict(set)
    for text, some in ((query, proper), (proper_case(query), small)):
        for mention in index_of(some).mentions(text):
            for name in certain_keys(mention, some):
                found[name].update(words_of_names(mention, some[name]))
    return found


def named_labels(query: str, texts: Mapping[UUID, str]) -> tuple[dict[UUID, set[str]], set[UUID]]:
    """Return the labels that the question names, with the words of their names, and those that it
    names for certain: then no others are meant. Of two labels that share a word, the one of which
    the question holds more words is meant."""
    places: dict[UUID, set[int]] = defaultdict(set)
    words: dict[UUID, set[str]] = defaultdict(set)
    certain = set()
    names = {pk: [proper_case(name) for name in label_names(text)] for pk, text in texts.items()}
    for mention in label_mentions(proper_case(query), names):
        keys = [pk for pk in certain_keys(mention, names) if not is_only_typo(mention, texts[pk])]
        if len(keys) > MOST_SHARING:
            continue
        for pk in keys:
            places[pk].update(range(mention.start, mention.end))
            own = words_of_names(mention, names[pk])
            words[pk] |= own
            if len(name_words(mention.text)) > 1 or own & proper_words(texts[pk]):
                certain.add(pk)
    meant = {pk for pk, own in places.items() if not any(own < more for more in places.values())}
    certain &= meant
    return {pk: words[pk] for pk in certain or meant}, certain


def label_mentions(query: str, names: Mapping[Any, Sequence[str]]) -> list[NameMention]:
    """Return where the question holds words of labels: several in a row or one, as they are, and
    one that is misspelt."""
    mentions = index_of(names).mentions(query, typos=False)
    rest = list(query)
    for mention in mentions:
        rest[mention.start : mention.end] = " " * (mention.end - mention.start)
    single = {pk: [name for name in own if " " not in name] for pk, own in names.items()}
    return [*mentions, *index_of(single).mentions("".join(rest))]


def index_of(names: Mapping[Any, Sequence[str]]) -> NameIndex:
    """Return an index of the names by key."""
    return NameIndex(KnownName(pk, own[0], own[1:]) for pk, own in names.items() if own)


def certain_keys(mention: NameMention, names: Mapping[Any, Sequence[str]]) -> list[Any]:
    """Return what the mention names; of misspelt names those with the same beginning."""
    text = fold_name(mention.text)
    return [
        match.key
        for match in mention.matches
        if match.how != "fuzzy" or any(is_near(text, fold_name(own)) for own in names[match.key])
    ]


def is_only_typo(mention: NameMention, text: str) -> bool:
    """Whether the mention is a label's word in another spelling that may be another word."""
    is_fuzzy = all(match.how == "fuzzy" for match in mention.matches)
    near = [word for word in proper_words(text) if is_near(fold_name(mention.text), word)]
    return is_fuzzy and not near and len(mention.text) < LONG_WORD


def is_near(text: str, name: str) -> bool:
    beginning = text[:SAME_BEGINNING] == name[:SAME_BEGINNING]
    return beginning and OSA.distance(text, name) <= MOST_TYPOS


def words_of_names(mention: NameMention, names: Iterable[str]) -> set[str]:
    """Return the mention's words, as the name spells them if the mention does not."""
    spelled = [word.norm for word in name_words(mention.text)]
    known = Counter(word.norm for name in names for word in name_words(name))
    right = {word for word in spelled if word in known}
    near = {word for word in known if any(is_near(other, word) for other in spelled)}
    return {word for word in right or near or set(spelled) if len(word) > 1}


def proper_case(text: str) -> str:
    """Return `text` as if each word but stop words were a proper name."""
    return WORD.sub(
        lambda match: (
            match.group()
            if match.group().casefold() in stop_words()
            else match.group()[0].upper() + match.group()[1:].lower()
        ),
        text,
    )
