"""Lore near what a question names: one step along the graph. A third leg for a search of lore."""

from collections import defaultdict
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.protocol import View


def neighbor_lore_ids(question: str, view: View) -> list[UUID]:
    """Return the lore entries of the present neighbours of the entities that `question` names, those first to whom most
    facts lead; never the named ones' own. Only facts and entities that the audience may know of count, but whether it
    may read an entry is for the caller to ask: cut the list after that, or a hidden entry takes another's place."""
    names = EntityLinker.for_texts(view.world, [question], view.audience)
    named = {
        mention.matches[0].key for mention in names.mentions(question) if not mention.ambiguous
    }
    own = {names.by_id[key].lore_id for key in named if isinstance(key, UUID)}
    near = [
        tie.node.lore_id
        for tie in direct_neighbors({key for key in named if isinstance(key, UUID)}, view)
    ]
    return [pk for pk in near if pk and pk not in own]


@dataclass(frozen=True)
class Neighbor:
    """What stands one step away, and the facts that lead there, the surest first."""

    node: GraphNode
    facts: list[GraphEdge]


def direct_neighbors(nodes: set[UUID], view: View) -> list[Neighbor]:
    """Return what stands one step from any of `nodes` now, as the audience may know, most facts first; not `nodes`."""
    if not nodes:
        return []
    ties: dict[GraphNode, list[GraphEdge]] = defaultdict(list)
    for edge in _facts_of(nodes, view):
        for end in {edge.src, edge.dst}:
            if end.pk not in nodes:
                ties[end].append(edge)
    return sorted(
        (Neighbor(*tie) for tie in ties.items()),
        key=lambda near: (-len(near.facts), near.node.name),
    )


def _facts_of(nodes: set[UUID], view: View) -> list[GraphEdge]:
    shown = (
        GraphNode.objects.in_world(view.world).visible_to(view.audience).filter(believed_until=None)
    )
    edges = (
        GraphEdge.objects.in_world(view.world)
        .visible_to(view.audience)
        .filter(believed_until=None, until=None)
    )
    touching = edges.filter(Q(src__in=nodes) | Q(dst__in=nodes), src__in=shown, dst__in=shown)
    return list(
        touching.select_related("src", "dst").order_by("-confidence", "-believed_from", "pk")
    )
