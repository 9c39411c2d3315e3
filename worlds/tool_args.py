"""What every question to a tool may carry, whatever the tool."""

from typing import Annotated

from pydantic import ConfigDict, Field

from worlds.base_schemas import RequestModel

AUDIENCE = r"^(gm|public|(party|character|npc):.{1,110})$"
AudienceField = Annotated[
    str | None,
    Field(
        pattern=AUDIENCE,
        alias="as",
        description="For whom: party|character|npc:<id>, gm, public; default the key's.",
    ),
]


class ToolRequest(RequestModel):
    """Base of every tool's argument: closed, and answered for the audience named by `as` (capped by
    the caller)."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, str_strip_whitespace=True)

    as_: AudienceField = None
