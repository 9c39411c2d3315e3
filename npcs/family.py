"""Facts of the relation graph that the family field of an NPC states, and who its names mean."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _t

from knowledge.graph.models import FREE_RELATION, GraphEdge, GraphNode, NodeKind
from knowledge.graph.schemas import EdgeFact, GraphFact
from npcs.kinship import (
    KINSHIP_OF_LABEL,
    Kinship,
    kinship_of_word,
    relatives_of,
    validate_family,
)
from npcs.lookup import find_npcs
from npcs.models import FACT_SOURCE, NPC, fact_source_ref
from retrieval.text import fold_name
from worlds.audiences import Visibility
from worlds.models import World


def with_slugs(
    world: World, families: Iterable[list[dict[str, str]]]
) -> list[list[dict[str, str]]]:
    """Return the fields with the slugs of the NPCs that they name. A name that no NPC has yet, or
    that several have, stays a name."""
    families = list(families)
    names = {each["npc"] for family in families for each in family}
    found, _missing = find_npcs(world, sorted(names)) if names else ({}, {})
    return [
        [
            {**each, "npc": found[each["npc"]].slug if each["npc"] in found else each["npc"]}
            for each in family
        ]
        for family in families
    ]


def unknown_relatives(npc: NPC, sent: Collection[str]) -> list[str]:
    """What to tell who wrote the family, if it is among the fields `sent`: whom its names do not
    mean."""
    names = [each["npc"] for each in npc.family] if "family" in sent else []
    _found, missing = find_npcs(npc.world, names) if names else ({}, {})
    text = _t(
        "family: no NPC, or more than one, is called “%(name)s”. The relation is written as soon "
        "as one is."
    )
    return [text % {"name": name} for name in missing]


def parse_family(lines: Iterable[str]) -> list[dict[str, str]]:
    """Return lines such as `mother: Selka Voss` as the field has them. Raises `ValidationError`."""
    family = []
    for line in lines:
        word, _colon, name = line.partition(":")
        kinship = kinship_of_word(word)
        if kinship is None or not name.strip():
            text = _t(
                "“%(line)s”: write what the person is, a colon and the name. Known are: %(words)s."
            )
            words = ", ".join(str(each.label) for each in Kinship)
            raise ValidationError(text % {"line": line, "words": words})
        family.append({"relation": kinship.value, "npc": " ".join(name.split())})
    validate_family(family)
    return family


def family_lines(npc: NPC) -> list[str]:
    """The field as lines to read and to edit: names instead of slugs, where they are unique."""
    slugs = [each["npc"] for each in npc.family]
    if not slugs:
        return []
    everyone: Any = NPC.objects.filter(world=npc.world_id)
    names = dict(everyone.filter(slug__in=slugs).values_list("slug", "name"))
    same = everyone.filter(name__in=names.values()).values_list("name", flat=True)
    counts = Counter(same)
    unique = {slug: name for slug, name in names.items() if counts[name] == 1}
    return [
        f"{each.relation.label}: {unique.get(each.npc, each.npc)}"
        for each in relatives_of(npc.family)
    ]


@dataclass(frozen=True)
class FamilyFact:
    """What one line of the field states: what `src` is to `npc`."""

    npc: NPC
    src: UUID
    dst: UUID
    kinship: Kinship
    name: str

    @property
    def claim(self) -> tuple[UUID, UUID, str]:
        return self.src, self.dst, self.kinship.fact_label

    def as_fact(self) -> GraphFact:
        visibility, known_to = self.npc.audience_of_fact(
            GraphEdge(relation_id=FREE_RELATION, label=self.kinship.fact_label)
        )
        edge = EdgeFact(
            src=self.src,
            dst=self.dst,
            relation=FREE_RELATION,
            label=self.kinship.fact_label,
            visibility=Visibility(visibility),
            known_to=list(known_to),
            source_kind=FACT_SOURCE,
            source_ref=fact_source_ref(self.npc),
            source_note=f"{self.kinship.label}: {self.name}",
        )
        return GraphFact(edge=edge)


def family_facts(world: World, npcs: Collection[NPC]) -> dict[UUID, list[FamilyFact]]:
    """Return what the family fields of the NPCs state about people who are entities, by the id of
    the NPC."""
    related = [npc for npc in npcs if npc.family]
    if not related:
        return {}
    resolved = with_slugs(world, [npc.family for npc in related])
    slugs = {npc.slug for npc in related} | {each["npc"] for own in resolved for each in own}
    rows = GraphNode.objects.believed_now().filter(world=world, kind=NodeKind.CHARACTER)
    nodes = {node.slug: node for node in rows.filter(slug__in=slugs)}
    return {
        npc.pk: list(_facts_of(npc, family, nodes))
        for npc, family in zip(related, resolved, strict=True)
    }


def _facts_of(
    npc: NPC, family: list[dict[str, str]], nodes: Mapping[str, GraphNode]
) -> Iterable[FamilyFact]:
    own = nodes.get(npc.slug)
    for each in relatives_of(family):
        other = nodes.get(each.npc)
        if own and other and own.pk != other.pk:
            yield FamilyFact(npc, other.pk, own.pk, each.relation, other.name)


def claim_of(fact: GraphEdge) -> tuple[UUID, UUID, str]:
    return fact.src_id, fact.dst_id, fact.label


def is_of_family(fact: GraphEdge) -> bool:
    return fact.relation_id == FREE_RELATION and fact.label in KINSHIP_OF_LABEL


def waiting_for(world: World, npcs: Sequence[NPC]) -> list[NPC]:
    """The other NPCs whose family fields have a name that one of `npcs` has."""
    names = {fold_name(name) for npc in npcs for name in (npc.slug, npc.name, *npc.aliases)}
    rows: Any = NPC.objects.in_world(world).exclude(family=[])
    own = {npc.pk for npc in npcs}
    waiting = [
        pk
        for pk, family in rows.values_list("pk", "family")
        if pk not in own and names & {fold_name(each["npc"]) for each in family}
    ]
    return list(rows.filter(pk__in=waiting).select_related("world")) if waiting else []


def relatives_in(facts: Iterable[GraphEdge], slug: str) -> list[tuple[Kinship, GraphNode]]:
    """What other people are to the NPC with this slug, by the facts about both: each once, in the
    words of what was said of them if there are such."""
    found: dict[str, tuple[bool, Kinship, GraphNode]] = {}
    for fact in facts:
        if not is_of_family(fact):
            continue
        kinship, is_said = KINSHIP_OF_LABEL[fact.label], fact.dst.slug == slug
        other = fact.src if is_said else fact.dst
        if other.slug not in found or (is_said and not found[other.slug][0]):
            found[other.slug] = is_said, kinship if is_said else kinship.converse, other
    order = list(Kinship)
    relatives = [(kinship, other) for _is_said, kinship, other in found.values()]
    return sorted(relatives, key=lambda each: (order.index(each[0]), each[1].name))
