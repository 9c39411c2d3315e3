"""What programs send and get about art cards."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from episodes.schemas import EngineInput, ExternalId, Line, Prose, Reason, storable
from worlds.audiences import Visibility

Moderation = Literal["pending", "approved", "flagged", "rejected"]
Tag = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(storable)]
Why = Literal["scene", "place", "entities", "neighbours", "words"]


def web_address(url: str) -> str:
    """It is shown as a link and never fetched: only its form is checked."""
    if not url.startswith(("https://", "http://")) or any(letter.isspace() for letter in url):
        raise ValueError("must be an http(s) address without spaces")
    return url


def _no_scene(value: Any) -> Any:
    return None if value == "" else value


class ArtCardIn(EngineInput):
    """A picture in words (requirement 1.3). `embedding` is derived; one that is sent is ignored."""

    image_id: ExternalId
    scene_id: Annotated[
        ExternalId | None,
        BeforeValidator(_no_scene, json_schema_input_type=ExternalId | Literal[""] | None),
    ] = None
    cdn_url: Annotated[
        str, Field(max_length=1000), AfterValidator(storable), AfterValidator(web_address)
    ]
    prompt_text: Annotated[Prose, Field(min_length=1)]
    entities: list[Line] = Field(
        default=[], max_length=100, description="NPCs, places and other lore shown."
    )
    visual_tags: list[Tag] = Field(default=[], max_length=100)
    style: Line = ""
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    moderation: Moderation | None = Field(
        default=None, description="Left out: what stands, or pending for a new card."
    )
    visibility: Visibility = Field(
        default=Visibility.REVEALED, description="`revealed`: the party of its scene knows it."
    )
    embedding: list[float] | None = Field(default=None, max_length=10_000, exclude=True)


class ArtCardsIn(EngineInput):
    cards: list[dict[str, Any]] = Field(min_length=1, max_length=500)
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
    unknown: list[str] = Field(default=[], description="Entities that nothing here is called.")


class ArtPrivate(BaseModel):
    """What only the game master may read of a card."""

    prompt_text: str
    entities: list[str]
    seed: int | None
    moderation: Moderation
    visibility: str


class ArtCardOut(BaseModel):
    """A card as anyone who knows it may see it."""

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
    """Cards for a scene, best first. `basis`: the scene's own, the nearest by place, by who is shown, by what
    those have to do with in the relation graph, or by words."""

    scene_id: str
    basis: Why | None
    cards: list[ArtCardOut]
    degraded: list[str] = []
