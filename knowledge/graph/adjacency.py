"""The entities one edge away from some entities now: for profiles, art cards and the graph leg of
a lore search."""

from collections import defaultdict
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.protocol import View


@dataclass(frozen=True)
class Neighbor:
    """An adjacent entity, and the facts that lead to it, the most confident first."""

    node: GraphNode
    facts: list[GraphEdge]


def direct_neighbors(nodes: set[UUID], view: View) -> list[Neighbor]:
    """Return the entities adjacent to any of `nodes`, without these, those with most facts
    first. Only what `view`'s audience may know counts."""
    if not nodes:
        return []
    edges = view.facts().valid_on(None).filter(Q(src__in=nodes) | Q(dst__in=nodes))
    facts: dict[GraphNode, list[GraphEdge]] = defaultdict(list)
    for edge in edges.order_by("-confidence", "-believed_from", "pk"):
        for end in {edge.src, edge.dst}:
            if end.pk not in nodes:
                facts[end].append(edge)
    neighbors = [Neighbor(node, its_facts) for node, its_facts in facts.items()]
    return sorted(neighbors, key=lambda near: (-len(near.facts), near.node.name))


def neighbor_lore_ids(question: str, view: View) -> list[UUID]:
    """Return the lore entries of the neighbors of the entities that `question` names, in the order
    of `direct_neighbors`, without the entries of the named entities.

    Whether the audience may read an entry is not checked here. The caller checks it before it cuts
    the list, else a hidden entry would displace a visible one.
    """
    linker = EntityLinker.for_texts(view.world, [question], view.audience)
    mentioned_nodes = linker.mentioned_nodes(question)
    own = {node.lore_id for node in mentioned_nodes}
    neighbors = direct_neighbors({node.pk for node in mentioned_nodes}, view)
    lore_ids = [near.node.lore_id for near in neighbors]
    return [pk for pk in lore_ids if pk and pk not in own]
