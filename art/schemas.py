"""Requests and responses of the art card API."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from episodes.field_types import (
    EngineInput,
    ExternalId,
    Line,
    Prose,
    RawItems,
    Reason,
    Storable,
)
from worlds.audiences import Visibility

Moderation = Literal["pending", "approved", "flagged", "rejected"]
Tag = Annotated[str, Field(min_length=1, max_length=80), Storable]
Why = Literal["scene", "place", "entities", "neighbours", "words"]


def web_address(url: str) -> str:
    """Return `url`; raises ValueError unless it is an http(s) address. The server never fetches
    it."""
    if not url.startswith(("https://", "http://")) or any(letter.isspace() for letter in url):
        raise ValueError("must be an http(s) address without spaces")
    return url


class ArtCardIn(EngineInput):
    """A picture described in words (requirement 1.3). `embedding` is derived: a value that is sent
    is ignored.
    """

    image_id: ExternalId
    scene_id: Annotated[
        ExternalId | None,
        # engines without a scene send an empty text
        BeforeValidator(
            lambda value: None if value == "" else value,
            json_schema_input_type=ExternalId | Literal[""] | None,
        ),
    ] = None
    cdn_url: Annotated[str, Field(max_length=1000), Storable, AfterValidator(web_address)]
    prompt_text: Annotated[Prose, Field(min_length=1)]
    entities: list[Line] = Field(
        default=[], max_length=100, description="NPCs, places and other lore shown."
    )
    visual_tags: list[Tag] = Field(default=[], max_length=100)
    style: Line = ""
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    moderation: Moderation | None = Field(
        default=None, description="Default: as stored; pending for a new card."
    )
    visibility: Visibility = Field(
        default=Visibility.REVEALED, description="`revealed`: the party of its scene knows it."
    )
    embedding: list[float] | None = Field(default=None, max_length=10_000, exclude=True)


class ArtCardsIn(EngineInput):
    cards: RawItems
    atomic: bool = False


class ModerationIn(EngineInput):
    moderation: Moderation
    note: Reason = ""


class ArtUpsertOut(BaseModel):
    id: str
    image_id: str
    outcome: str
    version: int
    moderation: Moderation
    unknown: list[str] = Field(default=[], description="Entities that match no NPC or lore entry.")


class ArtPrivate(BaseModel):
    """What only the game master may read of a card."""

    prompt_text: str
    entities: list[str]
    seed: int | None
    moderation: Moderation
    visibility: str


class ArtCardOut(BaseModel):
    """A card as its audience may see it; `private` is for game masters alone."""

    id: str
    kind: Literal["art"] = "art"
    title: str
    image_id: str
    scene_id: str | None
    cdn_url: str
    style: str
    visual_tags: list[str]
    updated_at: datetime
    why: Why = "scene"
    because: str = ""
    score: float | None = None
    private: ArtPrivate | None = None


class ArtSuggestion(BaseModel):
    """Cards for a scene, best first. `basis` says how they were found: attached to the scene, by
    place, by the NPCs shown, by graph neighbours of place and NPCs, or by the words of the scene.
    """

    scene_id: str
    basis: Why | None
    cards: list[ArtCardOut]
    degraded: list[str] = []
