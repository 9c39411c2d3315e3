"""Requests and responses of the NPC API. Fields that players may read are listed one by one; the
rest is `private`.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from episodes.field_types import (
    AudienceNames,
    EngineInput,
    LanguageCode,
    Line,
    Prose,
    RawItems,
    Reason,
    Ref,
    Storable,
)
from npcs.kinship import MOST_RELATIVES, Kinship
from worlds.audiences import Visibility
from worlds.base_schemas import Day, ReadVersion

Slug = Annotated[str, Field(min_length=1, max_length=120, pattern=r"^[\w\-]+$")]
Direction = Literal["rising", "falling", "steady"]
Feelings = Annotated[
    Literal["none", "mixed", "clear"],
    Field(
        description="None: nothing that counts has happened between them. Mixed: affection, trust "
        "and respect pull in opposite directions, by 15 points or more each way."
    ),
]


OF_THE_OTHER = "What the other person is to the NPC, such as mother."
Percent = Annotated[int, Field(ge=0, le=100)]


class SecretIn(EngineInput):
    text: Prose
    known_to: AudienceNames = Field(default=[], max_length=100)


def parse_secrets(value: Any) -> Any:
    """Expand secrets given as plain texts."""
    if not isinstance(value, list):
        return value
    return [{"text": each} if isinstance(each, str) else each for each in value]


MOST_SECRETS = 100
SecretsInput = Annotated[
    list[SecretIn],
    Field(max_length=MOST_SECRETS),
    BeforeValidator(
        parse_secrets,
        json_schema_input_type=Annotated[list[SecretIn | Prose], Field(max_length=MOST_SECRETS)],
    ),
]


class Milestone(EngineInput):
    at: Day | None = None
    label: Line = ""
    text: Reason


class RelativeIn(EngineInput):
    """What another person is to the NPC: `mother` is the NPC's mother."""

    relation: Kinship = Field(description=OF_THE_OTHER)
    npc: Annotated[Line, Field(min_length=1, description="Id or whole name of an NPC.")]


class NPCIn(EngineInput):
    """The static half of an NPC's profile, as an engine or an import sends it. Of an NPC that
    exists, only the fields that are sent change."""

    npc_id: Slug
    name: Annotated[str, Field(min_length=1, max_length=200), Storable]
    aliases: list[Line] = Field(default=[], max_length=50)
    role: Line = ""
    summary: Prose = Field(default="", description="What anyone who meets the NPC can see.")
    faction: Line = Field(default="", description="Name, or slug of a lore entry.")
    faction_visibility: Visibility = Visibility.PUBLIC
    home: Line = Field(default="", description="Name, or slug of a lore entry.")
    biography: Line = Field(default="", description="Slug of a lore entry.")
    family: list[RelativeIn] = Field(
        default=[],
        max_length=MOST_RELATIVES,
        description="Each is a fact of the relation graph, once the other person is an NPC.",
    )
    voice: Prose = ""
    goals: list[Reason] = Field(default=[], max_length=50)
    secrets: SecretsInput = Field(default=[], description="Also as plain texts.")
    play_now: list[Reason] = Field(default=[], max_length=3)
    milestones: list[Milestone] = Field(default=[], max_length=200)
    language: LanguageCode = "en"
    base: int = Field(default=0, ge=-100, le=100)
    half_life: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    visibility: Visibility = Visibility.GM
    known_to: AudienceNames = Field(
        default=[],
        max_length=100,
        description="The parties, characters and NPCs of the world that know them. Of an NPC for "
        "game masters alone it reveals the NPC.",
    )


class NPCWrite(NPCIn):
    version: ReadVersion = None


class NPCsIn(EngineInput):
    npcs: RawItems
    atomic: bool = False


class CorrectionIn(EngineInput):
    """A game master's own change of a disposition."""

    party_id: Ref
    delta: int = Field(ge=-200, le=200)
    axis: Literal["affection", "trust", "respect", "fear"] = "affection"
    reason: Annotated[str, Field(min_length=1, max_length=2000), Storable]


class RulingIn(EngineInput):
    verdict: Literal["approve", "reject", "reverse", "restore"]
    reason: Reason = ""


class OpinionRulingIn(RulingIn):
    """A game master's decision about a change of a standing or opinion: approve or reject one that
    waits, reverse one that counts, or restore it."""


class DispositionRulesIn(EngineInput):
    """The rules by which a change is felt by others. Those that are not sent stay as they are."""

    kin: Percent = Field(default=0, description="Kin feel the same, by so many percent.")
    ally: Percent = Field(default=0, description="Allies feel the same.")
    enemy: Percent = Field(default=0, description="Enemies feel the opposite.")
    member: Percent = Field(
        default=0, description="So much of it goes to the standing with the NPC's factions."
    )
    soft_ends: bool = Field(
        default=False,
        description="Whether steps outward count less and less beyond 50 points either way.",
    )


class DispositionRulesOut(BaseModel):
    """The rules of the world by which a change is felt by others, in percent; 0 is off."""

    kin: int
    ally: int
    enemy: int
    member: int
    soft_ends: bool


class StandingIn(EngineInput):
    """A game master's own change of a party's standing with a faction."""

    faction: Ref = Field(description="Id or name of the faction in the relation graph.")
    party_id: Ref
    delta: int = Field(ge=-200, le=200)
    reason: Annotated[str, Field(min_length=1, max_length=2000), Storable]


class OpinionIn(EngineInput):
    """A game master's own change of what one NPC thinks of another."""

    other: Ref = Field(description="Id or whole name of the other NPC.")
    delta: int = Field(ge=-200, le=200)
    reason: Annotated[str, Field(min_length=1, max_length=2000), Storable]


class Influence(BaseModel):
    """One change of a disposition. `summary_id` is null for a game master's correction; of a
    consequence it is that of its cause."""

    change: int
    party_id: str
    summary_id: str | None
    delta: int
    axis: str
    reason: str
    state: Literal["counts", "pending", "reversal", "rejection", "replaced"]
    made_by: str = ""
    caused_by: int | None = Field(
        default=None, description="The change of another NPC that this one follows from."
    )
    caused_as: Literal["kin", "ally", "enemy", "member", ""] = Field(
        default="", description="The rule by which it follows from the other change."
    )
    in_world_at: float | None = None
    in_world_label: str = ""
    in_world_date: str = ""
    happened_at: datetime


class InfluenceList(BaseModel):
    changes: list[Influence]


class ChangedDisposition(Influence):
    """One change of a disposition, outside of the list of one NPC."""

    npc_id: str = Field(description="Whose disposition changes.", examples=["ada-crane"])


class PendingDispositionList(BaseModel):
    """The changes that wait for a game master."""

    changes: list[ChangedDisposition]


class NPCUpsertOut(BaseModel):
    id: str
    npc_id: str
    outcome: str
    version: int
    warnings: list[str] = Field(
        default=[],
        description="Names that other things have as well, and names in fields that fit nothing.",
    )


class DispositionOut(BaseModel):
    """What an NPC thinks of a party now, from -100 (hostile) to 100 (devoted)."""

    party_id: str
    party: str
    score: float
    label: str
    feelings: Feelings
    trend: float
    direction: Direction
    axes: dict[str, float]
    changes: int
    pending: int
    last_reason: str = ""


class OpinionEntry(BaseModel):
    """One change of a standing or of an opinion between NPCs. `summary_id` is null for a game
    master's correction."""

    change: int
    delta: int
    reason: str
    state: Literal["counts", "pending", "reversal", "rejection"]
    summary_id: str | None
    caused_by: int | None
    caused_as: str
    made_by: str
    in_world_at: float | None
    in_world_label: str
    happened_at: datetime


class ChangedOpinion(OpinionEntry):
    """A change of an opinion or of a standing. Of an opinion between NPCs `npc_id` and `other` are
    given, of a standing `faction` and `party_id`; the rest is empty."""

    npc_id: str = ""
    other: str = Field(default="", description="Id of the other NPC.")
    faction: str = Field(default="", description="Id of the faction in the relation graph.")
    party_id: str = ""


class PendingOpinion(ChangedOpinion):
    """A change of an opinion or of a standing that waits."""


class PendingOpinionList(BaseModel):
    changes: list[PendingOpinion]


class StandingOut(BaseModel):
    """A party's standing with a faction now, from -100 to 100, with its latest changes."""

    faction: str = Field(description="Id of the faction in the relation graph.")
    faction_name: str
    party_id: str
    score: float
    label: str
    changes: list[OpinionEntry]


class StandingList(BaseModel):
    standings: list[StandingOut]


class OpinionOut(BaseModel):
    """What an NPC thinks of another now, from -100 to 100, with the latest changes."""

    npc_id: str
    other: str = Field(description="Id of the other NPC.")
    other_name: str
    score: float
    label: str
    changes: list[OpinionEntry]


class OpinionList(BaseModel):
    opinions: list[OpinionOut]


class Apparent(BaseModel):
    """The disposition as the party can judge it from the episodes it knows; the real one is for
    game masters.
    """

    party_id: str
    label: str
    feelings: Feelings
    direction: Direction
    summary_ids: list[str]


class KnownSubject(BaseModel):
    """Something that the NPC has learned (the reveal log)."""

    kind: str
    id: str
    title: str
    note: str = ""
    summary_id: str = ""
    in_world_label: str = ""


class NPCRow(BaseModel):
    """An NPC as lists show it, for game masters."""

    id: str
    npc_id: str
    name: str
    aliases: list[str]
    role: str
    summary: str
    faction: str
    home: str
    family: list[RelativeIn] = Field(description="What other people are to the NPC.")
    language: str
    visibility: str
    known_to: list[str]
    version: int
    updated_at: datetime


class NPCPage(BaseModel):
    npcs: list[NPCRow]
    next_cursor: str | None = Field(default=None, description="Of the next page; null: the last.")


class CastMember(BaseModel):
    """An NPC who is in a scene."""

    npc_id: str
    name: str


class SceneCast(BaseModel):
    """The NPCs who are in a scene, in the order in which they entered."""

    cast: list[CastMember] = Field(description="Who is there; without those in the trash.")
