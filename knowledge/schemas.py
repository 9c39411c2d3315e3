"""What may be asked about rules and lore, and how entries travel. Closed types."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from retrieval.schemas import LARGEST_K, Closed, MaxChars
from worlds.asking import Ask

RuleKind = Literal[
    "section", "condition", "spell", "monster", "class", "feature", "ancestry", "background", "feat", "equipment",
    "magic_item", "skill", "term", "custom",
]  # fmt: skip
LoreKind = Literal["place", "faction", "biography", "timeline", "event", "item", "custom"]
Status = Literal["draft", "published"]
HowMany = Annotated[int, Field(ge=1, le=LARGEST_K)]


class RulesQuestion(Ask):
    """Argument of `rules_lookup`: a rule's id, or a term or question in words."""

    term: str | None = Field(None, description="Name or question, in any language.", examples=["grappled"])
    rule_id: str | None = Field(None, max_length=200, examples=["srd-5.1/conditions/grappled"])
    kind: RuleKind | None = None
    k: HowMany = 5
    max_chars: MaxChars = None
    explain: bool = Field(False, description="How it was found; game masters only.")

    @model_validator(mode="after")
    def _asks_something(self) -> "RulesQuestion":
        if not (self.term or self.rule_id):
            raise ValueError("give `term` (a name or a question) or `rule_id`")
        return self


class LoreFilters(Closed):
    """Each filter that is given must hold."""

    kind: LoreKind | None = None
    tags: list[str] = Field([], max_length=20, description="All of these.")
    language: str | None = Field(None, max_length=8)
    in_world_from: float | None = Field(None, description="World day; entries that reach into the range.")
    in_world_to: float | None = None
    status: Status | None = Field(None, description="Game masters only; default: published.")


class LoreQuestion(Ask):
    """Argument of `lore_search`."""

    query: str = Field(description="Name or question, in any language.", examples=["Who rules the ferry?"])
    k: HowMany = 8
    filters: LoreFilters = LoreFilters()
    max_chars: MaxChars = None
    explain: bool = Field(False, description="How it was found; game masters only.")
