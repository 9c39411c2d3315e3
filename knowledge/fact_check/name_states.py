"""What a statement says of one name alone: that somebody is the admiral, has a brother, is married
to anybody. The facts about the name decide; that there is none says nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from django.db.models import Q

from knowledge.fact_check.description_nouns import Noun, calls, nouns_of
from knowledge.fact_check.labelled_facts import labelled_facts
from knowledge.fact_check.lexicon import bonds, claim_kinds, load_yaml
from knowledge.graph.labels import in_words
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.querysets import FactQuerySet


@dataclass(frozen=True)
class NameState:
    """`office`: the noun that a label of the name has. Else the name has the relation `claim` to
    somebody, or, with `is_second`, somebody to the name."""

    office: Noun | None = None
    claim: str = ""
    is_second: bool = False
    is_denied: bool = False


def read_state(text: str, node: GraphNode, language: str) -> NameState | None:
    """Read a statement with one slot, without its tense, date and negation."""
    rows = load_yaml("states")[language]
    for group, is_denied in (("states", False), ("not_states", True)):
        for claim, words in rows[group].items():
            if _pattern(words).search(text):
                return NameState(claim=claim, is_denied=is_denied)
    for form in ("has_no", "has", "is"):
        match = _pattern(rows[form]).search(text)
        for noun in nouns_of(match["noun"]) if match else ():
            if form == "is" and noun.kind == node.kind:
                return NameState(office=noun)
            if noun.claim and claim_kinds()[noun.claim].allows(node.kind, None):
                second = form != "is"
                return NameState(claim=noun.claim, is_second=second, is_denied=form == "has_no")
    return None


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def facts_of_state(facts: FactQuerySet, node: GraphNode, state: NameState) -> list[GraphEdge]:
    """Return the facts of any day by which it is so."""
    around = list(facts.filter(Q(src=node) | Q(dst=node)))
    if state.office:
        noun = state.office
        return [f for f in around if in_words(f).subject == node and calls(f.label, noun)]
    return list(_by_claim(around, node, state))


def _by_claim(facts: list[GraphEdge], node: GraphNode, state: NameState) -> Iterator[GraphEdge]:
    for reading in claim_kinds()[state.claim].readings:
        of_first = reading.inverse == state.is_second
        for fact in labelled_facts(facts) if reading.bond else ():
            end, other = (fact.first, fact.second) if of_first else (fact.second, fact.first)
            is_end = node.pk in (end, other) if bonds()[fact.bond].mutual else end == node.pk
            whom = other if state.is_second else end
            if bonds()[fact.bond].mutual and state.is_second:
                whom = fact.second if fact.first == node.pk else fact.first
            sex = dict(fact.sexes).get(whom, "" if reading.sex else reading.sex)
            fits = not reading.sex or sex == reading.sex
            if fact.bond == reading.bond and is_end and fits:
                yield fact.edge
        for edge in facts if reading.relation else ():
            is_end = edge.src_id == node.pk if of_first else edge.dst_id == node.pk
            if edge.relation_id == reading.relation and (is_end or reading.mutual):
                yield edge
