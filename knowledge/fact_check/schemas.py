"""What `lore_assert` is asked and what it answers."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, FiniteFloat

from knowledge.graph.schemas import BelievedAt
from worlds.base_schemas import ReadAs, ResponseModel, StrictModel
from worlds.tool_args import ToolRequest

Text = Annotated[str, Field(min_length=1, max_length=500)]


class Triple(StrictModel):
    """`relation` is one of the graph's (ALLY_WITH, OWNS, …) or the label of a fact (leads,
    sister of)."""

    subject: Annotated[str, Field(min_length=1, max_length=200)]
    relation: Annotated[str, Field(min_length=1, max_length=80)]
    object: Annotated[str, Field(min_length=1, max_length=200)]


class Assertion(ToolRequest):
    fact: Annotated[
        Text | Triple, Field(description="A plain statement, or subject, relation and object.")
    ]
    at: Annotated[FiniteFloat | str | None, Field(description="World day or date.")] = None
    believed_at: BelievedAt = None


class FactSource(ResponseModel):
    """One fact that decided, in words, and who says it. `ref`, `note` and `confidence` are for
    game masters."""

    id: UUID
    statement: str
    since: float | None = None
    until: float | None = None
    source: str
    ref: str | None = None
    note: str | None = None
    confidence: float | None = None
    title: str | None = None
    text: str | None = None


class LoreAssertResult(ResponseModel):
    result: Literal["true", "false", "unknown"]
    reason: str
    understood: Annotated[
        bool, Field(description="False: the statement was not understood, so nothing was checked.")
    ] = True
    sources: list[FactSource] = []
    opposing: list[FactSource] = []
    contested: bool = False
    candidates: list[str] = []
    degraded: list[str] = []
    read_as: ReadAs = {}
