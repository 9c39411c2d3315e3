"""What the small model of names and relations (`retrieval.named_relations`) finds in a text beside
the rules: new names that no word introduces, and relations in words that no lexicon has."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Any
from uuid import UUID

from knowledge.extraction.claim_facts import stated_fact
from knowledge.extraction.findings import Finding, TextSentence
from knowledge.extraction.lexicon import load, titles_of
from knowledge.extraction.name_forms import dictionary_form, word_span
from knowledge.extraction.new_names import (
    NewName,
    is_common_hangul,
    is_known,
    name_lexicon,
)
from knowledge.extraction.russian_names import is_common_noun
from knowledge.fact_check.lexicon import claim_kinds
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphNode, NodeKind
from knowledge.graph.relations import Relations
from retrieval.named_relations import (
    NONE,
    MarkedSpan,
    ReadText,
    RelationClass,
    find_names,
    relations_between,
)
from retrieval.text import NameMention, fold_name, guess_language

LEAST_NAME = {"en": 0.9, "ru": 0.9, "ko": 0.97}
"""From which probability a name is proposed. In Korean no capital tells a name from a noun."""
LEAST_RELATION = 0.85
"""From which probability a relation is proposed."""
INSIDE = ("LOCATED_IN", "PART_OF")
MOST_WINDOWS = 3000
"""Pairs of names of one text that are read, some 10 ms each; of a longer text the rules read the
rest."""
AROUND = " \t\r\n>#*-•"
IN_A_YEAR = (
    re.compile(r"\bin (?:the year )?(?P<date>\d{2,5})\b", re.IGNORECASE),
    re.compile(r"\bв (?P<date>\d{2,5})(?:-?\w{1,2})? год", re.IGNORECASE),
    re.compile(r"(?P<date>\d{2,5} ?년)에?(?![가-힣])"),
)
BEGINNINGS = {
    "founded": (NodeKind.FACTION, NodeKind.LOCATION),
    "made": (NodeKind.LOCATION, NodeKind.ITEM),
}
"""Of which kinds of things a date of their beginning is kept."""
KIND_WORDS: dict[str, str] = {
    NodeKind.CHARACTER: "person",
    NodeKind.LOCATION: "place",
    NodeKind.FACTION: "faction",
    NodeKind.ITEM: "item",
    NodeKind.EVENT: "event",
    NodeKind.QUEST: "event",
}
"""How the model calls the kinds."""
KINDS = {word: kind for kind, word in KIND_WORDS.items() if kind != NodeKind.QUEST}
CLAIMS = {"works": "serves_in", "uncle": "uncle_or_aunt"}
"""The claim of a relation where its name is another one."""


def names_by_model(
    text: str, sentences: Sequence[TextSentence], linker: EntityLinker, language: str
) -> Iterator[NewName]:
    """Yield the names that `linker` does not have."""
    known = [(each.start, each.end) for each in linker.mentions(text)]
    for found in find_names(text):
        start, end = word_span(text, found.start, found.end)
        # What stands right before a name that is known is its title.
        if found.probability < LEAST_NAME[language] or any(
            begin < end + 2 and start < stop for begin, stop in known
        ):
            continue
        sentence = next((each for each in sentences if each.start <= start < each.end), None)
        name = dictionary_form(text[start:end], language, after=text[end : end + 1])
        if sentence is None or len(name) < 2 or is_known(name, linker):
            continue
        if not is_ordinary(name, language, is_first=start == sentence.start):
            yield NewName(name, NodeKind(KINDS[found.kind]), sentence)


def is_ordinary(name: str, language: str, *, is_first: bool) -> bool:
    """Whether a name is made of words that are no names; in Russian the first word of a sentence
    has a capital in any case."""
    lexicon = name_lexicon(language)
    if fold_name(name) in lexicon.kinds or name in lexicon.not_names:
        return True
    if language == "ko":
        data: Any = load("ko")
        if name.endswith("들"):
            return True
        # `국경 마을` is any village at a border.
        if re.search(data["not_place_names"], name.split()[0]):
            return True
        nouns = data["ordinary"]
        return all(word in nouns or is_common_hangul(word) for word in name.split())
    if not any(word[:1].isupper() for word in name.split()):
        return True
    return language == "ru" and is_first and " " not in name and is_common_noun(name)


def facts_by_model(
    text: str,
    linker: EntityLinker,
    relations: Relations,
    decided: Collection[frozenset[UUID]],
) -> Iterator[Finding]:
    """Yield what the text says of two names, without the pairs of keys that are `decided`."""
    read = ReadText(text)
    nodes: dict[UUID, GraphNode] = {}
    spans: dict[UUID, list[NameMention]] = {}
    for mention in linker.mentions(text):
        node = linker.node_of(mention)
        if not mention.ambiguous and node.kind in KIND_WORDS and is_named(mention, node):
            nodes[node.pk] = node
            spans.setdefault(node.pk, []).append(mention)
    for a, b in islice(near_pairs(read, spans), MOST_WINDOWS):
        if frozenset((a, b)) in decided:
            continue
        marks = [
            MarkedSpan(each.start, each.end, KIND_WORDS[nodes[key].kind], key == a)
            for key in (a, b)
            for each in spans[key]
        ]
        window = read.window(marks)
        guesses = relations_between(window.marked) if window else []
        if window is None or not guesses or guesses[0][1] < LEAST_RELATION:
            continue
        quote = sentence_at(text, window.start, window.end)
        guess = guesses[0][0]
        fact = fact_of(guess, nodes[a], nodes[b], relations, quote)
        if fact and not is_only_beside(text, fact, spans):
            yield fact
            yield from date_of(guess, nodes[b] if guess.is_first else nodes[a], quote)


def is_only_beside(text: str, fact: Finding, spans: Mapping[UUID, Sequence[NameMention]]) -> bool:
    """Whether a fact puts something into a place of which its sentence says, wherever it names the
    place, that the thing is above, behind or not far from it."""
    if fact.relation not in INSIDE or fact.other is None:
        return False
    quote = fact.sentence
    pattern = re.compile(load(guess_language(quote.text))["beside"], re.IGNORECASE)
    places = [each for each in spans[fact.other.pk] if quote.start <= each.start < quote.end]
    return bool(places) and all(
        pattern.search(f"{text[quote.start : each.start]}M{text[each.end : quote.end]}")
        for each in places
    )


def date_of(guess: RelationClass, made: GraphNode, quote: TextSentence) -> Iterator[Finding]:
    """Yield when something was founded or built, if its sentence names one year."""
    years = [match["date"] for pattern in IN_A_YEAR for match in pattern.finditer(quote.text)]
    if len(years) == 1 and made.kind in BEGINNINGS.get(guess.relation, ()):
        what = "built" if guess.relation == "made" else "founded"
        yield Finding("date", quote, made, what=what, value=years[0])


def is_named(mention: NameMention, node: GraphNode) -> bool:
    """Whether words name an entity as far as the model is concerned: people are called by a part of
    their name, but `Nine` at the beginning of a sentence is no Night of Nine Ferries, and `Captain`
    alone is not Captain Rusk."""
    if any(match.how != "part" for match in mention.matches):
        return True
    is_title = fold_name(mention.text) in titles_of(guess_language(mention.text))
    return node.kind == NodeKind.CHARACTER and not is_title


def near_pairs(
    read: ReadText, spans: Mapping[UUID, Sequence[NameMention]]
) -> Iterator[tuple[UUID, UUID]]:
    """Yield the names that stand in one sentence or in neighbouring ones, each pair once, in the
    order of the text; the name that comes first is the first."""
    order = {key: number for number, key in enumerate(spans)}
    by_sentence: dict[int, dict[UUID, None]] = {}
    for key, mentions in spans.items():
        for each in mentions:
            by_sentence.setdefault(read.sentence_of(each.start), {})[key] = None
    seen: set[frozenset[UUID]] = set()
    for sentence in sorted(by_sentence):
        near = [*by_sentence[sentence], *by_sentence.get(sentence + 1, {})]
        for one, other in combinations(dict.fromkeys(near), 2):
            pair = frozenset((one, other))
            if pair not in seen:
                seen.add(pair)
                first, second = sorted((one, other), key=order.__getitem__)
                yield first, second


def sentence_at(text: str, start: int, end: int) -> TextSentence:
    """Return [start, end) of a text without the space and the marks of lists and headings around
    it."""
    part = text[start:end]
    stripped = part.strip(AROUND)
    start += part.index(stripped)
    return TextSentence(stripped, start, start + len(stripped))


def fact_of(
    guess: RelationClass,
    first: GraphNode,
    second: GraphNode,
    relations: Relations,
    sentence: TextSentence,
) -> Finding | None:
    if guess.relation == NONE:
        return None
    a, b = (first, second) if guess.is_first else (second, first)
    kind = claim_kinds()[CLAIMS.get(guess.relation, guess.relation)]
    fact = stated_fact(kind, a, b, relations) if kind.allows(a.kind, b.kind) else None
    if fact is None:
        return None
    return Finding("fact", sentence, fact.src, fact.dst, relation=fact.relation, label=fact.label)
