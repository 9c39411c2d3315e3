"""Which fact of the graph a claim states."""

from dataclasses import dataclass

from knowledge.fact_check.lexicon import ClaimKind
from knowledge.graph.models import FREE_RELATION, GraphNode
from knowledge.graph.relations import Relations


@dataclass(frozen=True)
class StatedFact:
    src: GraphNode
    relation: str
    dst: GraphNode
    label: str = ""


def stated_fact(
    kind: ClaimKind, a: GraphNode, b: GraphNode, relations: Relations
) -> StatedFact | None:
    """Return the fact by which `a` has the relation `kind` to `b`: of its readings the first whose
    relation may join the two. None if there is none."""
    for reading in kind.readings:
        if reading.bond and not reading.labels:
            continue
        # The label of a bond says what the first name is to the second.
        turned = reading.inverse and not reading.bond
        src, dst = (b, a) if turned else (a, b)
        code = reading.relation or FREE_RELATION
        relation = relations.get(code)
        if relation and (src.kind, dst.kind) in relation.joins:
            return StatedFact(src, code, dst, reading.labels[0] if reading.labels else "")
    return None
