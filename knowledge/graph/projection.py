"""The form of PostgreSQL rows in Neo4j, and the writes that copy and delete them there."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import neo4j

from knowledge.graph import cypher
from knowledge.graph.models import GraphEdge, GraphNode, GraphRelation
from knowledge.graph.neo4j_driver import Neo4j

SHARED = ("since", "until", "visibility", "known_to")
NODE_PROPERTIES = ("kind", "slug", "name", *SHARED)
EDGE_PROPERTIES = ("label", "confidence", "source_kind", "source_ref", "source_note", *SHARED)
FOREVER = 2**62
"""A moment after every `believed_until`, in microseconds."""


def to_node_row(node: GraphNode) -> dict[str, Any]:
    return {**shared_row(node), **{name: getattr(node, name) for name in NODE_PROPERTIES}}


def to_edge_row(edge: GraphEdge) -> dict[str, Any]:
    ends = {"src": str(edge.src_id), "dst": str(edge.dst_id), "relation": edge.relation_id}
    return {**shared_row(edge), **ends, **{name: getattr(edge, name) for name in EDGE_PROPERTIES}}


def shared_row(fact: GraphNode | GraphEdge) -> dict[str, Any]:
    until = fact.believed_until
    return {
        "id": str(fact.pk),
        "world": str(fact.world_id),
        "believed_from": to_microseconds(fact.believed_from),
        "believed_until": to_microseconds(until) if until else None,
    }


def to_microseconds(moment: datetime) -> int:
    """Return the moment as a whole number, so that both databases compare it exactly."""
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond


def create_schema(neo: Neo4j) -> None:
    """Create the constraints and indexes that the statements rely on."""
    for statement in (*cypher.SCHEMA, *map(cypher.index_edges, relation_codes())):
        neo.run(statement)


def relation_codes() -> list[str]:
    relations = GraphRelation.objects.filter(stored_as=None)
    return list(relations.order_by("code").values_list("code", flat=True))


def copy_rows(neo: Neo4j, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
    """Create or update these rows in Neo4j in one transaction. Raises RuntimeError if an edge's
    node is missing there."""
    # A statement names its label or relationship type, so there is one per kind and relation.
    node_rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for node in nodes:
        node_rows[cypher.merge_nodes(node.kind)].append(to_node_row(node))
    edge_rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for edge in edges:
        edge_rows[cypher.merge_edges(edge.relation_id)].append(to_edge_row(edge))

    async def merge(tx: neo4j.AsyncManagedTransaction) -> None:
        # Nodes first: an edge is merged between nodes that exist.
        for statement, batch in node_rows.items():
            await (await tx.run(statement, rows=batch)).consume()
        for statement, batch in edge_rows.items():
            count = (await (await tx.run(statement, rows=batch)).single(strict=True))["edges"]
            if count < len(batch):
                raise RuntimeError(
                    f"{len(batch) - count} edges have no nodes in Neo4j: rebuild the mirror"
                )

    neo.write(merge)


def delete_rows(neo: Neo4j, nodes: Iterable[UUID], edges: Iterable[UUID]) -> None:
    node_ids, edge_ids, codes = [str(n) for n in nodes], [str(e) for e in edges], relation_codes()

    async def delete(tx: neo4j.AsyncManagedTransaction) -> None:
        for code in codes if edge_ids else ():
            await (await tx.run(cypher.delete_edges(code), ids=edge_ids)).consume()
        await (await tx.run(cypher.DELETE_NODES, ids=node_ids)).consume()

    if node_ids or edge_ids:
        neo.write(delete)
