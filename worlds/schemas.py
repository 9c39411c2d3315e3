"""What the reveal log's endpoints take and give."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from worlds.base_schemas import Day, RequestModel


class RevealEntryIn(RequestModel):
    """Who learned of what, and from where."""

    model_config = ConfigDict(extra="forbid")

    kind: str = Field(
        max_length=40, description="Kind of row: lore, npc, episode, …", examples=["lore"]
    )
    id: UUID = Field(description="Id of the row.")
    audience: str = Field(
        max_length=120,
        pattern=r"^(party|npc):.+$",
        description="Who learned it.",
        examples=["party:lanternbearers"],
    )
    episode_ref: str = Field(
        default="", max_length=120, description="The episode in which it was learned."
    )
    in_world_at: Day | None = None
    in_world_label: str = Field(default="", max_length=120)
    note: str = Field(default="", max_length=2000)


class RevealEntryOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    subject_kind: str
    subject_id: UUID
    audience: str
    episode_ref: str
    in_world_at: float | None
    in_world_label: str
    note: str
    by: str
    created_at: datetime
    undone_at: datetime | None


class RevealLog(BaseModel):
    reveals: list[RevealEntryOut]
    next_cursor: str | None = Field(
        default=None, description="Send it as `cursor` for the next page."
    )
