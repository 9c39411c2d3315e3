"""What the labels of facts say in their own words: `was cast by`, `buried the dead of`, `built in
the year 544 by`. Compared with the words of a statement by what they mean, in any of the languages.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from django.db.models import Q

from knowledge.fact_check.claim_dates import date_span
from knowledge.fact_check.claims import Claim
from knowledge.fact_check.concepts import concepts_of, deeds_done_once
from knowledge.fact_check.labelled_facts import JOINT, says_label, with_label
from knowledge.fact_check.lexicon import language_of
from knowledge.fact_check.places import are_apart
from knowledge.fact_check.prose_words import has_concept, stem_of, word_lists
from knowledge.fact_check.statement_parts import ClaimDate
from knowledge.graph.labels import in_words
from knowledge.graph.models import GraphEdge, GraphNode, NodeKind
from knowledge.graph.querysets import FactQuerySet
from retrieval.text import WORD_OR_NUMBER, fold_name
from worlds.calendars.date_parser import DateSpan
from worlds.models import World

AGENTS = (NodeKind.CHARACTER, NodeKind.FACTION)
YEAR = re.compile(r"\d{2,}")
DIED = re.compile(
    r"\b(?:died|drowned|perished|fell|burned|buried|was killed|was slain|погиб|умер|скончал)\w*\b"
    r".*\b(?:in|at|on|of|from|during|by|в|на|от|при)\b|^(?:grave|tomb) of$"
)
KILLED = re.compile(r"^(?:killed|slew|murdered|executed|poisoned|beheaded|hanged|drowned)$")


def facts_in_words(facts: FactQuerySet, claim: Claim) -> list[GraphEdge]:
    """Return the facts of any day about the two that say what the claim says in its own words."""
    assert claim.b
    ends = Q(src=claim.a, dst=claim.b) | Q(src=claim.b, dst=claim.a)
    return [fact for fact in with_label(facts.filter(ends)) if _says(fact, claim)]


def _says(fact: GraphEdge, claim: Claim) -> bool:
    is_in_order = in_words(fact).subject == claim.a
    if is_in_order and says_label(fact.label, claim.label):
        return True
    # Who did it to whom is clear from the kinds; of two of one kind, from the order of an active
    # sentence only.
    is_clear = fact.src_kind != fact.dst_kind
    return (is_clear or (is_in_order and not claim.is_passive)) and means(fact.label, claim.label)


def facts_of_others(facts: FactQuerySet, claim: Claim) -> Iterator[GraphEdge]:
    """Yield the facts by which another did what only one can have done: cast the bell."""
    assert claim.b
    ends = [(claim.a, claim.b), (claim.b, claim.a)]
    yield from _other_deaths(facts, claim)
    for thing, agent in ends:
        if thing.kind in AGENTS or agent.kind not in AGENTS:
            continue
        if not is_done_once(claim.label):
            continue
        for fact in with_label(facts.filter(Q(src=thing) | Q(dst=thing))):
            other = fact.dst if fact.src_id == thing.pk else fact.src
            if other.pk != agent.pk and other.kind == agent.kind and means(fact.label, claim.label):
                yield fact


def deaths_of(node: GraphNode, facts: FactQuerySet) -> tuple[GraphEdge, ...]:
    """Return the facts by which somebody is dead: `died in`, `killed`."""
    if node.kind != NodeKind.CHARACTER:
        return ()
    told = []
    for fact in with_label(facts.filter(Q(src=node) | Q(dst=node))):
        subject, label, _target = in_words(fact)
        pattern = DIED if subject == node else KILLED
        if pattern.search(label.casefold()):
            told.append(fact)
    return tuple(told)


def _other_deaths(facts: FactQuerySet, claim: Claim) -> Iterator[GraphEdge]:
    """Yield by which facts somebody died in another place than the claim says."""
    assert claim.b
    said = content_of(claim.label)
    if claim.b.kind != NodeKind.LOCATION or not all(has_concept("die", [word]) for word in said):
        return
    for fact in deaths_of(claim.a, facts):
        place = in_words(fact).target
        is_other = place.kind == NodeKind.LOCATION and place.pk != claim.b.pk
        if is_other and are_apart(facts, place, claim.b):
            yield fact


def is_done_once(words: str) -> bool:
    """Whether the words say what is done once and for ever: to build something."""
    return any(deeds_done_once(stem) for stem in content_of(words))


def dated_facts(facts: FactQuerySet, node: GraphNode, words: str) -> list[GraphEdge]:
    """Return the facts about the node whose label says what `words` say of it: was built."""
    said = content_of(words)
    around = with_label(facts.filter(Q(src=node) | Q(dst=node)))
    return [
        fact
        for fact in around
        if said and all(has_concept(w, content_of(fact.label)) for w in said)
    ]


def day_of(fact: GraphEdge, world: World) -> DateSpan | None:
    """Return when a deed was done: on the first day of its fact, else in the year of its label."""
    if fact.since is not None:
        return DateSpan(fact.since, fact.since)
    year = YEAR.search(fact.label)
    return date_span(world, ClaimDate("during", year[0], "en")) if year else None


def means(label: str, words: str) -> bool:
    """Whether a label, or one part of it, means what `words` mean, and no more."""
    said = content_of(words)
    return bool(said) and any(
        all(has_concept(word, meant) for word in said)
        and all(has_concept(word, said) for word in meant)
        for part in (label, *JOINT.split(label))
        if (meant := content_of(part)) and any(map(concepts_of, meant))
    )


@lru_cache(maxsize=4096)
def content_of(text: str) -> tuple[str, ...]:
    """Return the stems of the words that say something, without numbers."""
    lists = word_lists(language_of(text))
    words = (fold_name(word) for word in WORD_OR_NUMBER.findall(text) if not word.isdigit())
    return tuple(
        stem_of(word)
        for word in words
        if word not in lists.light and word not in lists.years and word not in lists.empty
    )
