"""What the endpoints of webhooks take and give."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from worlds.base_schemas import ResponseModel, StrictModel
from worlds.schemas import EventKind, Name, NextCursor, Slug

Url = Annotated[str, StringConstraints(min_length=10, max_length=2000, pattern=r"^https?://\S+$")]
Label = Annotated[Name, StringConstraints(max_length=120)]
Kinds = Annotated[list[EventKind], Field(max_length=14)]


class WebhookIn(StrictModel):
    name: Label = Field(description="What it is for.", examples=["engine"])
    url: Url = Field(
        description="Where messages are posted to; https, unless the operator allows more.",
        examples=["https://engine.example.org/hooks"],
    )
    audience: str = Field(
        max_length=120,
        description="Whose knowledge the events tell: gm, party:<slug>, character:<slug>, "
        "npc:<slug> or public. It cannot be changed later.",
        examples=["gm"],
    )
    campaign_id: Slug | None = Field(
        default=None, description="Events of this campaign alone; null: of all."
    )
    kinds: Kinds = Field(default=[], description="Kinds of events; empty: all.")
    format: Literal["standard", "discord"] = Field(
        default="standard",
        description="`standard`: signed JSON (Standard Webhooks). `discord`: a message for the "
        "webhook of a Discord channel.",
    )
    since: UUID | Literal["latest", "oldest"] = Field(
        default="latest", description="The event after which it begins, as for `GET /events`."
    )


class WebhookChange(StrictModel):
    """The fields that are sent change."""

    name: Label = Field(default="-", description="What it is for.")
    url: Url = Field(default="https://-", description="Where messages are posted to.")
    kinds: Kinds = Field(default=[], description="Kinds of events; empty: all.")
    enabled: bool = Field(
        default=True, description="True: go on with the event at which it stopped."
    )


class WebhookOut(ResponseModel):
    id: UUID = Field(description="Its id.")
    name: str = Field(description="What it is for.")
    url: str = Field(description="Where messages are posted to.")
    audience: str = Field(description="Whose knowledge the events tell.")
    campaign_id: str | None = Field(description="Events of this campaign alone.")
    kinds: list[EventKind] = Field(description="Kinds of events; empty: all.")
    format: Literal["standard", "discord"] = Field(description="The form of its messages.")
    enabled: bool = Field(description="Whether events are delivered.")
    disabled_reason: Literal["by_hand", "gone", "failing"] | None = Field(
        description="`gone`: the target answered 410; `failing`: no success for days."
    )
    disabled_at: datetime | None = Field(description="When it was disabled.")
    failing_since: datetime | None = Field(description="The first failure since the last success.")
    next_attempt_at: datetime | None = Field(description="When a failed delivery is tried again.")
    last_success_at: datetime | None = Field(description="The last delivery that succeeded.")
    created_at: datetime = Field(description="When it was made.")
    updated_at: datetime = Field(description="When it was changed.")
    secret: str | None = Field(default=None, description="`whsec_…`, shown once: when it is made.")


class WebhookList(ResponseModel):
    webhooks: list[WebhookOut] = Field(description="The newest first.")


class SecretRotation(StrictModel):
    hours: int = Field(
        default=24, ge=0, le=168, description="Hours for which messages carry both signatures."
    )


class AttemptOut(ResponseModel):
    at: datetime = Field(description="When it was sent.")
    status: int = Field(description="The status of the answer; 0: none.")
    milliseconds: int = Field(description="How long it took.")
    error: str = Field(description="Why it failed; empty: it did not.")
    answer: str = Field(description="The beginning of the answer.")


class DeliveryOut(ResponseModel):
    id: UUID = Field(description="Its id.")
    message_id: str = Field(description="The header `webhook-id`: the id of the event.")
    type: str = Field(description="Kind and action of the event, or `webhook.test`.")
    state: Literal["retrying", "delivered", "dead"] = Field(
        description="`dead`: given up; it can be sent again by hand."
    )
    attempt_count: int = Field(description="How often it was sent.")
    attempts: list[AttemptOut] = Field(description="The last attempts.")
    created_at: datetime = Field(description="When it was sent first.")
    updated_at: datetime = Field(description="When it was sent last.")


class Deliveries(ResponseModel):
    deliveries: list[DeliveryOut] = Field(description="A page of them.")
    next_cursor: NextCursor = None
