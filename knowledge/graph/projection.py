"""What a row of the authority looks like in Neo4j, and how rows get there."""

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


def node_row(node: GraphNode) -> dict[str, Any]:
    return {**_identity(node), **{name: getattr(node, name) for name in NODE_PROPERTIES}}


def edge_row(edge: GraphEdge) -> dict[str, Any]:
    ends = {"src": str(edge.src_id), "dst": str(edge.dst_id), "relation": edge.relation_id}
    return {**_identity(edge), **ends, **{name: getattr(edge, name) for name in EDGE_PROPERTIES}}


def _identity(fact: GraphNode | GraphEdge) -> dict[str, Any]:
    until = fact.believed_until
    return {
        "id": str(fact.pk),
        "world": str(fact.world_id),
        "believed_from": microseconds(fact.believed_from),
        "believed_until": microseconds(until) if until else None,
    }


def microseconds(moment: datetime) -> int:
    """Return the moment as a whole number, so that both databases compare it exactly."""
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond


def create_schema(neo: Neo4j) -> None:
    """Create the constraints and indexes that the statements rely on."""
    for statement in (*cypher.SCHEMA, *(cypher.index_edges(code) for code in relation_codes())):
        neo.run(statement)


def relation_codes() -> list[str]:
    return list(
        GraphRelation.objects.filter(stored_as=None).order_by("code").values_list("code", flat=True)
    )


def copy_rows(neo: Neo4j, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
    """Put rows as they are now, nodes first, in one transaction."""
    by_kind = _grouped((node.kind, node_row(node)) for node in nodes)
    by_relation = _grouped((edge.relation_id, edge_row(edge)) for edge in edges)

    async def put(transaction: neo4j.AsyncManagedTransaction) -> None:
        for kind, rows in by_kind.items():
            await (await transaction.run(cypher.put_nodes(kind), rows=rows)).consume()
        for relation, rows in by_relation.items():
            answer = await transaction.run(cypher.put_edges(relation), rows=rows)
            written = await answer.single(strict=True)
            if written["written"] < len(rows):
                raise RuntimeError(
                    f"{len(rows) - written['written']} edges found no ends in Neo4j: rebuild it"
                )

    neo.write(put)


def delete_rows(neo: Neo4j, nodes: Iterable[UUID], edges: Iterable[UUID]) -> None:
    node_ids, edge_ids, codes = [str(n) for n in nodes], [str(e) for e in edges], relation_codes()

    async def drop(transaction: neo4j.AsyncManagedTransaction) -> None:
        for code in codes if edge_ids else ():
            await (await transaction.run(cypher.forget_edges(code), ids=edge_ids)).consume()
        await (await transaction.run(cypher.FORGET_NODES, ids=node_ids)).consume()

    if node_ids or edge_ids:
        neo.write(drop)


def _grouped(pairs: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for key, row in pairs:
        groups[key].append(row)
    return groups
