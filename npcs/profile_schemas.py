"""The profile of an NPC. What players may read is listed field by field; the rest is `private`."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from npcs.kinship import Kinship
from npcs.schemas import OF_THE_OTHER, Apparent, DispositionOut, Influence, KnownSubject
from worlds.base_schemas import PrivateMoment, ReadAs


class KnownRelative(BaseModel):
    """What another person is to the NPC."""

    relation: Kinship = Field(description=OF_THE_OTHER)
    npc_id: str
    name: str


class NPCStatic(BaseModel):
    """Who the NPC is, as far as the audience may know."""

    name: str
    aliases: list[str] = []
    role: str = ""
    description: str = ""
    faction: str = ""
    home: str = ""
    family: list[KnownRelative] = Field(
        default=[], description="Known relatives, by the relation graph, whoever's page says so."
    )
    secrets: list[str] = Field(default=[], description="Secrets that the audience has learned.")


class NPCPrivate(BaseModel):
    """What only the game master may read of an NPC; voice, goals, play_now and base are for the NPC
    itself, too (`as` = `npc:<id>`), for whom the rest is empty."""

    voice: str
    goals: list[str]
    play_now: list[str]
    milestones: list[dict[str, Any]]
    visibility: str
    known_to: list[str]
    base: int


class OpinionInProfile(BaseModel):
    """What the NPC thinks of another NPC, from -100 to 100."""

    other: str = Field(description="Id of the other NPC.")
    other_name: str
    score: float
    label: str
    last_reason: str


class StandingInProfile(BaseModel):
    """The standing of the party asked about with a faction of the NPC, from -100 to 100."""

    faction: str = Field(description="Id of the faction in the relation graph.")
    faction_name: str
    score: float
    label: str
    last_reason: str


class NPCDynamic(BaseModel):
    """The NPC's disposition towards each party asked about, with the changes that led to it."""

    disposition: dict[str, DispositionOut]
    influences: list[Influence]
    knows: list[KnownSubject] = []
    opinions: list[OpinionInProfile] = Field(
        default=[], description="What the NPC thinks of other NPCs, the strongest first."
    )
    standings: list[StandingInProfile] = Field(
        default=[], description="With `party_id`: its standing with the NPC's factions."
    )


class RelatedEntity(BaseModel):
    """The relation of an NPC to another entity now: the most certain fact between the two, in
    words.
    """

    says: str
    other: str = Field(description="Id of the other entity.")
    since: float | None = None


class RecalledMemory(BaseModel):
    """`way`: witnessed, told (it was revealed), heard, or empty for what the NPC's agent wrote;
    `source`: the id of the episode."""

    text: str
    way: str
    source: str = ""
    in_world_at: float | None = None
    in_world_date: str = ""
    told_by: str = Field("", description="Name of the NPC from whom they heard it.")


class NPCProfile(BaseModel):
    """An NPC (requirement 1.3). `dynamic` and `private` are for game masters and, about itself, for
    the NPC (`as` = `npc:<id>`); `apparent` is for players.
    """

    id: str
    kind: Literal["npc"] = "npc"
    npc_id: str
    title: str
    static: NPCStatic
    relations: list[RelatedEntity] = Field(
        default=[], description="Known relations; the entity with most facts first."
    )
    apparent: Apparent | None = None
    dynamic: NPCDynamic | None = None
    private: NPCPrivate | None = None
    memories: list[RecalledMemory] = Field(
        default=[], description="What they remember of `about`, best first; gm and the NPC alone."
    )
    updated_at: PrivateMoment = None
    truncated: bool = False
    degraded: list[str] = Field(
        default=[], description="`graph`: Neo4j was down; `vector`: the embedder was."
    )
    read_as: ReadAs = {}
