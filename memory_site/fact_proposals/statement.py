"""What a proposal proposes, as it is stored, shown and changed."""

import hashlib
import json
from typing import Annotated, Literal
from uuid import UUID

from django.utils.translation import pgettext_lazy
from pydantic import Field, FiniteFloat

from knowledge.extraction.findings import Finding
from knowledge.graph.labels import relation_label
from knowledge.graph.models import GraphNode, NodeKind
from retrieval.text import fold_name
from worlds.base_schemas import StrictModel

Name = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$")]
EVENT_LABELS = {
    "born": pgettext_lazy("date", "born"),
    "founded": pgettext_lazy("date", "founded"),
    "built": pgettext_lazy("date", "built"),
    "happened": pgettext_lazy("date", "happened"),
    "died": pgettext_lazy("date", "died"),
    "destroyed": pgettext_lazy("date", "destroyed"),
}
EVENTS = tuple(EVENT_LABELS)


class ProposedStatement(StrictModel):
    """The statement of a proposal. A fact joins `entity` to `other`; the ids are those of entities
    that the world has. A date is of the event `what`, as the text has it (`value`), or as a world
    day (`day`)."""

    entity: Name = Field(min_length=1, description="The name that the statement is about.")
    entity_id: UUID | None = Field(default=None, description="Its id, if the world has it.")
    entity_kind: NodeKind | None = Field(default=None, description="What it is.")
    other: Name = Field(default="", description="The other end of a fact.")
    other_id: UUID | None = Field(default=None, description="The id of the other end.")
    other_kind: NodeKind | None = Field(default=None, description="What the other end is.")
    relation: Annotated[str, Field(max_length=40)] = ""
    label: Annotated[str, Field(max_length=80)] = ""
    alias: Name = Field(default="", description="Another name of the entity.")
    what: Literal["", "born", "founded", "built", "happened", "died", "destroyed"] = ""
    value: Annotated[str, Field(max_length=60)] = ""
    day: FiniteFloat | None = Field(default=None, description="World day; it wins over `value`.")


def statement_of(finding: Finding, known: set[UUID]) -> ProposedStatement:
    node, other = finding.node, finding.other

    def id_of(row: GraphNode | None) -> UUID | None:
        return row.pk if row and row.pk in known else None

    return ProposedStatement(
        entity=node.name,
        entity_id=id_of(node),
        entity_kind=NodeKind(node.kind),
        other=other.name if other else "",
        other_id=id_of(other),
        other_kind=NodeKind(other.kind) if other else None,
        relation=finding.relation,
        label=finding.label,
        alias=finding.alias[:200],
        what=finding.what,
        value=finding.value,
    )


def key_of(kind: str, source_id: UUID, quote: str, statement: ProposedStatement) -> str:
    """Equal for the same statement of the same sentence of a source. By names, because an id comes
    with the acceptance of a new name."""
    words = fold_name(quote)
    parts = [
        *(kind, str(source_id), words, fold_name(statement.entity), fold_name(statement.other)),
        *(statement.relation, statement.label, fold_name(statement.alias)),
        *(statement.what, statement.value if kind == "date" else ""),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def sentence_of(kind: str, statement: ProposedStatement) -> str:
    """The proposal in words, for lists and logs."""
    if kind == "fact":
        words = relation_label(statement.relation, statement.label)
        return f"{statement.entity} {words} {statement.other}"
    what = str(EVENT_LABELS.get(statement.what, ""))
    details = [statement.alias, what, statement.value]
    return f"{statement.entity}: {' '.join(filter(None, details))}".rstrip(": ")
