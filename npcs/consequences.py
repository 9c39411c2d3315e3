"""What follows from a change of a disposition for those who stand near the NPC, by the rules of the
world (docs/dispositions.md).

One step and no further: a consequence is never a cause, so circles of relations end at once.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import translation

from knowledge.fact_check.labelled_facts import labelled_facts
from knowledge.graph.labels import fact_sentence, relation_label
from knowledge.graph.models import FREE_RELATION, GraphEdge, GraphNode, NodeKind
from knowledge.graph.protocol import View
from npcs.large_changes import hold_large_changes
from npcs.models import NPC, DispositionChange, DispositionRules, OpinionChange
from npcs.score import WEIGHTS
from worlds.audiences import GM
from worlds.models import World

Rule = DispositionRules.Rule
RULE_OF_RELATION = {"ALLY_WITH": Rule.ALLY, "ENEMY_OF": Rule.ENEMY, "PART_OF": Rule.MEMBER}
KINSHIP = {"parent", "sibling", "grandparent", "uncle_or_aunt", "cousin", "spouse"}
"""Bonds of `knowledge/fact_check/data/bonds.yaml`."""
MOST_TIES = 40
"""A change reaches so many others at most, those with the largest share first."""
LONGEST_REASON = 2000


@dataclass(frozen=True)
class Tie:
    """Why `other` feels a change of an NPC, `percent` of it; `says` is the relation in words."""

    other: GraphNode
    rule: str
    percent: int
    says: str


def write_consequences(causes: Sequence[DispositionChange]) -> None:
    """Write what follows from `causes`, changes of one episode that count. Call under the party's
    lock, before the dispositions are recomputed.

    Fear passes on nothing, and of an NPC of whom the episode itself tells a change no other is
    concluded.
    """
    causes = [each for each in causes if each.episode and WEIGHTS[each.axis]]
    if not causes or causes[0].episode is None:
        return
    episode = causes[0].episode
    rules = DispositionRules.objects.filter(world=episode.world_id).first()
    if rules is None:
        return
    npcs = NPC.objects.in_bulk([each.npc_id for each in causes])
    ties = ties_of(episode.world, npcs.values(), rules, day=episode.in_world_at)
    slugs = {tie.other.slug for each in ties.values() for tie in each}
    named = DispositionChange.objects.filter(episode=episode, episode_version=episode.version)
    reached = NPC.objects.in_world(episode.world).filter(slug__in=slugs)
    people = {npc.slug: npc for npc in reached.exclude(pk__in=named.values("npc"))}
    entries, standings = [], []
    for cause in causes:
        for tie in ties[cause.npc_id]:
            # Towards zero: what is less than a point is nothing.
            delta = int(cause.delta * tie.percent / 100)
            if delta and tie.other.kind == NodeKind.FACTION:
                # A party that is a faction of the graph itself has no standing with itself.
                if tie.other.slug == episode.party.slug:
                    continue
                standings.append(standing_change(cause, tie, delta))
            elif delta and (npc := people.get(tie.other.slug)):
                entries.append(disposition_change(cause, tie, delta, npc))
    hold_large_changes(episode, entries)
    DispositionChange.objects.bulk_create(entries)
    OpinionChange.objects.bulk_create(standings)


def disposition_change(
    cause: DispositionChange, tie: Tie, delta: int, npc: NPC
) -> DispositionChange:
    kind = DispositionChange.Kind.CONSEQUENCE
    return DispositionChange(
        npc=npc, kind=kind, axis=cause.axis, **common_fields(cause, tie, delta)
    )


def standing_change(cause: DispositionChange, tie: Tie, delta: int) -> OpinionChange:
    kind = OpinionChange.Kind.CONSEQUENCE
    world = tie.other.world_id
    return OpinionChange(
        world_id=world, faction=tie.other, kind=kind, **common_fields(cause, tie, delta)
    )


def common_fields(cause: DispositionChange, tie: Tie, delta: int) -> dict[str, Any]:
    return {
        "party_id": cause.party_id,
        "delta": delta,
        "reason": f"{tie.says}: {cause.reason}"[:LONGEST_REASON],
        "cause": cause,
        "rule": tie.rule,
        "in_world_at": cause.in_world_at,
        "in_world_label": cause.in_world_label,
        "happened_at": cause.happened_at,
    }


def ties_of(
    world: World, npcs: Collection[NPC], rules: DispositionRules, *, day: float | None
) -> dict[UUID, list[Tie]]:
    """Return who feels a change of each of `npcs` on the world day `day`, by the NPC's id. Reads
    every fact, hidden ones as well: consequences are for game masters."""
    nodes = GraphNode.objects.believed_now().in_world(world).filter(kind=NodeKind.CHARACTER)
    node_of = {node.slug: node for node in nodes.filter(slug__in=[npc.slug for npc in npcs])}
    edges = list(edges_of(world, [node.pk for node in node_of.values()], day=day))
    factions = factions_in_lore(world, npcs)
    found = {}
    with translation.override(world.language):
        for npc in npcs:
            node = node_of.get(npc.slug)
            ties = ties_by_edges(node, edges, rules, day=day) if node else iter(())
            by_field = ties_by_faction(npc, factions, rules)
            found[npc.pk] = strongest_ties([*ties, *by_field])
    return found


def edges_of(world: World, nodes: Collection[UUID], *, day: float | None) -> Iterable[GraphEdge]:
    facts = View(world, GM).facts().valid_on(day)
    facts = facts.filter(Q(src__in=nodes) | Q(dst__in=nodes))
    edges: Iterable[GraphEdge] = facts.filter(relation__in=[*RULE_OF_RELATION, FREE_RELATION])
    return edges


def ties_by_edges(
    node: GraphNode, edges: Iterable[GraphEdge], rules: DispositionRules, *, day: float | None
) -> Iterator[Tie]:
    for edge in edges:
        if node.pk not in (edge.src_id, edge.dst_id):
            continue
        other = edge.dst if edge.src_id == node.pk else edge.src
        rule = rule_of(edge)
        is_above = rule != Rule.MEMBER or edge.src_id == node.pk
        if rule and is_above and has_not_ended(other, day) and rules.percent(rule):
            yield Tie(other, rule, rules.percent(rule), fact_sentence(edge))


def rule_of(edge: GraphEdge) -> str | None:
    """Return the rule for a fact; None: nobody feels anything for it."""
    if edge.relation_id in RULE_OF_RELATION:
        return RULE_OF_RELATION[edge.relation_id]
    is_kinship = any(fact.bond in KINSHIP for fact in labelled_facts([edge]))
    return Rule.KIN if is_kinship else None


def has_not_ended(node: GraphNode, day: float | None) -> bool:
    return node.until is None or (day is not None and node.until > day)


def factions_in_lore(world: World, npcs: Iterable[NPC]) -> dict[UUID, list[GraphNode]]:
    """Return the entities of the factions in the profiles of `npcs`, by their lore entry."""
    entries = {npc.faction_lore_id for npc in npcs if npc.faction_lore_id}
    nodes = GraphNode.objects.believed_now().in_world(world).filter(kind=NodeKind.FACTION)
    found: dict[UUID, list[GraphNode]] = defaultdict(list)
    for node in nodes.filter(lore__in=entries, until=None) if entries else ():
        if node.lore_id:
            found[node.lore_id].append(node)
    return found


def ties_by_faction(
    npc: NPC, factions: dict[UUID, list[GraphNode]], rules: DispositionRules
) -> Iterator[Tie]:
    percent = rules.percent(Rule.MEMBER)
    for node in factions.get(npc.faction_lore_id, ()) if npc.faction_lore_id else ():
        if percent:
            says = f"{npc.name} {relation_label('PART_OF')} {node.name}"
            yield Tie(node, Rule.MEMBER, percent, says)


def strongest_ties(ties: Sequence[Tie]) -> list[Tie]:
    """Return one tie to each other, the strongest first. Who is an ally and an enemy at once feels
    nothing: which of the two is true, a person decides."""
    by_other: dict[UUID, list[Tie]] = defaultdict(list)
    for tie in ties:
        by_other[tie.other.pk].append(tie)
    order = list(Rule)
    strongest = [
        max(each, key=lambda tie: (abs(tie.percent), -order.index(Rule(tie.rule)), tie.says))
        for each in by_other.values()
        if len({tie.percent > 0 for tie in each}) == 1
    ]
    strongest.sort(key=lambda tie: (-abs(tie.percent), tie.other.slug))
    return strongest[:MOST_TIES]
