"""Rows of either store as the API's output models."""

from collections.abc import Mapping
from typing import Any

from knowledge.graph.contradiction_models import Contradiction
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.schemas import ContradictionOut, EdgeOut, EdgeSource, FactOut, NodeOut
from retrieval.text import shown_names

Row = Mapping[str, Any]
NODE_COLUMNS = ("id", "kind", "slug", "name", "since", "until")


def to_node_out(row: Row, depth: int = 0) -> NodeOut:
    # model_construct skips validation: the rows are our own, and a neighborhood has hundreds of
    # them.
    return NodeOut.model_construct(
        **{name: row[name] for name in ("id", "kind", "slug", "name")},
        since=row.get("since"),
        until=row.get("until"),
        depth=depth,
    )


def node_of_model(node: GraphNode) -> NodeOut:
    return to_node_out({name: getattr(node, name) for name in NODE_COLUMNS})


def to_edge_out(row: Row, *, is_gm: bool) -> EdgeOut:
    """Present an edge. The source's texts and the end of belief are shown to game masters only."""
    ref, note = (row["source_ref"], row["source_note"]) if is_gm else ("", "")
    return EdgeOut.model_construct(
        **{name: row[name] for name in ("id", "src", "relation", "dst", "label", "confidence")},
        since=row.get("since"),
        until=row.get("until"),
        source=EdgeSource.model_construct(kind=row["source_kind"], ref=ref, note=note),
        believed_from=row["believed_from"],
        believed_until=row.get("believed_until") if is_gm else None,
    )


def to_fact_out(fact: GraphEdge) -> FactOut:
    """Present a fact to a game master."""
    source = EdgeSource(kind=fact.source_kind, ref=fact.source_ref, note=fact.source_note)
    return FactOut(
        id=fact.pk,
        src=fact.src_id,
        relation=fact.relation_id,
        dst=fact.dst_id,
        label=fact.label,
        since=fact.since,
        until=fact.until,
        confidence=fact.confidence,
        source=source,
        believed_from=fact.believed_from,
        believed_until=fact.believed_until,
        src_name=fact.src.name,
        dst_name=fact.dst.name,
        visibility=fact.visibility,
        known_to=shown_names(fact.known_to),
        flag=fact.flag,
    )


def to_contradiction_out(contradiction: Contradiction) -> ContradictionOut:
    return ContradictionOut(
        id=contradiction.pk,
        rule=contradiction.rule_id,
        says=contradiction.rule.in_words,
        first=contradiction.first_id,
        second=contradiction.second_id,
        ended=contradiction.ended_id,
        first_fact=to_fact_out(contradiction.first),
        second_fact=to_fact_out(contradiction.second) if contradiction.second else None,
        ended_entity=node_of_model(contradiction.ended) if contradiction.ended else None,
        state="open" if contradiction.state == Contradiction.State.OPEN else "resolved",
        how=contradiction.how,
        reason=contradiction.reason,
        resolved_by=contradiction.resolved_by,
        opened_at=contradiction.opened_at,
        resolved_at=contradiction.resolved_at,
    )
