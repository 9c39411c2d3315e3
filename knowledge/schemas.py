"""Questions about rules and lore, and entries as programs send and get them."""

import re
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    StringConstraints,
    model_validator,
)

from retrieval.text import clean_text
from worlds.audiences import Audience, Visibility
from worlds.base_schemas import MAX_K, Day, MaxChars, ReadVersion, StrictModel
from worlds.tool_args import ToolRequest

RuleKind = Literal[
    "section",
    "condition",
    "spell",
    "monster",
    "class",
    "feature",
    "ancestry",
    "background",
    "feat",
    "equipment",
    "magic_item",
    "skill",
    "term",
    "custom",
]
EntryKind = Literal["place", "faction", "biography", "item", "event", "quest", "timeline", "custom"]
Status = Literal["draft", "published"]
HowMany = Annotated[int, Field(ge=1, le=MAX_K)]


RerankDepth = Literal["off", "fast", "careful"]
RERANK: Any = Field(
    None,
    description="Let a model order the best hits: slower, better; English questions.",
    json_schema_extra={"x-engine-only": True},
)

LEAST: Any = Field(
    0.0,
    ge=0,
    le=1,
    description="Leave out hits of less relevance; 0.1 leaves little that answers nothing.",
    json_schema_extra={"x-engine-only": True},
)


class RulesQuestion(ToolRequest):
    """Argument of `rules_lookup`: a rule's id, or a term or question."""

    term: str | None = Field(
        None, description="Name or question, in any language.", examples=["grappled"]
    )
    rule_id: str | None = Field(None, max_length=200, examples=["srd-5.1/conditions/grappled"])
    kind: RuleKind | None = None
    k: HowMany = 5
    rerank: RerankDepth | None = RERANK
    least: float = LEAST
    max_chars: MaxChars = None
    explain: bool = Field(False, description="How it was found; game masters only.")

    @model_validator(mode="after")
    def _asks_something(self) -> "RulesQuestion":
        if not (self.term or self.rule_id):
            raise ValueError("give `term` (a name or a question) or `rule_id`")
        return self


class LoreFilters(StrictModel):
    """Each filter that is given must hold."""

    kind: str | None = Field(
        None,
        max_length=80,
        description="place|faction|biography|item|event|quest|timeline or own kind",
    )
    tags: list[str] = Field([], max_length=20, description="All of these.")
    language: str | None = Field(None, max_length=8)
    in_world_from: Day | None = Field(None, description="World day; entries within the range.")
    in_world_to: Day | None = None
    status: Status | None = Field(None, description="Game masters only; default: published.")
    campaign: str | None = Field(None, max_length=120, description="GMs only: canon and overlay.")


class LoreQuestion(ToolRequest):
    """Argument of `lore_search`."""

    query: str = Field(
        description="Name or question, in any language.", examples=["Who rules the ferry?"]
    )
    k: HowMany = 8
    filters: LoreFilters = Field(default_factory=LoreFilters)
    rerank: RerankDepth | None = RERANK
    least: float = LEAST
    expand: bool = Field(False, description="Also lore of graph neighbours of what is named.")
    max_chars: MaxChars = None
    explain: bool = Field(False, description="How it was found; game masters only.")


# --- entries as programs send them


def _check_reveal_audience(audience: str) -> str:
    """Accept whom something can be revealed to: a party or an NPC."""
    if not Audience.parse(audience).is_named:
        raise ValueError("must be party:<slug>, character:<slug> or npc:<slug>")
    return audience


def _clean(value: Any) -> Any:
    return clean_text(value) if isinstance(value, str) else value


def _clean_body(value: Any) -> Any:
    return clean_text(value).rstrip().lstrip("\n") if isinstance(value, str) else value


LONGEST_BODY = 500_000
CleanText = BeforeValidator(_clean)
FOLDER_BREAKS = re.compile(r"\s*/[\s/]*")


def normalize_folder(path: str) -> str:
    """Return the path without empty parts and without blanks around its slashes."""
    return FOLDER_BREAKS.sub("/", path.strip()).strip("/")


Line = Annotated[str, CleanText, StringConstraints(max_length=200, strip_whitespace=True)]
Folder = Annotated[
    str,
    CleanText,
    StringConstraints(max_length=200, strip_whitespace=True),
    AfterValidator(normalize_folder),
]
Name = Annotated[
    str, CleanText, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)
]
Tag = Annotated[str, CleanText, StringConstraints(min_length=1, max_length=80)]
Label = Annotated[str, CleanText, StringConstraints(max_length=120, strip_whitespace=True)]
Body = Annotated[str, BeforeValidator(_clean_body), StringConstraints(max_length=LONGEST_BODY)]
Slug = Annotated[str, StringConstraints(pattern=r"^[\w-]+$", max_length=120)]
RuleId = Annotated[str, StringConstraints(pattern=r"^[\w.-]+(/[\w.-]+)+$", max_length=200)]
RevealAudience = Annotated[
    str, StringConstraints(max_length=120), AfterValidator(_check_reveal_audience)
]
KnownTo = Annotated[
    list[RevealAudience],
    Field(
        max_length=100,
        description="With visibility revealed: the parties, characters and NPCs of the world that "
        "know it.",
    ),
]


class LoreIn(StrictModel):
    """A lore entry. Of an entry that exists, only the fields that are sent change. New ones are GM
    only and drafts unless they say otherwise."""

    title: Name
    slug: Slug | None = Field(None, description="Stable id; default: made from the title.")
    kind: EntryKind = "custom"
    custom_kind: str | None = Field(
        None, max_length=80, description="Slug of a kind of the world's own; `kind` is custom then."
    )
    body: Body = Field(
        "",
        description="Markdown. `:::secret [party:<slug> character:<slug> npc:<slug>]` … `:::` "
        "hides a block.",
    )
    aliases: list[Name] = Field([], max_length=50)
    tags: list[Tag] = Field([], max_length=50)
    language: str = Field("", max_length=8, description="Default: guessed from the text.")
    status: Status = "draft"
    visibility: Visibility = Visibility.GM
    known_to: KnownTo = []
    in_world_at: Day | None = None
    in_world_label: Label = ""
    in_world_until: Day | None = None
    in_world_until_label: Label = ""
    campaign: str | None = Field(None, max_length=120, description="Slug, for an overlay.")
    overrides: str | None = Field(None, max_length=200, description="The canon entry it replaces.")
    author: Label = ""
    folder: Folder = Field("", description="Path in the tree of the lore, such as North/Carrow.")
    origin: Line = ""
    extra: dict[str, Any] = {}


class RuleIn(StrictModel):
    """A rule of the world's own (house rules)."""

    rule_id: RuleId = Field(examples=["house/conditions/seasick"])
    title: Name
    body: Body
    kind: RuleKind = "custom"
    aliases: list[Name] = Field([], max_length=50)
    breadcrumb: list[Name] = Field([], max_length=10)
    language: str = Field("", max_length=8)
    data: dict[str, Any] = {}
    visibility: Visibility = Visibility.PUBLIC
    known_to: KnownTo = []
    campaign: str | None = Field(
        None, max_length=120, description="Slug of the campaign in which alone the rule holds."
    )
    overrides: RuleId | None = Field(
        None,
        description="The rule in whose place this one answers.",
        examples=["srd-5.1/conditions/grappled"],
    )


class LoreWrite(LoreIn):
    version: ReadVersion = None


class RuleWrite(RuleIn):
    version: ReadVersion = None


class LoreRow(BaseModel):
    """An entry as lists show it: without its text."""

    id: UUID
    slug: str
    title: str
    kind: str
    custom_kind: str | None
    aliases: list[str]
    tags: list[str]
    language: str
    status: str
    visibility: str
    known_to: list[str]
    in_world_at: float | None
    in_world_label: str
    in_world_date: str = ""
    in_world_until: float | None
    in_world_until_label: str
    in_world_until_date: str = ""
    campaign: str | None
    overrides: str | None
    author: str
    folder: str
    origin: str
    version: int
    updated_at: datetime


class LoreOut(LoreRow):
    body: str


class LorePage(BaseModel):
    lore: list[LoreRow]
    next_cursor: str | None = Field(default=None, description="Of the next page; null: the last.")


class RuleRow(BaseModel):
    """A rule as lists show it: without its text."""

    rule_id: str
    title: str
    kind: str
    aliases: list[str]
    breadcrumb: list[str]
    language: str
    document: str
    edition: str
    licence: str
    visibility: str
    campaign: str | None
    overrides: str | None
    version: int
    updated_at: datetime


class RuleOut(RuleRow):
    body: str


class RulePage(BaseModel):
    rules: list[RuleRow]
    next_cursor: str | None = Field(default=None, description="Of the next page; null: the last.")


class EntryWritten(BaseModel):
    """The outcome of writing an entry, and its stored version."""

    id: str
    outcome: Literal["created", "changed", "unchanged"]
    version: int
    warnings: list[str] = Field([], description="Names that other things have as well.")


class EntryBatch(StrictModel):
    """Up to 500 entries. `atomic`: all or none."""

    entries: list[dict[str, Any]] = Field(min_length=1, max_length=500)
    atomic: bool = False


class ProposalIn(StrictModel):
    """An entry that somebody would like to see; an editor decides."""

    entry: LoreIn
    reason: Annotated[str, CleanText, StringConstraints(max_length=2000)] = ""


class ProposalOut(BaseModel):
    id: UUID
    state: str
    title: str
    created_at: datetime


class ProposalRow(ProposalOut):
    """A proposal with what it proposes."""

    reason: str
    proposed_by: str
    campaign: str | None
    entry: dict[str, Any]
    decided_by: str
    decision: str


class ProposalPage(BaseModel):
    proposals: list[ProposalRow]
    next_cursor: str | None = Field(default=None, description="Of the next page; null: the last.")


class ProposalDecision(StrictModel):
    note: Annotated[str, StringConstraints(max_length=2000)] = ""
    entry: LoreIn | None = Field(
        None, description="What the editor made of it; empty: as it was proposed."
    )
