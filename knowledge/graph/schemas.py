"""Input and output models of the relation graph."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, Field, FiniteFloat, model_validator

from knowledge.graph.models import NodeKind, SourceKind
from worlds.audiences import Visibility
from worlds.base_schemas import ResponseModel, StrictModel

Name = Annotated[str, Field(min_length=1, max_length=200)]


def in_utc(moment: datetime) -> datetime:
    """Return the moment with a time zone: without one it is UTC."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


BelievedAt = Annotated[
    Annotated[datetime, AfterValidator(in_utc)] | None,
    Field(description="Real time: as believed then (GM)."),
]


class Provenance(StrictModel):
    """Source, confidence, audience and validity of a fact. It is valid on the world days `since`
    ≤ day < `until`."""

    source_kind: SourceKind = SourceKind.ENGINE
    source_ref: Annotated[str, Field(max_length=200)] = ""
    source_note: Annotated[str, Field(max_length=4000)] = ""
    confidence: Annotated[FiniteFloat, Field(ge=0, le=1)] = 1.0
    visibility: Visibility = Visibility.GM
    known_to: list[Annotated[str, Field(max_length=120)]] = []
    since: FiniteFloat | None = None
    until: FiniteFloat | None = None

    @model_validator(mode="after")
    def _require_positive_length(self) -> Self:
        if self.since is not None and self.until is not None and self.until <= self.since:
            raise ValueError(f"until ({self.until}) must be after since ({self.since})")
        return self


class NodeFact(Provenance):
    id: UUID | None = None
    kind: NodeKind
    name: Name
    slug: Annotated[str, Field(max_length=120)] = ""
    aliases: Annotated[list[Name], Field(max_length=50)] = []
    lore_id: UUID | None = None


class EdgeFact(Provenance):
    """`src` and `dst` are ids, slugs or names. Of a fact that the same source has written before
    (same ends, relation, label and `since`), only the fields that are sent change: `until` ends it,
    `until: null` opens it again, and without `until` an end stays. With `succeeds` the fact ends,
    on the day `since`, the earlier facts of the same relation from the same entity."""

    src: Annotated[str | UUID, Field(union_mode="left_to_right")]
    relation: Annotated[str, Field(max_length=40)]
    dst: Annotated[str | UUID, Field(union_mode="left_to_right")]
    label: Annotated[str, Field(max_length=80)] = ""
    rests_on: Annotated[list[UUID], Field(max_length=50)] = []
    succeeds: bool = False

    @model_validator(mode="after")
    def _require_first_day(self) -> Self:
        if self.succeeds and self.since is None:
            raise ValueError("succeeds needs since: the day on which the earlier facts end")
        return self


class GraphFact(StrictModel):
    """A node, an edge, or both. The nodes of a batch are written before its edges."""

    node: NodeFact | None = None
    edge: EdgeFact | None = None

    @model_validator(mode="after")
    def _require_content(self) -> Self:
        if self.node is None and self.edge is None:
            raise ValueError("a fact is a node, an edge, or both")
        return self


def audiences_in_facts(facts: Iterable[GraphFact]) -> set[str]:
    """Return the audiences to whom `facts` are known."""
    parts = [part for fact in facts for part in (fact.node, fact.edge) if part]
    return {name for part in parts for name in part.known_to}


class EdgeSource(ResponseModel):
    """Only game masters get `ref` and `note`: these texts may mention what other audiences must
    not know."""

    kind: str
    ref: str = ""
    note: str = ""


class NodeOut(ResponseModel):
    id: UUID
    kind: str
    slug: str
    name: str
    since: float | None = None
    until: float | None = None
    depth: int = 0


class EdgeOut(ResponseModel):
    id: UUID
    src: UUID
    relation: str
    dst: UUID
    label: str = ""
    since: float | None = None
    until: float | None = None
    confidence: float = 1.0
    source: EdgeSource
    believed_from: datetime
    believed_until: datetime | None = None


class GraphNeighborhood(ResponseModel):
    """Everything at most `depth` edges away from `center`, which is the first of `nodes`."""

    center: UUID
    depth: int
    nodes: list[NodeOut]
    edges: list[EdgeOut]
    truncated: bool = False
    degraded: list[str] = []


class GraphPath(ResponseModel):
    """`nodes` in order from one end to the other, and the `edges` between them. Both are empty
    if there is no path."""

    nodes: list[NodeOut] = []
    edges: list[EdgeOut] = []
    degraded: list[str] = []


class FactOut(EdgeOut):
    """A fact with the names of its ends, for game masters."""

    src_name: str
    dst_name: str
    visibility: str
    known_to: list[str]
    flag: str = Field(description="Why a person should review it.")


class ContradictionOut(ResponseModel):
    """Two facts that cannot both hold, or a fact after the end of an entity, and what was decided
    about them. It is shown to game masters."""

    id: UUID
    rule: str
    says: str
    first: UUID
    second: UUID | None
    ended: UUID | None
    first_fact: FactOut
    second_fact: FactOut | None = None
    ended_entity: NodeOut | None = None
    state: Literal["open", "resolved"]
    how: str
    reason: str
    resolved_by: str
    opened_at: datetime
    resolved_at: datetime | None


class FactOutcome(ResponseModel):
    id: UUID
    outcome: Literal["created", "changed", "unchanged"]


class UpsertResult(ResponseModel):
    """One outcome per node and per edge given, in their order, and the open contradictions of
    these facts."""

    nodes: list[FactOutcome] = []
    edges: list[FactOutcome] = []
    conflicts: list[ContradictionOut] = []


class FactPage(ResponseModel):
    facts: list[FactOut]
    next_cursor: str | None = Field(default=None, description="Of the next page; null: the last.")
