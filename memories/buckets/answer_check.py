"""Whether one of the best memories answers a question, by the language model of the settings.

It is asked where the signs are not sure (`abstaining.Threshold.unclear`), once per question and never again: somebody
waits for the answer, and the signs can still decide. What it reads is bounded, and so is what it may say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel, Field, field_validator

from memories import prompts
from retrieval.errors import LanguageModelDown
from retrieval.llm import get_llm

MAX_MEMORIES = 3
"""Memories shown to the model, the best first."""
QUESTION_CHARACTERS, MEMORY_CHARACTERS = 2000, 800
"""Characters of the question and of each memory that are shown: together some 1,100 tokens of English at most."""
TIMEOUT_SECONDS = 15.0
"""Seconds it has; `LLM_TIMEOUT`, where that is shorter."""


class AnsweringMemory(BaseModel):
    """What a model says of the memories shown."""

    answered_by: Literal["none", "1", "2", "3"] = Field(
        description="Number of the memory that answers, or none."
    )

    @field_validator("answered_by", mode="before")
    @classmethod
    def _as_text(cls, said: object) -> object:
        """A model that is not held to the schema says 2 or null as well."""
        return (
            "none"
            if said is None
            else str(said).strip().lower()
            if isinstance(said, int | str)
            else said
        )


class TimedModel(Protocol):
    """What a language model has to offer: one try at a structured answer. `retrieval.llm.client` does."""

    def generate_structured(
        self,
        system_prompt: str,
        user_prompt: str,
        response_model: type[BaseModel],
        *,
        purpose: str,
        tries: int,
        within: float,
    ) -> dict[str, Any]: ...


@dataclass(frozen=True)
class AnswerChecker:
    """Asks `model`."""

    model: TimedModel

    def find_answer(self, question: str, memories: Sequence[str]) -> int | None:
        """Return the place of the memory among the first three that answers, None if none does. Raise `CheckerSilent`
        when the model is down or says nothing usable."""
        shown = [truncate(text, MEMORY_CHARACTERS) for text in memories[:MAX_MEMORIES]]
        prompt = prompts.check_prompt(truncate(question, QUESTION_CHARACTERS), shown)
        try:
            said = self.model.generate_structured(
                prompt.system,
                prompt.user,
                AnsweringMemory,
                purpose="abstention",
                tries=1,
                within=TIMEOUT_SECONDS,
            )
            named = AnsweringMemory.model_validate(said).answered_by
        except (
            LanguageModelDown,
            ValueError,
            OSError,
        ) as error:  # pydantic's errors are ValueErrors
            raise CheckerFailed("the language model gave no usable answer") from error
        if named == "none":
            return None
        if int(named) > len(shown):
            raise CheckerFailed(f"the language model named memory {named} of {len(shown)}")
        return int(named) - 1


class CheckerFailed(Exception):
    """A model that should have checked the memories said nothing usable."""


def site_checker() -> AnswerChecker | None:
    """The language model of the settings, or None: then the signs decide."""
    model = get_llm()
    return AnswerChecker(model) if model else None


def truncate(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
