"""The entities one edge away from some entities now, from the configured store: for profiles, art
cards, the graph leg of a lore search and the preparation of a session."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from knowledge.graph import sql
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.postgres_store import fetch
from knowledge.graph.protocol import View
from knowledge.graph.read_metrics import POSTGRES, counted_read
from knowledge.graph.store_selection import read_adjacent, tools_neo4j


@dataclass(frozen=True)
class Neighbor:
    """An adjacent entity, and the facts that lead to it, the most confident first."""

    node: GraphNode
    facts: list[GraphEdge]


@dataclass(frozen=True)
class Neighbors:
    """Adjacent entities, those with most facts first. `degraded` names the part that was down."""

    nearest: list[Neighbor] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class NeighborLore:
    """The lore entries of adjacent entities, in their order."""

    entries: list[UUID]
    degraded: list[str]


def direct_neighbors(nodes: set[UUID], view: View) -> Neighbors:
    """Return the entities adjacent to any of `nodes`, without these. Only what `view`'s audience
    may know counts."""
    if not nodes:
        return Neighbors()
    adjacent = read_adjacent(view, nodes)
    nearest = _neighbors_along(adjacent.facts, lambda node: node.pk in nodes)
    return Neighbors(nearest, adjacent.degraded)


def neighbors_of_slug(slug: str, view: View) -> Neighbors:
    """Return the entities adjacent to the one with this slug, like `direct_neighbors`. Of the
    entities only ids, slugs and names are read for certain."""
    if tools_neo4j():
        return direct_neighbors(
            set(view.entities().filter(slug=slug).values_list("pk", flat=True)), view
        )
    nearest = _neighbors_along(read_facts_of_slug(slug, view), lambda node: node.slug == slug)
    return Neighbors(nearest)


@counted_read(POSTGRES, "adjacent")
def read_facts_of_slug(slug: str, view: View) -> list[GraphEdge]:
    """Return the facts about the entity with this slug by one statement that needs no compiling."""
    return [_fact_of_row(row, view) for row in fetch(sql.FACTS_OF_SLUG, view, slug=slug)]


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


def neighbor_lore(question: str, view: View) -> NeighborLore:
    """Return the lore entries of the neighbors of the entities that `question` names, in the order
    of `direct_neighbors`, without the entries of the named entities.

    Whether the audience may read an entry is not checked here. The caller checks it before it cuts
    the list, else a hidden entry would displace a visible one.
    """
    linker = EntityLinker.for_texts(view.world, [question], view.audience)
    mentioned_nodes = linker.mentioned_nodes(question)
    own = {node.lore_id for node in mentioned_nodes}
    neighbors = direct_neighbors({node.pk for node in mentioned_nodes}, view)
    lore_ids = [near.node.lore_id for near in neighbors.nearest]
    return NeighborLore([pk for pk in lore_ids if pk and pk not in own], neighbors.degraded)
