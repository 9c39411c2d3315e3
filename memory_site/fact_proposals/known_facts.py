"""Which of the facts that a text states the graph says already."""

from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from knowledge.extraction.findings import Finding
from knowledge.fact_check.labelled_facts import (
    LabelledFact,
    labelled_facts,
    meanings_of,
    says_label,
)
from knowledge.fact_check.lexicon import bonds
from knowledge.graph.labels import in_words
from knowledge.graph.models import FREE_RELATION, GraphEdge
from knowledge.graph.relations import Relations
from memory_site.fact_proposals.contradictions import edge_of
from worlds.models import World


def stated_in_graph(
    world: World, findings: Sequence[Finding], relations: Relations
) -> Collection[int]:
    """Return the `id()` of each fact whose relation or label, in any words of the same meaning,
    joins its two ends in the graph."""
    ends = {node.pk for each in findings for node in (each.node, each.other) if node}
    facts = GraphEdge.objects.believed_now().in_world(world).filter(src__in=ends, dst__in=ends)
    believed: dict[frozenset[UUID], list[GraphEdge]] = {}
    for fact in facts.select_related("src", "dst") if ends else ():
        believed.setdefault(frozenset((fact.src_id, fact.dst_id)), []).append(fact)
    stated = set()
    for each in findings:
        proposed = edge_of(world, each, relations)
        known = believed.get(frozenset((proposed.src_id, proposed.dst_id)), [])
        if says_relation(known, proposed) or says_meaning(known, proposed):
            stated.add(id(each))
    return stated


def says_relation(known: Iterable[GraphEdge], proposed: GraphEdge) -> bool:
    """Whether a fact says the same by its relation alone. A label that has a meaning says more."""
    if proposed.relation_id == FREE_RELATION or meanings_of(proposed.label):
        return False
    claim = (proposed.src_id, proposed.relation_id, proposed.dst_id)
    return any((fact.src_id, fact.relation_id, fact.dst_id) == claim for fact in known)


def says_meaning(known: Sequence[GraphEdge], proposed: GraphEdge) -> bool:
    """Whether the label of a fact, of any relation, means what the proposed label means, or is
    the same in any inflection."""
    if not proposed.label:
        return proposed.relation_id == FREE_RELATION and any(
            fact.relation_id == FREE_RELATION for fact in known
        )
    bonds_of_known = labelled_facts(known)
    for wanted in labelled_facts([proposed]):
        if any(_includes(fact, wanted) for fact in bonds_of_known):
            return True
    subject = in_words(proposed).subject
    return any(
        in_words(fact).subject == subject and says_label(fact.label, proposed.label)
        for fact in known
    )


def _includes(fact: LabelledFact, wanted: LabelledFact) -> bool:
    ends, pair = (fact.first, fact.second), (wanted.first, wanted.second)
    is_same = ends == pair or (bonds()[wanted.bond].mutual and ends[::-1] == pair)
    return fact.bond == wanted.bond and is_same and set(wanted.sexes) <= set(fact.sexes)
