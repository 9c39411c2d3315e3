"""The episode that is proposed from a report: every line with the words of the report on which it
rests. What fits several things is a choice; nothing is chosen for the game master."""

from typing import Literal

from pydantic import Field

from worlds.base_schemas import ResponseModel

Axis = Literal["affection", "trust", "respect", "fear"]


class NameCandidate(ResponseModel):
    """A row that is meant, or may be."""

    kind: Literal["npc", "lore", "entity"]
    ref: str = Field(description="Its slug.")
    name: str


class NameInReport(ResponseModel):
    """A name in the report. `present`: the report says or implies that it was there."""

    text: str = Field(description="The name as the report writes it.")
    candidates: list[NameCandidate] = Field(description="What it may mean; one: that is certain.")
    times: int = Field(description="How often the report names it.")
    present: bool = True
    quote: str = Field(default="", description="The sentence that names it first.")


class ProposedDate(ResponseModel):
    """An in-world date that the report names."""

    in_world_at: float | None = None
    in_world_label: str = ""
    in_world_date: str = ""
    quote: str = ""


class ProposedChange(ResponseModel):
    """A change of what an NPC thinks of the party."""

    candidates: list[NameCandidate]
    certain: bool = Field(
        default=True, description="False: the name may mean others, too, also people without NPC."
    )
    axis: Axis
    delta: int
    reason: str
    quote: str


class RevealSubject(ResponseModel):
    """A lore entry or an NPC, or one of its secrets (numbered from 1)."""

    kind: Literal["npc", "lore"]
    ref: str = Field(description="Its slug.")
    name: str
    secret: int | None = None
    text: str = Field(default="", description="The text of the secret.")


class ProposedReveal(ResponseModel):
    """What the party may have learned of; `likely`: the first candidate has words of the report."""

    candidates: list[RevealSubject]
    likely: bool = False
    quote: str = ""


class ProposedFact(ResponseModel):
    """A lasting fact between two entities, which are given by slug."""

    src: str
    relation: str
    dst: str
    label: str = ""
    sentence: str = Field(description="The fact in words.")
    quote: str = ""


class ProposedLooseEnd(ResponseModel):
    text: str
    quote: str = ""


class Proposal(ResponseModel):
    """An episode that is proposed from a report. Nothing of it is recorded."""

    language: str
    summary: str = Field(description="What happened, for the party of the episode.")
    notes: str = Field(default="", description="What the report says for game masters only.")
    players: list[str] = []
    people: list[NameInReport] = Field(default=[], description="The people that the text names.")
    places: list[NameInReport] = []
    where: str = Field(default="", description="Slug of the place where most of it happened.")
    dates: list[ProposedDate] = []
    changes: list[ProposedChange] = []
    reveals: list[ProposedReveal] = []
    facts: list[ProposedFact] = []
    loose_ends: list[ProposedLooseEnd] = []
    new_names: list[str] = Field(
        default=[], description="Names that the world does not know; perhaps new ones."
    )
    method: Literal["rules", "llm"] = "rules"
    degraded: list[str] = Field(default=[], description="`llm`: the language model failed.")
    recorded_as: str | None = Field(
        default=None, description="The episode that was recorded from the same text before."
    )
