"""Requests and responses of the art card API."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator

from episodes.field_types import (
    EngineInput,
    ExternalId,
    FormBool,
    Line,
    Prose,
    RawItems,
    Reason,
    Storable,
)
from worlds.audiences import Visibility
from worlds.base_schemas import PrivateMoment, ReadVersion

Moderation = Literal["pending", "approved", "flagged", "rejected"]
Tag = Annotated[str, Field(min_length=1, max_length=80), Storable]
PictureLine = Annotated[str, Field(max_length=300), Storable]
Why = Literal["scene", "place", "entities", "neighbours", "words"]


def web_address(url: str) -> str:
    """Return `url`; raises ValueError unless it is empty or an http(s) address. The server never
    fetches it."""
    is_address = url.startswith(("https://", "http://")) and not any(map(str.isspace, url))
    if url and not is_address:
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
    cdn_url: Annotated[str, Field(max_length=1000), Storable, AfterValidator(web_address)] = ""
    picture_id: UUID | None = Field(
        default=None, description="An uploaded picture, instead of an address."
    )
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

    @model_validator(mode="after")
    def require_picture(self) -> Self:
        if not self.cdn_url and not self.picture_id:
            raise ValueError("give cdn_url or picture_id: where the picture is")
        return self


class ArtCardWrite(ArtCardIn):
    version: ReadVersion = None


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
    picture_id: str | None = Field(
        default=None, description="Its file: GET /world/pictures/{id}/file."
    )
    style: str
    visual_tags: list[str]
    updated_at: PrivateMoment = None
    why: Why = "scene"
    because: str = ""
    score: float | None = None
    private: ArtPrivate | None = None


class ArtPage(BaseModel):
    cards: list[ArtCardOut]
    next_cursor: str | None = Field(default=None, description="Of the next page; null: the last.")


class ArtSuggestion(BaseModel):
    """Cards for a scene, best first. `basis` says how they were found: attached to the scene, by
    place, by the NPCs shown, by graph neighbours of place and NPCs, or by the words of the scene.
    """

    scene_id: str
    basis: Why | None
    cards: list[ArtCardOut]
    degraded: list[str] = []


class PictureIn(EngineInput):
    """What is sent with a file."""

    alt: PictureLine = ""
    caption: PictureLine = ""
    place: Annotated[str, Field(max_length=60), Storable] = Field(
        default="", description="The gallery to add it to: `lore:<id>` or `npc:<id>`."
    )
    portrait: FormBool = False
    visibility: Literal["gm", "public"] = Field(
        default="gm", description="`gm` leaves it to the places where the picture is shown."
    )


class PictureOut(BaseModel):
    """An uploaded picture. `markdown` shows it in a text; `visibility` is for game masters alone
    and adds to that of the places where the picture is shown."""

    id: str
    name: str = Field(description="Of the file, as it was uploaded; for players it is the id.")
    content_type: str
    width: int
    height: int
    size: int = Field(description="Bytes.")
    alt: str
    caption: str
    markdown: str
    updated_at: PrivateMoment = None
    visibility: Visibility | None = None


class PictureChange(EngineInput):
    """The fields that are sent change."""

    alt: PictureLine = ""
    caption: PictureLine = ""
    visibility: Literal["gm", "public"] = "gm"


class PicturePlaceIn(EngineInput):
    place: Annotated[str, Field(max_length=60), Storable] = Field(
        description="The gallery: `lore:<id>` or `npc:<id>`."
    )
    portrait: bool = False
    hidden: bool = False


class PictureUseOut(BaseModel):
    """A place of a picture: in the gallery of a lore entry or an NPC."""

    id: UUID
    place: str
    picture_id: UUID
    portrait: bool
    hidden: bool


class PictureUseList(BaseModel):
    uses: list[PictureUseOut]


class PictureUseChange(EngineInput):
    """The fields that are sent change."""

    portrait: bool | None = Field(
        default=None, description="`true` makes it the portrait there, instead of another one."
    )
    hidden: bool | None = None


class GalleryOut(BaseModel):
    """The gallery of a lore entry or an NPC."""

    uses: list[PictureUseOut] = Field(description="The places of pictures, the first one first.")


class GalleryOrder(EngineInput):
    """The order of a gallery."""

    uses: list[UUID] = Field(
        max_length=1_000, description="The ids of all places of the gallery, the first one first."
    )


class PictureList(BaseModel):
    """Latest first. `total` counts what this key may see."""

    pictures: list[PictureOut]
    total: int
    truncated: bool
