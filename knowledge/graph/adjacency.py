"""The entities one edge away from some entities now: for profiles, art cards and the graph leg of
a lore search."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q

from knowledge.graph import sql
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.postgres_store import fetch
from knowledge.graph.protocol import View
from knowledge.graph.read_metrics import POSTGRES, counted_read


@dataclass(frozen=True)
class Neighbor:
    """An adjacent entity, and the facts that lead to it, the most confident first."""

    node: GraphNode
    facts: list[GraphEdge]


@counted_read(POSTGRES, "adjacent")
def direct_neighbors(nodes: set[UUID], view: View) -> list[Neighbor]:
    """Return the entities adjacent to any of `nodes`, without these, those with most facts
    first. Only what `view`'s audience may know counts."""
    if not nodes:
        return []
    edges = view.facts().valid_on(None).filter(Q(src__in=nodes) | Q(dst__in=nodes))
    edges = edges.order_by("-confidence", "-believed_from", "pk")
    return _neighbors_along(edges, lambda node: node.pk in nodes)


@counted_read(POSTGRES, "adjacent")
def neighbors_of_slug(slug: str, view: View) -> list[Neighbor]:
    """Return the entities adjacent to the one with this slug, like `direct_neighbors`, with one
    statement that needs no compiling. Of the entities only ids, slugs and names are read."""
    facts = [_fact_of_row(row, view) for row in fetch(sql.FACTS_OF_SLUG, view, slug=slug)]
    return _neighbors_along(facts, lambda node: node.slug == slug)


def _fact_of_row(row: dict[str, Any], view: View) -> GraphEdge:
    src, dst = (
        GraphNode(
            pk=row[f"{end}_id"],
            world_id=view.world.pk,
            slug=row[f"{end}_slug"],
            name=row[f"{end}_name"],
        )
        for end in ("src", "dst")
    )
    columns = ("relation_id", "label", "written_as", "since")
    return GraphEdge(pk=row["id"], src=src, dst=dst, **{name: row[name] for name in columns})


def _neighbors_along(
    facts: Iterable[GraphEdge], is_own: Callable[[GraphNode], bool]
) -> list[Neighbor]:
    """Group `facts`, in their order, by the end that is not among the own ones."""
    facts_to: dict[GraphNode, list[GraphEdge]] = defaultdict(list)
    for fact in facts:
        for end in {fact.src, fact.dst}:
            if not is_own(end):
                facts_to[end].append(fact)
    neighbors = [Neighbor(node, its_facts) for node, its_facts in facts_to.items()]
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
