"""Facts of the relation graph that the fields of an NPC state: its faction and its home."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.text import capfirst
from django.utils.translation import override

from knowledge.graph.fact_store import follow_audience, retract_facts
from knowledge.graph.models import FREE_RELATION, GraphEdge, GraphNode, NodeKind
from knowledge.graph.schemas import EdgeFact, GraphFact
from knowledge.graph.upsert import upsert_facts
from npcs.family import FamilyFact, claim_of, family_facts, is_of_family, waiting_for
from npcs.models import FACT_SOURCE, HOME_LABEL, NPC, fact_source_ref
from worlds.audiences import Visibility
from worlds.models import World

BECAUSE = "the page of the NPC no longer says so"


@dataclass(frozen=True)
class FactField:
    """A field of NPCs that states a fact, of the kind of entity that it may name."""

    name: str
    relation: str
    label: str
    kind: NodeKind

    @property
    def columns(self) -> set[str]:
        return {self.name, f"{self.name}_lore"}

    def states(self, fact: GraphEdge) -> bool:
        return (fact.relation_id, fact.label) == (self.relation, self.label)

    def note(self, npc: NPC) -> str:
        """What the page of the NPC says, in the language of the world."""
        column: Any = NPC._meta.get_field(self.name)
        with override(npc.world.language):
            return f"{capfirst(column.verbose_name)}: {getattr(npc, self.name)}"


FIELDS = (
    FactField("faction", "PART_OF", "", NodeKind.FACTION),
    # Whereabouts are LOCATED_IN, of which there is one at a time: who travels still lives at home.
    FactField("home", FREE_RELATION, HOME_LABEL, NodeKind.LOCATION),
)
AUDIENCE = {"visibility", "known_to", "faction_visibility"}
FIELD_COLUMNS = set[str]().union(*(each.columns for each in FIELDS))
RELEVANT = AUDIENCE | {"family"} | FIELD_COLUMNS
NAMES = {"name", "aliases"}


def write_field_facts(world: World, changes: Mapping[NPC, Collection[str]]) -> None:
    """Write what the changed fields of NPCs state, and retract what they stated before; facts that
    a person has changed by hand stay as they are. The entities of the NPCs are written. Call within
    a transaction that holds the lock of the graph."""
    changed = {npc: set(fields) for npc, fields in changes.items() if RELEVANT & set(fields)}
    renamed = [npc for npc, fields in changes.items() if NAMES & set(fields)]
    for npc in waiting_for(world, renamed) if renamed else ():
        changed.setdefault(npc, set()).add("family")
    if not changed:
        return
    stated = facts_of_fields(world, changed)
    nodes = FieldNodes.load(world, changed)
    families = family_facts(world, [npc for npc, fields in changed.items() if "family" in fields])
    obsolete: list[GraphEdge] = []
    new: list[GraphFact] = []
    for npc, fields in changed.items():
        kept = [
            fact for fact in stated[npc.pk] if not is_obsolete(fact, npc, fields, nodes, families)
        ]
        obsolete += [fact for fact in stated[npc.pk] if fact not in kept]
        for fact in kept:
            follow_audience(fact, *npc.audience_of_fact(fact))
        claims = {claim_of(fact) for fact in kept}
        for field in (each for each in FIELDS if each.columns & fields):
            target = nodes.target(npc, field)
            if target and not any(field.states(fact) for fact in kept):
                new += nodes.fact(npc, field, target)
        new += [each.as_fact() for each in families.get(npc.pk, ()) if each.claim not in claims]
    if obsolete:
        retract_facts(obsolete, because=BECAUSE)
    if new:
        upsert_facts(world, new)


def is_obsolete(
    fact: GraphEdge,
    npc: NPC,
    fields: Collection[str],
    nodes: "FieldNodes",
    families: Mapping[UUID, Collection[FamilyFact]],
) -> bool:
    """Whether one of the changed `fields` stated the fact, and does no longer."""
    if is_of_family(fact):
        claims = {each.claim for each in families.get(npc.pk, ())}
        return "family" in fields and claim_of(fact) not in claims
    for field in FIELDS:
        if field.states(fact) and field.columns & set(fields):
            target = nodes.target(npc, field)
            return target is None or fact.dst_id != target.pk
    return False


def facts_of_fields(world: World, npcs: Collection[NPC]) -> dict[UUID, list[GraphEdge]]:
    """Return what the fields of the NPCs state now, by the ids of the NPCs."""
    ids = {fact_source_ref(npc): npc.pk for npc in npcs}
    facts = GraphEdge.objects.believed_now().filter(
        world=world, source_kind=FACT_SOURCE, source_ref__in=ids, edited_by=""
    )
    found: dict[UUID, list[GraphEdge]] = defaultdict(list)
    for fact in facts:
        found[ids[fact.source_ref]].append(fact)
    return found


@dataclass(frozen=True)
class FieldNodes:
    """The entities of NPCs by slug, and those of the entries that their fields name."""

    people: Mapping[str, GraphNode]
    places: Mapping[tuple[Any, str], GraphNode]

    @classmethod
    def load(cls, world: World, npcs: Collection[NPC]) -> "FieldNodes":
        nodes = GraphNode.objects.believed_now().filter(world=world)
        people = nodes.filter(slug__in=[npc.slug for npc in npcs], kind=NodeKind.CHARACTER)
        entries = {entry for npc in npcs for entry in (npc.faction_lore_id, npc.home_lore_id)}
        places = nodes.filter(lore__in=entries - {None}).order_by("-pk")
        return cls(
            {node.slug: node for node in people},
            {(node.lore_id, node.kind): node for node in places},
        )

    def target(self, npc: NPC, field: FactField) -> GraphNode | None:
        return self.places.get((getattr(npc, f"{field.name}_lore_id"), field.kind))

    def fact(self, npc: NPC, field: FactField, target: GraphNode) -> Iterator[GraphFact]:
        node = self.people.get(npc.slug)
        if node is None:
            return
        visibility, known_to = npc.audience_of_fact(
            GraphEdge(relation_id=field.relation, label=field.label)
        )
        edge = EdgeFact(
            src=node.pk,
            dst=target.pk,
            relation=field.relation,
            label=field.label,
            visibility=Visibility(visibility),
            known_to=list(known_to),
            source_kind=FACT_SOURCE,
            source_ref=fact_source_ref(npc),
            source_note=field.note(npc),
        )
        yield GraphFact(edge=edge)


def all_fields(npcs: Sequence[NPC]) -> dict[NPC, set[str]]:
    """As if every field of the NPCs had changed."""
    return dict.fromkeys(npcs, RELEVANT | NAMES)
