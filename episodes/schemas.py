"""What programs send and get about episodes, scenes and threads. Everything is closed and bounded."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from episodes.models import EXTERNAL_ID, Scene, Session
from knowledge.graph.schemas import GraphFact
from worlds.audiences import Visibility
from worlds.base_schemas import Day, RequestModel

LONGEST_TEXT = 20_000
LARGEST_DELTA = 100


def storable(text: str) -> str:
    """Refuse what PostgreSQL cannot keep: NUL and lone surrogates."""
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("must not hold NUL characters or lone surrogates")
    return text


Line = Annotated[str, Field(max_length=200), AfterValidator(storable)]
Prose = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(storable)]
Reason = Annotated[str, Field(max_length=2000), AfterValidator(storable)]
Ref = Annotated[
    str, Field(min_length=1, max_length=200, description="Id or name."), AfterValidator(storable)
]
ExternalId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=EXTERNAL_ID,
        pattern=r"^\w[\w.:\-]*$",
        description="The engine's own id.",
    ),
]


class EngineInput(RequestModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, str_strip_whitespace=True)


class When(EngineInput):
    """In-world time, and the real time at the table."""

    in_world_at: Day | None = None
    in_world_label: Annotated[str, Field(max_length=120), AfterValidator(storable)] = ""
    real: datetime | None = None

    @field_validator("real")
    @classmethod
    def _aware(cls, value: datetime | None) -> datetime | None:
        return value.replace(tzinfo=UTC) if value and value.tzinfo is None else value


def _read_when(value: Any) -> Any:
    """A bare date-time means `real`, other words `in_world_label`, a number `in_world_at`."""
    if isinstance(value, datetime):
        return {"real": value}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"in_world_at": value}
    return _read_words(value) if isinstance(value, str) else value


def _read_words(text: str) -> dict[str, Any]:
    try:
        return {"real": datetime.fromisoformat(text)}
    except ValueError:
        return {"in_world_label": text}


WhenGiven = Annotated[
    When,
    BeforeValidator(
        _read_when, json_schema_input_type=When | Annotated[str, Field(max_length=120)] | Day
    ),
]


class Who(EngineInput):
    players: list[Line] = Field(default=[], max_length=50)
    npcs: list[Ref] = Field(default=[], max_length=200, description="Ids or names.")


class RelationDelta(EngineInput):
    """How the episode moved what an NPC thinks of the party."""

    npc: Ref
    delta: int = Field(ge=-LARGEST_DELTA, le=LARGEST_DELTA)
    axis: Literal["affection", "trust", "respect", "fear"] = "affection"
    reason: Reason = ""

    @field_validator("delta")
    @classmethod
    def _moves(cls, delta: int) -> int:
        if delta == 0:
            raise ValueError("0 changes nothing: leave the entry out")
        return delta


def _read_deltas(value: Any) -> Any:
    return (
        [{"npc": npc, "delta": delta} for npc, delta in value.items()]
        if isinstance(value, dict)
        else value
    )


Delta = Annotated[int, Field(ge=-LARGEST_DELTA, le=LARGEST_DELTA)]
Deltas = Annotated[list[RelationDelta], Field(max_length=200)]
DeltasGiven = Annotated[
    Deltas, BeforeValidator(_read_deltas, json_schema_input_type=Deltas | dict[Ref, Delta])
]


class EpisodicSummary(EngineInput):
    """What happened to a party in a scene or a turn (requirement 1.3)."""

    summary_id: ExternalId
    campaign_id: Ref | None = None
    party_id: Ref
    scene_id: ExternalId | None = None
    when: WhenGiven = When()
    who: Who = Who()
    where: Line = ""
    what: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT), AfterValidator(storable)]
    flags: list[Annotated[str, Field(max_length=120), AfterValidator(storable)]] = Field(
        default=[], max_length=100
    )
    relations_delta: DeltasGiven = Field(default=[], description="Also as an object: NPC → delta.")
    notes: Prose = Field(default="", description="For the game master alone.")
    version: int = Field(default=1, ge=1, le=2_000_000_000)


class RevealIn(EngineInput):
    """Who learned of what in this episode: a lore entry or an NPC, or one of its secrets (counted from 1)."""

    lore: Ref | None = None
    npc: Ref | None = None
    secret: int | None = Field(default=None, ge=1, le=1000)
    to: list[Annotated[str, Field(max_length=120)]] = Field(
        default=[], max_length=50, description="party:<id> or npc:<id>; empty: the episode's party."
    )
    note: Reason = ""

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if (self.lore is None) == (self.npc is None):
            raise ValueError("name either a lore entry or an NPC")
        return self


class SessionIn(EngineInput):
    session_id: ExternalId
    campaign_id: Ref | None = None
    party_id: Ref | None = None
    arc_id: ExternalId | None = None
    arc_title: Line = ""
    number: int = Field(default=0, ge=0, le=100_000)
    title: Line = ""
    played_at: datetime | None = None
    in_world_at: Day | None = None
    in_world_label: Annotated[str, Field(max_length=120), AfterValidator(storable)] = ""
    visibility: Visibility = Visibility.REVEALED


class SceneIn(EngineInput):
    scene_id: ExternalId
    campaign_id: Ref | None = None
    party_id: Ref | None = None
    session_id: ExternalId | None = None
    title: Line = ""
    place: Line = ""
    position: int = Field(default=0, ge=0, le=100_000)
    in_world_at: Day | None = None
    in_world_label: Annotated[str, Field(max_length=120), AfterValidator(storable)] = ""
    visibility: Visibility = Visibility.REVEALED


class EpisodeIn(EpisodicSummary):
    """An episodic summary with what else the engine may know of it."""

    session_id: ExternalId | None = None
    language: Annotated[str, Field(max_length=8, pattern=r"^[a-z]{2,3}(-[A-Za-z]+)?$")] = ""
    visibility: Visibility = Field(
        default=Visibility.REVEALED, description="`revealed`: its own party knows it."
    )
    reveals: list[RevealIn] = Field(default=[], max_length=200)
    facts: list[GraphFact] = Field(
        default=[],
        max_length=200,
        description="Lasting facts for the graph. Their source is this episode.",
    )


class IngestReport(BaseModel):
    """What became of one summary. `superseded`: a newer version stands, this one is kept as history only."""

    summary_id: str
    version: int
    outcome: Literal["created", "replaced", "unchanged", "superseded", "retracted", "restored"]
    standing_version: int
    retracted: bool = False
    dispositions: list[dict[str, Any]] = Field(
        default=[], description="What each NPC named thinks now."
    )
    pending: int = Field(
        default=0, description="Changes too large to count before the game master agrees."
    )
    unknown: list[str] = Field(
        default=[], description="Names in who and where that nothing here is called."
    )


class RetractionIn(EngineInput):
    reason: Annotated[str, Field(max_length=400), AfterValidator(storable)] = ""


class ErasureReport(BaseModel):
    """The receipt of a deletion for good: how many rows of each kind went."""

    summary_id: str
    rows: dict[str, int]


class EpisodesIn(EngineInput):
    episodes: list[dict[str, Any]] = Field(min_length=1, max_length=500)
    atomic: bool = Field(default=False, description="All or nothing.")


class EpisodePrivate(BaseModel):
    """What only the game master may read of an episode."""

    what: str
    flags: list[str]
    relations_delta: list[dict[str, Any]]
    notes: str
    visibility: str


class EpisodeOut(BaseModel):
    """An episode as anyone who knows it may read it; `private` for game masters alone."""

    id: str
    kind: Literal["episode"] = "episode"
    title: str
    text: str
    summary_id: str
    campaign_id: str
    party_id: str
    scene_id: str | None
    session_id: str | None
    when: When
    who: Who
    where: str
    version: int
    source: str
    updated_at: datetime
    score: float | None = None
    private: EpisodePrivate | None = None


class EpisodePage(BaseModel):
    episodes: list[EpisodeOut]
    next_cursor: str | None = None


class SessionOut(BaseModel):
    session_id: str
    campaign_id: str
    party_id: str | None
    arc_id: str | None
    number: int
    title: str
    played_at: datetime | None
    visibility: str

    @classmethod
    def of(cls, session: Session) -> Self:
        return cls(
            session_id=session.external_id,
            campaign_id=session.campaign.slug,
            party_id=session.party.slug if session.party else None,
            arc_id=session.arc.external_id if session.arc else None,
            number=session.number,
            title=session.title,
            played_at=session.played_at,
            visibility=session.visibility,
        )


class SceneOut(BaseModel):
    scene_id: str
    campaign_id: str
    party_id: str | None
    session_id: str | None
    title: str
    place: str
    ended_at: datetime | None
    visibility: str

    @classmethod
    def of(cls, scene: Scene) -> Self:
        return cls(
            scene_id=scene.external_id,
            campaign_id=scene.campaign.slug,
            party_id=scene.party.slug if scene.party else None,
            session_id=scene.session.external_id if scene.session else None,
            title=scene.title,
            place=scene.place,
            ended_at=scene.ended_at,
            visibility=scene.visibility,
        )


class ScratchIn(EngineInput):
    value: Any


class StepIn(EngineInput):
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT), AfterValidator(storable)]
    speaker: Line = ""
    step_id: ExternalId | None = Field(
        default=None, description="The same step id twice is one step."
    )
    payload: dict[str, Any] = {}


class StepsIn(EngineInput):
    """Steps to append. The thread is opened when it does not exist."""

    steps: list[StepIn] = Field(min_length=1, max_length=500)
    party_id: Ref | None = None
    scene_id: ExternalId | None = None
    title: Line = ""
    ttl_seconds: int | None = Field(default=None, ge=1, le=365 * 24 * 3600)


class StepOut(BaseModel):
    number: int
    speaker: str
    text: str
    payload: dict[str, Any]
    tokens: int
    created_at: datetime


class ThreadOut(BaseModel):
    thread_id: str
    title: str
    state: str
    party_id: str | None
    scene_id: str | None
    expires_at: datetime | None
    episode: str | None
    steps: list[StepOut] = []
    total_steps: int = 0
    total_tokens: int = 0
    truncated: bool = False


class ThreadList(BaseModel):
    threads: list[ThreadOut]


class ConsolidateIn(EngineInput):
    """How a thread becomes an episode. What is left out is taken from the thread."""

    summary_id: ExternalId | None = None
    party_id: Ref | None = None
    scene_id: ExternalId | None = None
    session_id: ExternalId | None = None
    when: WhenGiven = When()
    who: Who = Who()
    where: Line = ""
    what: Prose = ""
    flags: list[Line] = Field(default=[], max_length=100)
    relations_delta: list[RelationDelta] = Field(default=[], max_length=200)
    notes: Prose = ""


class RecapSentenceOut(BaseModel):
    text: str
    episodes: list[str] = Field(description="Summary ids it rests on.")


class RecapOut(BaseModel):
    level: str
    subject: str
    audience: str
    method: str
    sentences: list[RecapSentenceOut]
    degraded: list[str] = []
