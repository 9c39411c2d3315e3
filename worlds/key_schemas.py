"""Schemas of API keys."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from worlds.base_schemas import ResponseModel, StrictModel
from worlds.schemas import Name, Slug, WorldOut

ScopeName = Literal["tools:read", "world:write", "agent:write", "agent:review", "admin"]
Origin = Annotated[str, StringConstraints(pattern=r"^https?://[^/\s?#@]+$", max_length=200)]


class KeyIn(StrictModel):
    name: Annotated[Name, StringConstraints(max_length=120)] = Field(
        description="Who will use it.", examples=["combat engine"]
    )
    scopes: list[ScopeName] = Field(default=["tools:read"], min_length=1, max_length=4)
    audience: str = Field(
        default="public",
        max_length=120,
        description="Whom it may ask for at most: gm, party:<slug>, character:<slug>, "
        "npc:<slug> or public.",
        examples=["party:lanternbearers"],
    )
    campaign_id: Slug | None = Field(
        default=None, description="Slug of the campaign to which it is bound."
    )
    namespace: Annotated[str, StringConstraints(max_length=120, pattern=r"^[^\x00]*$")] = Field(
        default="",
        description="The agent whose memory it may use. Empty: that of your own key; if that has "
        "none, the new key has no agent memory, unless its scope is admin: it then names the agent "
        "of each call in `X-Namespace`.",
    )
    origins: list[Origin] = Field(
        default=[],
        max_length=20,
        description="Web pages whose scripts may use the key. Such a key reads what players may "
        "know, and nothing else.",
        examples=[["https://table.example.org"]],
    )
    calls_per_minute: int = Field(default=600, ge=1, le=1_000_000)
    expires_at: datetime | None = Field(
        default=None, description="Null: when your own key ends, if it does."
    )


class KeyOut(ResponseModel):
    id: UUID
    name: str
    prefix: str = Field(description="Beginning of the key, after `m37_`.")
    scopes: list[str]
    audience: str
    campaign_id: str | None
    namespace: str
    origins: list[str]
    calls_per_minute: int
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    text: str | None = Field(
        default=None, description="The key itself. Shown once, in the answer to its creation."
    )


class KeyList(ResponseModel):
    keys: list[KeyOut]


class Me(ResponseModel):
    """What the key of this request is and may do."""

    key: KeyOut
    world: WorldOut | None = Field(description="Null: the key is for the whole installation.")
    version: str = Field(description="Version of the server.")
