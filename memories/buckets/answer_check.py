"""A language model's judgement whether one of the best memories answers a question.

It is asked where the signs are unclear (`AnswerThreshold.is_unclear`), once per question and never
again: a caller waits for the answer, and the signs can still decide. Its input is bounded, and so
is its answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel, Field, field_validator

from memories import prompts
from memories.models import Namespace
from retrieval.errors import LanguageModelDown
from retrieval.llm import Purpose, get_llm

# Memories shown to the model; `AnsweringMemory.answered_by` names as many.
MAX_MEMORIES = 3
# Of the question and of each memory: together about 1,100 tokens of English at most.
QUESTION_CHARACTERS, MEMORY_CHARACTERS = 2000, 800
# For the whole call; `LLM_TIMEOUT` where that is shorter.
TIMEOUT_SECONDS = 15.0


class AnsweringMemory(BaseModel):
    """The model's answer about the memories shown."""

    answered_by: Literal["none", "1", "2", "3"] = Field(
        description="Number of the memory that answers, or none."
    )

    @field_validator("answered_by", mode="before")
    @classmethod
    def normalize_number(cls, answer: object) -> object:
        """A model that is not held to the schema also answers 2 or null."""
        if answer is None:
            return "none"
        return str(answer).strip().lower() if isinstance(answer, int | str) else answer


class TimedModel(Protocol):
    """One try at a structured answer within some seconds; `retrieval.llm.client` implements it."""

    def generate_structured(
        self,
        system_prompt: str,
        user_prompt: str,
        response_model: type[BaseModel],
        *,
        tries: int,
        within: float,
    ) -> dict[str, Any]: ...


class CheckerFailed(Exception):
    """The language model gave no usable answer."""


@dataclass(frozen=True)
class AnswerChecker:
    model: TimedModel

    def find_answer(self, question: str, memories: Sequence[str]) -> int | None:
        """Return the position of the memory, among the first three, that answers; None if none
        does. Raise `CheckerFailed` when the model is down or its answer is unusable."""
        excerpts = [truncate(text, MEMORY_CHARACTERS) for text in memories[:MAX_MEMORIES]]
        prompt = prompts.check_prompt(truncate(question, QUESTION_CHARACTERS), excerpts)
        try:
            raw = self.model.generate_structured(
                prompt.system,
                prompt.user,
                AnsweringMemory,
                tries=1,
                within=TIMEOUT_SECONDS,
            )
            number = AnsweringMemory.model_validate(raw).answered_by
        # A validation error of Pydantic is a ValueError.
        except (LanguageModelDown, ValueError, OSError) as error:
            raise CheckerFailed("the language model gave no usable answer") from error
        if number == "none":
            return None
        if int(number) > len(excerpts):
            raise CheckerFailed(f"the language model named memory {number} of {len(excerpts)}")
        return int(number) - 1


def site_checker(namespace: Namespace) -> AnswerChecker | None:
    """Return a checker with the language model of the settings, or None without one."""
    model = get_llm(Purpose.CHECKING, str(namespace.world_id))
    return AnswerChecker(model) if model else None


def truncate(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
