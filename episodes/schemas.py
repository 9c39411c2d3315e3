"""Requests and responses of the episode, scene, thread and recap APIs. Every field is bounded."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, field_validator, model_validator

from episodes.field_types import (
    AudienceNames,
    EngineInput,
    ExternalId,
    Label,
    LanguageCode,
    Line,
    LooseEndText,
    Prose,
    RawItems,
    Reason,
    Ref,
    RequiredProse,
    Storable,
    When,
    WhenInput,
    WhenOut,
)
from episodes.models import Scene, Session
from knowledge.graph.schemas import GraphFact
from worlds.audiences import Visibility
from worlds.base_schemas import Day, PrivateMoment, PrivateVersion

LARGEST_DELTA = 100
Outcome = Literal["created", "replaced", "unchanged", "superseded", "retracted", "restored"]


class Who(EngineInput):
    players: list[Line] = Field(default=[], max_length=50)
    npcs: list[Ref] = Field(default=[], max_length=200, description="Ids or names.")


class RelationDelta(EngineInput):
    """A change of what an NPC thinks of the party or, with `toward`, of another NPC."""

    npc: Ref
    toward: Ref | None = Field(default=None, description="Another NPC; null: the party.")
    delta: int = Field(ge=-LARGEST_DELTA, le=LARGEST_DELTA)
    axis: Literal["affection", "trust", "respect", "fear"] = "affection"
    reason: Reason = ""

    @field_validator("delta")
    @classmethod
    def _reject_zero(cls, delta: int) -> int:
        if delta == 0:
            raise ValueError("0 changes nothing: leave the entry out")
        return delta

    @model_validator(mode="after")
    def _check_axis(self) -> Self:
        # Opinions between NPCs are one score, and fear changes no score.
        if self.toward is not None and self.axis == "fear":
            raise ValueError("what an NPC thinks of another has no fear: choose another axis")
        return self


def parse_deltas(value: Any) -> Any:
    """Expand the short form `{npc: delta}` to a list of `RelationDelta`."""
    if not isinstance(value, dict):
        return value
    return [{"npc": npc, "delta": delta} for npc, delta in value.items()]


Delta = Annotated[int, Field(ge=-LARGEST_DELTA, le=LARGEST_DELTA)]
Deltas = Annotated[list[RelationDelta], Field(max_length=200)]
DeltasInput = Annotated[
    Deltas, BeforeValidator(parse_deltas, json_schema_input_type=Deltas | dict[Ref, Delta])
]


class EpisodicSummary(EngineInput):
    """What happened to a party in a scene or a turn (requirement 1.3)."""

    summary_id: ExternalId
    campaign_id: Ref | None = None
    party_id: Ref
    scene_id: ExternalId | None = None
    when: WhenInput = When()
    who: Who = Who()
    where: Line = ""
    what: RequiredProse
    flags: list[Label] = Field(default=[], max_length=100)
    relations_delta: DeltasInput = Field(default=[], description="Also as an object: NPC → delta.")
    notes: Prose = Field(default="", description="For game masters only.")
    version: int = Field(default=1, ge=1, le=2_000_000_000)


class EpisodeReveal(EngineInput):
    """A lore entry or an NPC, or one of its secrets (numbered from 1), that somebody learned of in
    this episode.
    """

    lore: Ref | None = None
    npc: Ref | None = None
    secret: int | None = Field(default=None, ge=1, le=1000)
    to: AudienceNames = Field(
        default=[],
        max_length=50,
        description="party:<id>, character:<id> or npc:<id>; empty: the episode's party.",
    )
    note: Reason = ""

    @model_validator(mode="after")
    def _check_subject(self) -> Self:
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
    in_world_label: Label = ""
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
    in_world_label: Label = ""
    visibility: Visibility = Visibility.REVEALED


class EpisodeIn(EpisodicSummary):
    """An episodic summary with its session, reveals and lasting facts."""

    session_id: ExternalId | None = None
    language: LanguageCode = ""
    visibility: Visibility = Field(
        default=Visibility.REVEALED, description="`revealed`: its own party knows it."
    )
    reveals: list[EpisodeReveal] = Field(default=[], max_length=200)
    facts: list[GraphFact] = Field(
        default=[],
        max_length=200,
        description="Lasting facts for the graph. Their source is this episode.",
    )
    loose_ends: list[LooseEndText] = Field(
        default=[],
        max_length=100,
        description="What stays open: promises, questions, tasks. For game masters only.",
    )


class IngestReport(BaseModel):
    """The result of ingesting one summary. `superseded`: a newer version is current; this one is
    stored as history.
    """

    summary_id: str
    version: int
    outcome: Outcome
    standing_version: int
    retracted: bool = False
    dispositions: list[dict[str, Any]] = Field(
        default=[], description="The new disposition of each NPC in `relations_delta`."
    )
    opinions: list[dict[str, Any]] = Field(
        default=[], description="What each NPC with `toward` now thinks of the other."
    )
    pending: int = Field(
        default=0, description="Changes that count only after a game master approves them."
    )
    unknown: list[str] = Field(
        default=[], description="NPC names in `who` that match no NPC of this world."
    )
    warnings: list[str] = Field(
        default=[],
        description="Names in `who` that resemble those of NPCs, and ids of new scenes and "
        "sessions that resemble known ones, with what they may have meant.",
    )


class RetractionIn(EngineInput):
    reason: Annotated[str, Field(max_length=400), Storable] = ""


class ErasureReport(BaseModel):
    """How many rows of each kind a permanent deletion removed."""

    summary_id: str
    rows: dict[str, int]


class EpisodesIn(EngineInput):
    episodes: RawItems
    atomic: bool = Field(default=False, description="All or nothing.")


class EpisodePrivate(BaseModel):
    """What only the game master may read of an episode."""

    what: str
    flags: list[str]
    relations_delta: list[dict[str, Any]]
    notes: str
    visibility: str


class EpisodeOut(BaseModel):
    """An episode as its audience may read it; `private` is for game masters alone."""

    id: str
    kind: Literal["episode"] = "episode"
    title: str
    text: str
    summary_id: str
    campaign_id: str
    party_id: str
    scene_id: str | None
    session_id: str | None
    when: WhenOut
    who: Who
    where: str
    version: PrivateVersion = None
    source: str
    updated_at: PrivateMoment = None
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


class SessionPage(BaseModel):
    sessions: list[SessionOut]
    next_cursor: str | None = None


class ScenePage(BaseModel):
    scenes: list[SceneOut]
    next_cursor: str | None = None


class ScratchIn(EngineInput):
    value: Any


class StepIn(EngineInput):
    text: RequiredProse
    speaker: Line = ""
    step_id: ExternalId | None = Field(
        default=None, description="A step id that was sent before is ignored."
    )
    payload: dict[str, Any] = {}


class StepsIn(EngineInput):
    """Steps to append. The thread is created when it does not exist."""

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
    """The episode to make of a thread. Fields that are left out are taken from the thread."""

    summary_id: ExternalId | None = None
    party_id: Ref | None = None
    scene_id: ExternalId | None = None
    session_id: ExternalId | None = None
    when: WhenInput = When()
    who: Who = Who()
    where: Line = ""
    what: Prose = ""
    flags: list[Line] = Field(default=[], max_length=100)
    relations_delta: list[RelationDelta] = Field(default=[], max_length=200)
    notes: Prose = ""


class RecapSentenceOut(BaseModel):
    text: str
    episodes: list[str] = Field(description="Ids of the summaries that support it.")


class RecapOut(BaseModel):
    level: str
    subject: str
    audience: str
    method: str
    sentences: list[RecapSentenceOut]
    degraded: list[str] = []
