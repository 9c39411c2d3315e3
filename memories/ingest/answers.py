"""The answers of the language model, one type for each of the three prompts.

Length limits are in the JSON schema only: they stop small models from generating without end, and
an answer that exceeds them is still used.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

Sentence = Annotated[str, Field(json_schema_extra={"maxLength": 600})]


class PreMemorySplitResponse(BaseModel):
    """The facts one raw text holds."""

    contents: list[Sentence] = Field(
        description="One entry for each independent fact of the raw text, each readable by itself, "
        "without filler.",
        json_schema_extra={"maxItems": 24},
    )


class MemoryReconstructionResponse(BaseModel):
    """The memories to keep once the new contents are merged with the related ones."""

    memories: list[Sentence] = Field(
        description="The memories to keep: one fact each, nothing twice, nothing that the input "
        "does not say.",
        json_schema_extra={"maxItems": 48},
    )
    coverage: Literal["complete", "incomplete"] = Field(
        description="'complete' only if every important fact of the new contents is in `memories`."
    )


class CoreUpdateResponse(BaseModel):
    """Whether the core changes, and if so its whole new text."""

    should_update: bool = Field(
        description="False unless something durable, consequential and certain is new."
    )
    core_markdown: str | None = Field(
        default=None,
        description="The whole new core with the headings # SOUL, # TOOLS, # RULE, # USER; null "
        "without an update.",
        json_schema_extra={"maxLength": 6000},
    )

    @model_validator(mode="after")
    def _an_update_has_a_text(self) -> Self:
        if self.should_update and not self.core_markdown:
            raise ValueError("core_markdown is required when should_update is true")
        return self
