"""What programs send and get about NPCs. What players may read is listed field by field; the rest is `private`."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from episodes.schemas import EngineInput, Line, Prose, Reason, Ref, storable
from worlds.audiences import Visibility
from worlds.base_schemas import Day

Slug = Annotated[str, Field(min_length=1, max_length=120, pattern=r"^[\w\-]+$")]
Direction = Literal["rising", "falling", "steady"]


class SecretIn(EngineInput):
    text: Prose
    known_to: list[Annotated[str, Field(max_length=120)]] = Field(default=[], max_length=100)


def _read_secrets(value: Any) -> Any:
    return (
        [{"text": each} if isinstance(each, str) else each for each in value]
        if isinstance(value, list)
        else value
    )


MOST_SECRETS = 100
SecretsGiven = Annotated[
    list[SecretIn],
    Field(max_length=MOST_SECRETS),
    BeforeValidator(
        _read_secrets,
        json_schema_input_type=Annotated[list[SecretIn | Prose], Field(max_length=MOST_SECRETS)],
    ),
]


class Milestone(EngineInput):
    at: Day | None = None
    label: Line = ""
    text: Reason


class NPCIn(EngineInput):
    """An NPC as the engine or an import knows it: the static half of the profile."""

    npc_id: Slug
    name: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(storable)]
    aliases: list[Line] = Field(default=[], max_length=50)
    role: Line = ""
    summary: Prose = Field(default="", description="What anyone who meets them may see.")
    faction: Line = Field(default="", description="Name, or slug of a lore entry.")
    faction_visibility: Visibility = Visibility.PUBLIC
    home: Line = Field(default="", description="Name, or slug of a lore entry.")
    biography: Line = Field(default="", description="Slug of a lore entry.")
    voice: Prose = ""
    goals: list[Reason] = Field(default=[], max_length=50)
    secrets: SecretsGiven = Field(default=[], description="Also as plain texts.")
    play_now: list[Reason] = Field(default=[], max_length=3)
    milestones: list[Milestone] = Field(default=[], max_length=200)
    language: Annotated[str, Field(max_length=8, pattern=r"^[a-z]{2,3}(-[A-Za-z]+)?$")] = "en"
    base: int = Field(default=0, ge=-100, le=100)
    half_life: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    visibility: Visibility = Visibility.GM
    known_to: list[Annotated[str, Field(max_length=120)]] = Field(default=[], max_length=100)


class NPCsIn(EngineInput):
    npcs: list[dict[str, Any]] = Field(min_length=1, max_length=500)
    atomic: bool = False


class CorrectionIn(EngineInput):
    """A game master's change of a disposition."""

    party_id: Ref
    delta: int = Field(ge=-200, le=200)
    axis: Literal["affection", "trust", "respect", "fear"] = "affection"
    reason: Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(storable)]


class RulingIn(EngineInput):
    verdict: Literal["approve", "reject", "reverse", "restore"]
    reason: Reason = ""


class NPCStatic(BaseModel):
    """Who they are, as far as the audience may know."""

    name: str
    aliases: list[str] = []
    role: str = ""
    description: str = ""
    faction: str = ""
    home: str = ""
    secrets: list[str] = Field(default=[], description="Those that the audience has learned of.")


class NPCPrivate(BaseModel):
    """What only the game master may read of an NPC."""

    voice: str
    goals: list[str]
    play_now: list[str]
    milestones: list[dict[str, Any]]
    visibility: str
    known_to: list[str]
    base: int


class Influence(BaseModel):
    """A change and how much it counts for. `summary_id` is empty for a game master's correction."""

    change: int
    party_id: str
    summary_id: str | None
    delta: int
    axis: str
    reason: str
    state: Literal["counts", "pending", "reversal", "rejection", "replaced"]
    made_by: str = ""
    in_world_at: float | None = None
    in_world_label: str = ""
    happened_at: datetime


class InfluenceList(BaseModel):
    changes: list[Influence]


class NPCUpsertOut(BaseModel):
    id: str
    npc_id: str
    outcome: str
    version: int


class DispositionOut(BaseModel):
    """What an NPC thinks of a party now, from -100 (hostile) to 100 (devoted)."""

    party_id: str
    party: str
    score: float
    label: str
    trend: float
    direction: Direction
    axes: dict[str, float]
    changes: int
    pending: int
    last_reason: str = ""


class Apparent(BaseModel):
    """What the party can tell from the episodes it knows; what the NPC really thinks is the game master's."""

    party_id: str
    label: str
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


class NPCDynamic(BaseModel):
    """What they think of each party asked about, and the episodes that made it so."""

    disposition: dict[str, DispositionOut]
    influences: list[Influence]
    knows: list[KnownSubject] = []


class RelatedEntity(BaseModel):
    """What an NPC has to do with another entity now: the surest fact between the two, as words."""

    says: str
    other: str = Field(description="Id of the other entity.")
    since: float | None = None


class NPCProfile(BaseModel):
    """An NPC (requirement 1.3). `dynamic` and `private` are for game masters, `apparent` is for players."""

    id: str
    kind: Literal["npc"] = "npc"
    npc_id: str
    title: str
    static: NPCStatic
    relations: list[RelatedEntity] = Field(
        default=[], description="To whom most facts lead first; those that are known."
    )
    apparent: Apparent | None = None
    dynamic: NPCDynamic | None = None
    private: NPCPrivate | None = None
    updated_at: datetime
    truncated: bool = False
