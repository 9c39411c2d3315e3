"""Who does what to whom in a sentence: the order of its names and of what stands for the subject of
its entry, with what prepositions, cases and particles say of each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from uuid import UUID

from knowledge.fact_check.lexicon import lexicon, load_yaml
from knowledge.fact_check.name_slots import inflection_of
from knowledge.fact_check.prose_words import stem_of
from knowledge.graph.models import GraphNode, NodeKind
from retrieval.text import NameMention, Word, name_words

KOREAN_BARE = ("", "이다", "다", "이고", "이며", "였다", "이었다")
"""Endings of a Korean name that say no more than its place: none, and those of a copula."""


@dataclass(frozen=True)
class Reference:
    """A name in a sentence, or a pronoun or another word (both without `id`). `is_oblique`: it
    stands after a preposition or in a case that the one who acts does not have; None if nobody can
    tell. `is_agent`: it acts in a passive sentence (`by Maren`)."""

    id: UUID | None
    is_person: bool | None
    is_oblique: bool | None = False
    is_agent: bool = False
    is_owner: bool = False
    stem: str = ""
    """Of a word that is neither a name nor a pronoun."""
    is_after_break: bool = False
    """Whether a comma or conjunction stands between it and the name before it."""
    is_joined: bool = False
    """Whether nothing else does."""


@dataclass(frozen=True)
class NameOrder:
    references: tuple[Reference, ...]
    begins_with_name: bool
    language: str

    def names(self) -> list[Reference]:
        return list({r.id: r for r in reversed(self.references) if r.id}.values())[::-1]


@dataclass(frozen=True)
class OrderWords:
    oblique: frozenset[str]
    agents: frozenset[str]
    articles: frozenset[str]
    breaks: frozenset[str]
    pronouns: dict[str, tuple[bool, bool | None]]
    """Whether each is oblique, and whether it means a person; None if it may."""


@cache
def order_words(language: str) -> OrderWords:
    rows = load_yaml("name_order")[language]
    pronouns = {
        word: (name == "others", {"persons": True, "things": False}.get(which))
        for name in ("subjects", "others")
        for which, words in rows[name].items()
        for word in words
    }
    oblique, agents, articles, breaks = (
        frozenset(rows[key]) for key in ("oblique", "agents", "articles", "breaks")
    )
    return OrderWords(oblique, agents, articles, breaks, pronouns)


def read_order(
    sentence: str, mentions: Sequence[NameMention], nodes: Sequence[GraphNode], language: str
) -> NameOrder:
    """Return the order in a sentence in which `mentions` name `nodes`."""
    lists = order_words(language)
    found: list[Reference] = []
    before: list[Word] = []
    since: list[str] = []
    last_end = 0
    begins_with_name = False
    for word in name_words(sentence):
        inside = next((n for n, m in enumerate(mentions) if m.start <= word.start < m.end), None)
        if inside is not None and word.start != mentions[inside].start:
            continue
        has_break = not lists.breaks.isdisjoint(since) or any(
            mark in sentence[last_end : word.start] for mark in ",;:—–"
        )
        if inside is not None:
            is_joined = has_break and lists.breaks.union(lists.articles).issuperset(since)
            begins_with_name |= last_end == 0 and lists.articles.issuperset(since)
            named = _name_reference(mentions[inside], nodes[inside], before, language)
            found.append(replace(named, is_after_break=has_break, is_joined=is_joined))
            since, last_end = [], mentions[inside].end
        else:
            found.append(replace(_word_reference(word, before, lists), is_after_break=has_break))
            since.append(word.norm)
        before.append(word)
    if language == "ko":
        found = _with_agents(found, mentions)
    return NameOrder(tuple(found), begins_with_name, language)


def _word_reference(word: Word, before: Sequence[Word], lists: OrderWords) -> Reference:
    """Return a pronoun or another word."""
    is_oblique = _is_after(before, lists.oblique, lists)
    is_agent = _is_after(before, lists.agents, lists)
    if pronoun := lists.pronouns.get(word.norm):
        return Reference(None, pronoun[1], is_oblique or pronoun[0], is_agent)
    return Reference(None, None, is_oblique, is_agent, stem=stem_of(word.norm))


def _with_agents(found: list[Reference], mentions: Sequence[NameMention]) -> list[Reference]:
    """Mark who acts on the topic of a Korean sentence: `문은 헤일이 조각했다`."""
    endings = iter([mention.text[-1] for mention in mentions])
    particle = ""
    marked: list[Reference] = []
    for each in found:
        before, particle = particle, next(endings, "") if each.id else particle
        is_agent = each.id is not None and particle in ("이", "가") and before in ("은", "는")
        marked.append(replace(each, is_agent=is_agent))
    return marked


def _is_after(before: Sequence[Word], words: frozenset[str], lists: OrderWords) -> bool:
    plain = [word.norm for word in before if word.norm not in lists.articles]
    return bool(plain) and plain[-1] in words


def _name_reference(
    mention: NameMention, node: GraphNode, before: Sequence[Word], language: str
) -> Reference:
    lists = order_words(language)
    ending = inflection_of(mention, node)
    if language == "ko":
        is_subject = bool(lexicon("ko").subject.fullmatch(f"M0_{ending}"))
        is_oblique = not is_subject and ending not in KOREAN_BARE
    else:
        is_oblique = bool(ending) or _is_after(before, lists.oblique, lists)
    is_agent = _is_after(before, lists.agents, lists)
    is_owner = ending in ("s", "의")
    return Reference(node.pk, node.kind == NodeKind.CHARACTER, is_oblique, is_agent, is_owner)


def with_topic(told: NameOrder, topic: GraphNode) -> list[Reference] | None:
    """Return the names of a sentence about `topic` with it where a pronoun stands for it, or where
    an unsaid subject would; None if the pronoun may mean another name."""
    names = told.names()
    if any(each.id == topic.pk for each in names):
        return names
    is_person = topic.kind == NodeKind.CHARACTER
    place = _place_of(topic, told)
    if place is not None:
        meant = told.references[place]
        rivals = [r for r in told.references[:place] if r.id and r.is_person == is_person]
        if rivals and meant.is_after_break and not meant.stem:
            return None
        references = list(told.references)
        references[place] = replace(meant, id=topic.pk)
        return replace(told, references=tuple(references)).names()
    if told.begins_with_name and (names[0].is_owner or not names[0].is_oblique):
        return [*names, Reference(topic.pk, is_person, None)]
    is_subject = told.begins_with_name and told.language == "ko"
    return [Reference(topic.pk, is_person, False if is_subject else None), *names]


def _place_of(topic: GraphNode, told: NameOrder) -> int | None:
    """Return where a sentence has a pronoun for its topic or a word of its name (`the house`),
    the first of them, or else another pronoun."""
    is_person = topic.kind == NodeKind.CHARACTER
    words = (word for name in (topic.name, *topic.aliases) for word in name_words(name))
    stems = {stem_of(word.norm) for word in words}
    acting: list[int] = []
    other: list[int] = []
    for place, each in enumerate(told.references):
        if each.stem in stems:
            acting.append(place)
        elif each.id is None and not each.stem and each.is_person in (None, is_person):
            (other if each.is_oblique else acting).append(place)
    return next(iter((*acting, *other)), None)


def orders_agree(statement: NameOrder, told: NameOrder, topic: GraphNode | None) -> bool:
    """Whether the names of a statement stand to each other as in a sentence about `topic`."""
    said = statement.names()
    if topic is not None and any(each.id == topic.pk for each in said):
        known = with_topic(told, topic)
    else:
        known = told.names()
    if known is None:
        return False
    wanted = {each.id for each in said}
    known = [each for each in known if each.id in wanted]
    if len(said) == 1:
        return _is_said_of_it(said[0], statement, told, topic)
    if [each.id for each in known] == [each.id for each in said]:
        pairs = zip(_turns(said), _turns(known), strict=True)
        return all(one == other or None in (one, other) for one, other in pairs)
    # `Maren keeps it` says what `it is kept by Maren` says.
    is_passive = any(each.is_agent for each in said) != any(each.is_agent for each in known)
    is_turned = len(said) == 2 and [each.id for each in known] == [each.id for each in said[::-1]]
    return is_passive and is_turned and {*_turns(said), *_turns(known)} == {True, False}


def _turns(references: Sequence[Reference]) -> list[bool | None]:
    """Return for each name and the next one whether the second acts on the first, or owns it."""
    return [_is_turned(*pair) for pair in pairwise(references)]


def _is_turned(one: Reference, other: Reference) -> bool | None:
    if other.is_agent and not one.is_agent:
        return True
    if one.is_oblique is None or (one.is_oblique and other.is_oblique is None):
        return None
    return one.is_oblique and not other.is_oblique


def _is_said_of_it(
    name: Reference, statement: NameOrder, told: NameOrder, topic: GraphNode | None
) -> bool:
    """Whether a sentence can say of this name what the statement does, and not of another one that
    stands before it: `It has nine bells and faces Cinder Bay` counts no bells of the bay."""
    is_subject = statement.begins_with_name and not name.is_oblique
    if not is_subject or (topic is not None and topic.pk == name.id):
        return True
    place = next((n for n, r in enumerate(told.references) if r.id == name.id), 0)
    topic_place = None if topic is None else _place_of(topic, told)
    before = [
        each
        for n, each in enumerate(told.references[:place])
        if (not each.stem or n == topic_place) and not (each.is_oblique or each.is_agent)
    ]
    return not before or told.references[place].is_joined
