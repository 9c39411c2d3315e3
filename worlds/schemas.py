"""What the endpoints of worlds, people, events and the reveal log take and give."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from worlds.base_schemas import Day, RequestModel, ResponseModel, StrictModel

Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200, strip_whitespace=True, pattern=r"^[^\x00]+$"),
]
Slug = Annotated[str, StringConstraints(pattern=r"^[\w-]+$", max_length=80)]
Language = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$")]
Prose = Annotated[str, StringConstraints(max_length=20_000, pattern=r"^[^\x00]*$")]
NextCursor = Annotated[
    str | None, Field(description="Send it as `cursor` for the next page; null: the last page.")
]


class RevealEntryIn(RequestModel):
    """Who learned of what, and from where."""

    model_config = ConfigDict(extra="forbid")

    kind: str = Field(
        max_length=40,
        description="Kind of row: lore, npc, episode, session, scene, artcard, picture, graphnode "
        "(an entity), graphedge (a fact), lorepassage (a block of an entry), secret (of an NPC).",
        examples=["lore"],
    )
    id: str = Field(
        min_length=1,
        max_length=200,
        description="Id of the row; of lore, NPCs and entities also the slug, of episodes, "
        "sessions, scenes and cards the id that they were written with.",
        examples=["drowned-mill"],
    )
    secret: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="Of lore and NPCs: reveal this one of their secrets alone, counted from 1 in "
        "the order of the text or of the list.",
    )
    audience: str = Field(
        max_length=120,
        pattern=r"^(party|character|npc):.+$",
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
    in_world_date: str = ""
    note: str
    by: str
    created_at: datetime
    undone_at: datetime | None


class RevealLog(BaseModel):
    reveals: list[RevealEntryOut]
    next_cursor: str | None = Field(
        default=None, description="Send it as `cursor` for the next page."
    )


class SystemOut(ResponseModel):
    """A game system: a set of rules that worlds share."""

    system_id: str = Field(examples=["dnd-5e"])
    name: str = Field(examples=["Dungeons & Dragons"])
    edition: str = Field(examples=["5.1"])


class SystemIn(StrictModel):
    name: Name = Field(examples=["Salt & Sand"])
    system_id: Slug | None = Field(
        default=None, description="Its slug; default: made from the name.", examples=["salt-sand"]
    )
    edition: Annotated[str, StringConstraints(max_length=80, pattern=r"^[^\x00]*$")] = ""


class Systems(ResponseModel):
    systems: list[SystemOut]


class WorldChange(StrictModel):
    """The fields that are sent change."""

    name: Name = Field(default="", examples=["Ferrymark"])
    language: Language = Field(default="en", description="Of its texts, unless they say otherwise.")
    system_id: Slug | None = Field(
        default=None, description="The game system whose rules hold.", examples=["dnd-5e"]
    )
    description: Prose = ""


class WorldIn(WorldChange):
    name: Name = Field(examples=["Ferrymark"])
    world_id: Slug | None = Field(
        default=None, description="Its slug; default: made from the name.", examples=["ferrymark"]
    )


class WorldOut(ResponseModel):
    world_id: str = Field(description="Its slug.", examples=["ferrymark"])
    name: str = Field(examples=["Ferrymark"])
    language: str = Field(examples=["en"])
    system_id: str | None = Field(examples=["dnd-5e"])
    description: str
    created_at: datetime
    updated_at: datetime


class Worlds(ResponseModel):
    worlds: list[WorldOut]
    next_cursor: NextCursor = None


class CampaignChange(StrictModel):
    """The fields that are sent change."""

    name: Name = Field(default="", examples=["The Toll War"])


class CampaignIn(StrictModel):
    name: Name = Field(examples=["The Toll War"])
    campaign_id: Slug | None = Field(
        default=None, description="Its slug; default: made from the name.", examples=["toll-war"]
    )


class CampaignOut(ResponseModel):
    campaign_id: str = Field(description="Its slug.", examples=["toll-war"])
    name: str = Field(examples=["The Toll War"])
    created_at: datetime
    updated_at: datetime


class Campaigns(ResponseModel):
    campaigns: list[CampaignOut]
    next_cursor: NextCursor = None


Members = Annotated[
    list[Name],
    Field(max_length=50, description="Names of the player characters.", examples=[["Ana", "Bo"]]),
]


class PartyChange(StrictModel):
    """The fields that are sent change."""

    name: Name = Field(default="", examples=["Lanternbearers"])
    members: Members = []


class PartyIn(StrictModel):
    name: Name = Field(examples=["Lanternbearers"])
    party_id: Slug | None = Field(
        default=None,
        description="Its slug; default: made from the name. Audiences name it: `party:<slug>`.",
        examples=["lanternbearers"],
    )
    campaign_id: Slug | None = Field(
        default=None,
        description="Slug of its campaign; may be left out when the world has one.",
        examples=["toll-war"],
    )
    members: Members = []


class PartyOut(ResponseModel):
    party_id: str = Field(description="Its slug.", examples=["lanternbearers"])
    name: str = Field(examples=["Lanternbearers"])
    campaign_id: str = Field(description="Slug of its campaign.", examples=["toll-war"])
    members: list[str]
    created_at: datetime
    updated_at: datetime


class Parties(ResponseModel):
    parties: list[PartyOut]
    next_cursor: NextCursor = None


class CharacterIn(StrictModel):
    name: Name = Field(examples=["Ana"])
    character_id: Slug | None = Field(
        default=None,
        description="Its slug; default: made from the name. Audiences name it: `character:<slug>`.",
        examples=["ana"],
    )
    party_id: Slug | None = Field(
        default=None, description="Slug of its party.", examples=["lanternbearers"]
    )


class CharacterChange(StrictModel):
    """The fields that are sent change."""

    name: Name = Field(default="", examples=["Ana"])
    party_id: Slug | None = Field(
        default=None,
        description="Slug of its party; null: it leaves its party.",
        examples=["lanternbearers"],
    )


class CharacterOut(ResponseModel):
    character_id: str = Field(description="Its slug.", examples=["ana"])
    name: str = Field(examples=["Ana"])
    party_id: str | None = Field(
        description="Slug of its party; null: it has left.", examples=["lanternbearers"]
    )
    created_at: datetime
    updated_at: datetime


class Characters(ResponseModel):
    characters: list[CharacterOut]
    next_cursor: NextCursor = None


MemberRole = Literal["designer", "gm", "player"]


class MemberOut(ResponseModel):
    """A person who signs in on the site."""

    id: int
    user: str = Field(description="The name to sign in with.", examples=["anna"])
    role: MemberRole
    party_id: str | None = Field(description="The party of a player.")
    character_id: str | None = Field(description="The character that a player plays.")


class MemberList(ResponseModel):
    members: list[MemberOut]


class MemberChange(StrictModel):
    role: MemberRole
    party_id: Slug | None = Field(default=None, description="For players alone.")
    character_id: Slug | None = Field(
        default=None, description="Whom a player plays; the party follows the character."
    )


class InvitationIn(StrictModel):
    role: MemberRole = "player"
    party_id: Slug | None = Field(default=None, description="For players alone.")
    character_id: Slug | None = Field(
        default=None, description="Whom the player plays; the party follows the character."
    )
    days: int = Field(default=7, ge=1, le=90, description="How long the link works.")
    max_uses: int = Field(default=1, ge=1, le=50, description="How many people may follow it.")
    note: Annotated[str, StringConstraints(max_length=120, pattern=r"^[^\x00]*$")] = ""


class InvitationOut(ResponseModel):
    id: UUID
    role: MemberRole
    party_id: str | None
    character_id: str | None
    note: str
    max_uses: int
    uses: int
    expires_at: datetime
    link: str | None = Field(default=None, description="Shown once, in the answer to its creation.")


class InvitationList(ResponseModel):
    invitations: list[InvitationOut]


EventKind = Literal[
    "campaign",
    "party",
    "character",
    "reveal",
    "lore",
    "rule",
    "fact",
    "proposal",
    "session",
    "scene",
    "episode",
    "npc",
    "disposition",
    "art",
]


class EventOut(ResponseModel):
    """One change of one row, as the key's audience may know of it."""

    id: UUID = Field(description="Send it as `since` to go on after this event.")
    at: datetime
    kind: EventKind = Field(examples=["npc"])
    action: Literal["created", "changed", "deleted"] = Field(
        description="For players, what was revealed is created, what was hidden is deleted."
    )
    ref: str = Field(
        description="What the API calls the row: its slug, rule id, summary id; of a disposition "
        "the NPC's slug, of a fact its relation, of a reveal the kind of what was revealed.",
        examples=["mira-voss"],
    )
    row: str = Field(description="Id of the row.")
    version: int | None = Field(description="After the change; for game masters alone.")


class Events(ResponseModel):
    events: list[EventOut]
    next: UUID | None = Field(
        description="Send it as `since` next time; null: there is no event yet."
    )
    more: bool = Field(description="Further events wait: ask again at once.")
