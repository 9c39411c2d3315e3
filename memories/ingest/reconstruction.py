"""The three calls of the language model, each with up to three tries and a result without it. No
database access.

`RETRYABLE` errors are tried again; when all tries fail, the result is that of no model. Any other
error is raised to the caller.
"""

import logging
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from memories import prompts
from memories.ingest.answers import (
    CoreUpdateResponse,
    MemoryReconstructionResponse,
    PreMemorySplitResponse,
)
from memories.prompts import Prompt, unescape_tags
from retrieval.errors import LanguageModelDown
from retrieval.text import require_storable_text

logger = logging.getLogger(__name__)

TRIES = 3
# A validation error of Pydantic is a ValueError; failed connections and timeouts are OSErrors.
RETRYABLE = (ValueError, TypeError, OSError)
Answer = TypeVar("Answer", bound=BaseModel)


class StructuredModel(Protocol):
    """The interface that `memories.haema.LLMClient` and `retrieval.llm.client` implement."""

    def generate_structured(
        self, system_prompt: str, user_prompt: str, response_model: type[Any]
    ) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Reconstruction:
    """`memories` replace the related ones; if the reconstruction failed, they are the contents as
    they came and replace nothing."""

    memories: list[str]
    is_complete: bool


def ask(model: StructuredModel, prompt: Prompt, answer: type[Answer]) -> Answer | None:
    """Return the model's answer, or None when three tries ended in retryable errors."""
    for attempt in range(1, TRIES + 1):
        try:
            raw = model.generate_structured(
                system_prompt=prompt.system, user_prompt=prompt.user, response_model=answer
            )
            parsed = answer.model_validate(raw)
            # Text that the database cannot store counts as a failed try.
            for name, value in parsed:
                for text in value if isinstance(value, list) else [value]:
                    if isinstance(text, str):
                        require_storable_text(text, name)
            return parsed
        except LanguageModelDown as problem:
            # The client of the settings has made its own tries already.
            logger.warning("%s: going on without: %s", answer.__name__, problem)
            return None
        except RETRYABLE as error:
            logger.debug("%s: try %d of %d failed: %s", answer.__name__, attempt, TRIES, error)
    logger.warning(
        "The language model gave no usable %s in %d tries: going on without", answer.__name__, TRIES
    )
    return None


def split_text(model: StructuredModel, raw: str) -> list[str]:
    """Split one raw text into facts; return the text itself when the model fails."""
    answer = ask(model, prompts.split_prompt(raw), PreMemorySplitResponse)
    return (unique_texts(answer.contents) if answer else []) or [raw]


def reconstruct(
    model: StructuredModel, *, related_texts: list[str], contents: list[str]
) -> Reconstruction:
    """Ask once, and once more to refine an empty or incomplete answer."""
    first = prompts.reconstruction_prompt(related=related_texts, contents=contents)
    for prompt in (first, prompts.refinement_prompt(first)):
        answer = ask(model, prompt, MemoryReconstructionResponse)
        if answer and answer.coverage == "complete" and (memories := unique_texts(answer.memories)):
            return Reconstruction(memories, is_complete=True)
    return Reconstruction(contents, is_complete=False)


def updated_core(model: StructuredModel, *, core: str, memories: list[str]) -> str | None:
    """Return the whole new core, or None when nothing changes."""
    answer = ask(model, prompts.core_prompt(core=core, memories=memories), CoreUpdateResponse)
    if answer is None or not answer.should_update or not answer.core_markdown:
        return None
    return unescape_tags(answer.core_markdown).strip() + "\n"


def unique_texts(texts: list[str]) -> list[str]:
    """Strip the texts and drop empty and repeated ones, in their order."""
    return list(dict.fromkeys(filter(None, (unescape_tags(text).strip() for text in texts))))
