"""Requests and responses about what NPCs remember and tell each other."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field

from memories.schemas import AgentRequest
from worlds.base_schemas import Day, StrictModel


class NPCMemoryQuery(StrictModel):
    query: Annotated[
        str, Field(max_length=2000, description="What to look for; empty: the latest.")
    ] = ""
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class TellerOut(BaseModel):
    npc_id: str
    name: str
    sureness: float


class NPCMemory(BaseModel):
    """`way`: witnessed, told (it was revealed to the NPC), heard, or empty for what the NPC's agent
    wrote. `told_by`: the first teller first."""

    id: UUID
    text: str
    way: str
    importance: float
    summary_id: str = ""
    in_world_at: float | None = None
    in_world_label: str = ""
    disposition: int = Field(0, description="Points by which it changed what the NPC thinks.")
    reasons: list[str] = []
    told_by: list[TellerOut] = []
    hearsay_id: UUID | None = None
    updated_at: datetime


class NPCMemories(BaseModel):
    memories: list[NPCMemory]
    degraded: list[str] = []


class TellingIn(AgentRequest):
    to: str = Field(min_length=1, max_length=200, description="Id or name of the NPC who is told.")
    memory_id: UUID | None = Field(None, description="The memory that is told.")
    text: str = Field("", max_length=4000, description="What is said, if not in its words.")
    sureness: float = Field(1.0, gt=0, le=1, description="How sure the teller is.")
    in_world_at: Day | None = None
    in_world_label: str = Field("", max_length=120)


class TellingOut(BaseModel):
    """`waiting`: a person has to approve it before the NPC knows it."""

    id: UUID
    memory_id: UUID
    npc_id: str
    waiting: bool
