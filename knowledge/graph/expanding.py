"""Lore near what a question names: one step along the graph. A third leg for a search of lore."""

from collections import Counter
from uuid import UUID

from django.db.models import Q

from knowledge.graph.base import View
from knowledge.graph.linking import Names
from knowledge.graph.models import GraphEdge, GraphNode

MOST_NEIGHBOURS = 10


def lore_near(question: str, view: View, *, limit: int = MOST_NEIGHBOURS) -> list[UUID]:
    """Return the lore entries of the present neighbours of the entities that `question` names, those first to whom most
    facts lead; never the named ones' own, and only what the audience may know of."""
    names = Names.said_in(view.world, [question], view.audience)
    named = {mention.matches[0].key for mention in names.mentions(question) if not mention.ambiguous}
    if not named:
        return []
    ties = Counter(end for edge in _facts_of(named, view) for end in (edge.src, edge.dst) if end.pk not in named)
    with_lore = sorted((node for node in ties if node.lore_id), key=lambda node: (-ties[node], node.name))
    own = {names.by_id[key].lore_id for key in named if isinstance(key, UUID)}
    return [node.lore_id for node in with_lore if node.lore_id and node.lore_id not in own][:limit]


def _facts_of(named: set[object], view: View) -> list[GraphEdge]:
    nodes = GraphNode.objects.in_world(view.world).visible_to(view.audience).filter(believed_until=None)
    edges = GraphEdge.objects.in_world(view.world).visible_to(view.audience).filter(believed_until=None, until=None)
    touching = edges.filter(Q(src__in=named) | Q(dst__in=named), src__in=nodes, dst__in=nodes)
    return list(touching.select_related("src", "dst"))
