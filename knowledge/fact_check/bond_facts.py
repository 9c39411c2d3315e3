"""The bonds around two entities: which facts give one, which follow from others (kinship) and which
exclude it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Q

from knowledge.fact_check.labelled_facts import LabelledFact, labelled_facts, with_label
from knowledge.fact_check.lexicon import Bond, Reading, bonds
from knowledge.fact_check.places import are_apart
from knowledge.fact_check.sexes import sex_of_name, sex_of_spouse
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.querysets import FactQuerySet

Chain = tuple[GraphEdge, ...]
"""Facts that together say something; mostly one."""


@dataclass
class BondFacts:
    """The bonds of `facts` around `a` and `b`, which for kin includes those of their kin."""

    facts: FactQuerySet
    a: GraphNode
    b: GraphNode
    reading: Reading
    bond: Bond = field(init=False)

    def __post_init__(self) -> None:
        self.bond = bonds()[self.reading.bond]

    @property
    def ends(self) -> tuple[Any, Any]:
        pair = (self.a.pk, self.b.pk)
        return (pair[1], pair[0]) if self.reading.inverse else pair

    @cached_property
    def near(self) -> list[LabelledFact]:
        return self._bonds_of({self.a.pk, self.b.pk})

    @cached_property
    def bonds_with_kin(self) -> list[LabelledFact]:
        """Those of the two, and for kin those of their kin."""
        if not self.bond.kin and self.bond.name != "cousin":
            return self.near
        kin = {
            end for fact in self.near if bonds()[fact.bond].kin for end in (fact.first, fact.second)
        }
        others = kin - {self.a.pk, self.b.pk}
        return self.near + (self._bonds_of(others) if others else [])

    def _bonds_of(self, ids: set[Any]) -> list[LabelledFact]:
        ends = Q(src__in=ids) | Q(dst__in=ids)
        return labelled_facts(with_label(self.facts.filter(ends)))

    def confirming(self) -> list[Chain]:
        """Return the facts, of any day, that say it, alone or together."""
        first, second = self.ends
        chains = self._chains(self.bond.name, first, second)
        # A sex that nothing tells is that of the statement: whoever has a sister may be a brother.
        if self.reading.sex and self._sex_of_first() - {"", self.reading.sex}:
            return []
        return list({tuple(edge.pk for edge in chain): chain for chain in chains}.values())

    def _chains(self, bond: str, first: Any, second: Any) -> Iterator[Chain]:
        """Yield the facts that give the bond, told or by kinship."""
        for fact in self.bonds_with_kin:
            same = (fact.first, fact.second) == (first, second)
            turned = bonds()[bond].mutual and (fact.second, fact.first) == (first, second)
            if fact.bond == bond and (same or turned):
                yield (fact.edge,)
        if bond == "sibling":
            yield from self._share_parent(first, second)
        elif bond == "grandparent":
            yield from self._through_parent(second, "parent", first)
        elif bond == "uncle_or_aunt":
            yield from self._through_parent(second, "sibling", first)

    def _parents_of(self, child: Any) -> dict[Any, GraphEdge]:
        return {
            fact.first: fact.edge
            for fact in self.bonds_with_kin
            if fact.bond == "parent" and fact.second == child
        }

    def _share_parent(self, first: Any, second: Any) -> Iterator[Chain]:
        ours, theirs = self._parents_of(first), self._parents_of(second)
        yield from ((ours[parent], theirs[parent]) for parent in ours.keys() & theirs.keys())

    def _through_parent(self, child: Any, bond: str, relative: Any) -> Iterator[Chain]:
        """Yield how `relative` has the bond to a parent of `child`."""
        for parent, edge in self._parents_of(child).items():
            if parent != relative:
                yield from ((edge, *chain) for chain in self._chains(bond, relative, parent))

    def excluding(self) -> Iterator[GraphEdge]:
        """Yield the facts, of any day, that cannot be true together with it."""
        yield from self._sex_conflicts()
        yield from self._other_kinship()
        if self.bond.one_way:
            yield from self._converses()
        if self.bond.unique == "first":
            yield from self._other_firsts()
        elif self.bond.unique == "second":
            yield from self._other_seconds()
        elif self.bond.unique == "each":
            yield from self._other_halves()
        elif self.bond.unique == "sex":
            yield from self._other_parents()

    def _sex_of_first(self) -> set[str]:
        """Return the sexes that the facts tell of the first name of the claim; without any, what
        follows from its husband or wife, else from the name. That of the other end says nothing."""
        told = {sex for fact in self.near for end, sex in fact.sexes if end == self.a.pk}
        told = told or {sex for _fact, sex in self._sexes_by_spouse()}
        return told or {sex_of_name(self.a)}

    def _sexes_by_spouse(self) -> Iterator[tuple[LabelledFact, str]]:
        """Yield the facts by which the two are married and that tell the sex of the first, by the
        second: of a pair that is asked about as one."""
        for fact in self.near if self.bond.name == "spouse" else ():
            is_pair = {fact.first, fact.second} == {self.a.pk, self.b.pk}
            if is_pair and (sex := sex_of_spouse(fact, self.a.pk)):
                yield fact, sex

    def _sex_conflicts(self) -> list[GraphEdge]:
        """Return the facts by which the first name is of another sex."""
        if not self.reading.sex:
            return []
        told = [(fact, s) for fact in self.near for end, s in fact.sexes if end == self.a.pk]
        told = told or list(self._sexes_by_spouse())
        return [fact.edge for fact, sex in told if sex != self.reading.sex]

    def _other_kinship(self) -> Iterator[GraphEdge]:
        """Yield other kinship of the two: nobody is both mother and sister."""
        if not self.bond.kin:
            return
        pair = {self.a.pk, self.b.pk}
        for fact in self.near:
            other = bonds()[fact.bond]
            turned = not other.mutual and (fact.first, fact.second) != self.ends
            differs = fact.bond != self.bond.name or turned
            if {fact.first, fact.second} == pair and other.kin and differs:
                yield fact.edge

    def _converses(self) -> Iterator[GraphEdge]:
        """Yield the facts that give the second the bond to the first."""
        first, second = self.ends
        for fact in self.near:
            if fact.bond == self.bond.name and (fact.second, fact.first) == (first, second):
                yield fact.edge

    def _other_firsts(self) -> Iterator[GraphEdge]:
        """Yield the facts by which another has the bond to the second."""
        first, second = self.ends
        for fact in self.near:
            if fact.bond == self.bond.name and fact.second == second and fact.first != first:
                yield fact.edge

    def _other_seconds(self) -> Iterator[GraphEdge]:
        """Yield the facts by which the first has the bond to another, elsewhere."""
        first, second = self.ends
        nodes = {self.a.pk: self.a, self.b.pk: self.b}
        for fact in self.near:
            if fact.bond != self.bond.name or fact.first != first or fact.second == second:
                continue
            other = fact.edge.src if fact.edge.src_id == fact.second else fact.edge.dst
            if are_apart(self.facts, other, nodes[second]):
                yield fact.edge

    def _other_halves(self) -> Iterator[GraphEdge]:
        pair = {self.a.pk, self.b.pk}
        for fact in self.near:
            ends = {fact.first, fact.second}
            if fact.bond == self.bond.name and len(ends & pair) == 1:
                yield fact.edge

    def _other_parents(self) -> Iterator[GraphEdge]:
        """Yield the parent of the same sex, or both parents."""
        parent, child = self.ends
        others = {k: edge for k, edge in self._parents_of(child).items() if k != parent}
        sex = self._sex_of(parent)
        same = [edge for other, edge in others.items() if sex and self._sex_of(other) == sex]
        yield from same or (others.values() if len(others) > 1 else ())

    def _sex_of(self, node: Any) -> str:
        if node == self.a.pk and self.reading.sex:
            return self.reading.sex
        told = (sex for fact in self.bonds_with_kin for end, sex in fact.sexes if end == node)
        return next(told, "")
