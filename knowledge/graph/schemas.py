"""What goes into the graph and what comes out of it."""

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import ConfigDict, Field, FiniteFloat, model_validator

from knowledge.graph.models import NodeKind, SourceKind
from worlds.audiences import Visibility
from worlds.base_schemas import RequestModel, ResponseModel

Name = Annotated[str, Field(min_length=1, max_length=200)]


class Closed(RequestModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Shown(ResponseModel):
    model_config = ConfigDict(frozen=True)


class Provenance(Closed):
    """Who says so, how surely, who may know, and when it holds: world days, `until` not included."""

    source_kind: SourceKind = SourceKind.ENGINE
    source_ref: Annotated[str, Field(max_length=200)] = ""
    source_note: Annotated[str, Field(max_length=4000)] = ""
    confidence: Annotated[FiniteFloat, Field(ge=0, le=1)] = 1.0
    visibility: Visibility = Visibility.GM
    known_to: list[Annotated[str, Field(max_length=120)]] = []
    since: FiniteFloat | None = None
    until: FiniteFloat | None = None

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> Self:
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
    """`src` and `dst` are ids, slugs or names. `succeeds`: from `since` on, this holds instead of what held before."""

    src: Annotated[str | UUID, Field(union_mode="left_to_right")]
    relation: Annotated[str, Field(max_length=40)]
    dst: Annotated[str | UUID, Field(union_mode="left_to_right")]
    label: Annotated[str, Field(max_length=80)] = ""
    rests_on: Annotated[list[UUID], Field(max_length=50)] = []
    succeeds: bool = False

    @model_validator(mode="after")
    def _knows_from_when(self) -> Self:
        if self.succeeds and self.since is None:
            raise ValueError("succeeds wants since: the day from which on this holds instead")
        return self


class GraphFact(Closed):
    """A node, an edge, or both; the nodes of one batch are written before its edges."""

    node: NodeFact | None = None
    edge: EdgeFact | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.node is None and self.edge is None:
            raise ValueError("a fact is a node, an edge, or both")
        return self


class EdgeSource(Shown):
    """`ref` and `note` are for game masters only: they may speak of what others must not know."""

    kind: str
    ref: str = ""
    note: str = ""


class NodeOut(Shown):
    id: UUID
    kind: str
    slug: str
    name: str
    since: float | None = None
    until: float | None = None
    depth: int = 0


class EdgeOut(Shown):
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


class GraphNeighborhood(Shown):
    """All that is at most `depth` steps from `center`, which is the first of `nodes`."""

    center: UUID
    depth: int
    nodes: list[NodeOut]
    edges: list[EdgeOut]
    truncated: bool = False
    degraded: list[str] = []


class GraphPath(Shown):
    """`nodes` from one end to the other; `edges` between them, one fewer. No path: both empty."""

    nodes: list[NodeOut] = []
    edges: list[EdgeOut] = []
    degraded: list[str] = []

    @property
    def length(self) -> int | None:
        return len(self.edges) if self.nodes else None


class ContradictionOut(Shown):
    id: UUID
    rule: str
    says: str
    first: UUID
    second: UUID | None
    ended: UUID | None


class FactOutcome(Shown):
    id: UUID
    outcome: Literal["created", "changed", "unchanged"]


class UpsertResult(Shown):
    """One entry per node and per edge given, in order; and the contradictions that the write opened or met."""

    nodes: list[FactOutcome] = []
    edges: list[FactOutcome] = []
    conflicts: list[ContradictionOut] = []

    @property
    def contested(self) -> set[UUID]:
        return {
            side
            for conflict in self.conflicts
            for side in (conflict.first, conflict.second)
            if side
        }
